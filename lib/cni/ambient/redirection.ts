/**
 * The annotation that says whether a pod is captured, and what the agent knows beside it.
 *
 * @module
 */
import type { Pod } from "../pods/pod.ts";
import type { TunnelOutcome } from "../zds/channel.ts";
import { spellings } from "../enrolment/label_selector.ts";

/**
 * The annotation in this project's spelling and in Istio's: `enabled`, or `pending` while no tunnel has acknowledged the
 * pod. Absent: the pod is not captured.
 */
const [OURS = "", ISTIOS = ""] = spellings("ambient.istio.io/redirection");

/** The state that the annotation tells. */
export type Redirection = "enabled" | "pending";

/** The annotation of a pod, in either spelling. */
export function redirectionOf({ annotations }: Pick<Pod, "annotations">): string | undefined {
  return [OURS, ISTIOS].map((key) => Object.hasOwn(annotations, key) ? annotations[key] : undefined)
    .find((value) => value !== undefined);
}

/** The annotations of a pod without {@link Redirection}, in order of their names. */
export function withoutRedirection({ annotations }: Pick<Pod, "annotations">): readonly (readonly [string, string])[] {
  return Object.entries(annotations).filter(([key]) => key !== OURS && key !== ISTIOS).toSorted();
}

/** The change of annotations that tells a state. Undefined: the pod tells it already. */
export function redirectionChange(
  { annotations }: Pick<Pod, "annotations">,
  state: Redirection | undefined,
): Readonly<Record<string, string | null>> | undefined {
  const hasIstios = Object.hasOwn(annotations, ISTIOS);
  const present = Object.hasOwn(annotations, OURS) ? annotations[OURS] : undefined;
  if (present === state && !hasIstios) return undefined;
  return { [OURS]: state ?? null, ...hasIstios ? { [ISTIOS]: null } : {} };
}

/**
 * What became of a connection to a port of a pod without a listener: the pod refuses the connection, a tunnel takes any
 * connection, and a firewall leaves it unanswered.
 */
export interface DialledPod {
  readonly address: string;
  readonly outcome: "refused" | "connected" | "unanswered";
  /** The system's words. Empty: there are none. */
  readonly why: string;
}

/** What the agent knows and sees about a pod. */
export interface PodReport {
  readonly isIn: boolean;
  /** Why the pod is in or out. */
  readonly why: string;
  /** The pod's addresses of families with rules. */
  readonly addresses: readonly string[];
  /** What the wanted rules send to the tunnel, for people. */
  readonly rules: string;
  /** The annotation. */
  readonly redirection?: string | undefined;
  /** Path of the pod's network namespace; absent: it was not found. */
  readonly netns?: string | undefined;
  /** Differences between the rules there and the wanted rules, or why they could not be compared. */
  readonly differences: readonly string[];
  /** The tunnel's last word; absent: the pod was not handed over. */
  readonly tunnel?: { readonly outcome: TunnelOutcome; readonly why: string } | undefined;
  /** Connected tunnels. */
  readonly tunnels: number;
  /** Addresses whose probes are exempted, by the tables of the kernel. */
  readonly probes: readonly string[];
  /** Connections from the node to the addresses, like those of probes. */
  readonly dialled: readonly DialledPod[];
}
