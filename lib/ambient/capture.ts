/**
 * Whether the tunnel of a node takes the connections of a pod, and why not, as far as the pod and its namespace say. The
 * node agent decides, and writes an annotation.
 *
 * @module
 */
import { isWaypointPart } from "../mesh/waypoints/marks.ts";
import type { Fact } from "../config/facts/types.ts";
import { DATAPLANE_MODE, type Labels, REDIRECTION, takesHbone } from "../registry/labels.ts";

/**
 * `captured`: the tunnel of the node takes the pod's connections; `itself`: the pod speaks HBONE without the tunnel;
 * `pending`: no tunnel has acknowledged the pod; `waiting`: the pod should be captured, and no node agent has begun;
 * `sidecar`: a sidecar takes the connections; `outside`: nothing takes them.
 */
export type CaptureState = "captured" | "itself" | "pending" | "waiting" | "sidecar" | "outside";

/** The state of a pod, with its reason for people. */
export interface Capture {
  readonly state: CaptureState;
  readonly why: string;
}

/** Annotation that injection leaves on a pod. */
const SIDECAR_STATUS = "sidecar.mesh.io/status";

/** The capture of a pod. @param ofNamespace labels of the pod's namespace */
export function captureOf({ spec }: Fact<"Pod">, ofNamespace: Labels): Capture {
  const { labels, annotations, hostNetwork, running } = spec;
  const written = annotations[REDIRECTION];
  const agent = `the node agent of ${running?.nodeName ?? "its node"}`;
  if (written === "enabled") return { state: "captured", why: `${agent} says that a tunnel has it` };
  if (written === "pending") return { state: "pending", why: `${agent} says that no tunnel has acknowledged it` };
  if (takesHbone(labels)) return { state: "itself", why: "it takes tunnels itself, by its label" };
  if (isWaypointPart(labels)) return { state: "itself", why: "it is a waypoint" };
  if (Object.hasOwn(annotations, SIDECAR_STATUS)) return { state: "sidecar", why: "it has a sidecar" };
  if (hostNetwork) return { state: "outside", why: "it uses the node's own network" };
  const own = labels[DATAPLANE_MODE];
  if (own === "none") return { state: "outside", why: `its label ${DATAPLANE_MODE} is none` };
  const asking = own === "ambient"
    ? "its label"
    : ofNamespace[DATAPLANE_MODE] === "ambient"
    ? "its namespace"
    : undefined;
  if (asking === undefined) {
    return { state: "outside", why: "neither its label nor its namespace asks for ambient mode" };
  }
  return { state: "waiting", why: `${asking} asks for ambient mode, and no node agent has captured it` };
}
