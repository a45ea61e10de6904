/**
 * The policies of a pod in ambient mode, and where each of them is enforced.
 *
 * @module
 */
import { Scope } from "../../proto/gen/enums.ts";
import type { istio } from "../../proto/gen/types.ts";
import type { Capture } from "../ambient/capture.ts";
import { decode } from "../pb/reflect.ts";
import { AUTHORIZATION } from "../xds/protocol/types.ts";
import type { BoundService } from "./ambient_bindings.ts";
import { objectUrl } from "./links.ts";
import type { CellPart } from "./list_page.ts";
import type { TunnelSets } from "./tunnel_sets.ts";

/** A policy of a pod. */
export interface EnforcedPolicy {
  /** `namespace/name`, as the tunnel names it, or the key of an object that a waypoint enforces. */
  readonly policy: string;
  /** Key of the object. Absent: several objects are behind the policy. */
  readonly object?: string;
  /** Where the policy is enforced. */
  readonly where: string;
  /** Whether something enforces the policy now. */
  readonly isEnforced: boolean;
}

/** A policy as tunnels have it. */
interface ScopedPolicy {
  readonly name: string;
  readonly object?: string;
  readonly scope: number;
  readonly namespace: string;
}

/** The policies of node tunnels. */
export class TunnelPolicyScopes {
  readonly #named: ReadonlyMap<string, ScopedPolicy>;
  /** Policies that no workload lists, because they are for a namespace or for the mesh. */
  readonly #wide: readonly ScopedPolicy[];

  constructor(tunnels: TunnelSets | undefined) {
    const sets = tunnels?.sets(AUTHORIZATION) ?? [];
    const all = sets.flatMap((set) => [...set]).map(({ name, causes: [object], value }): ScopedPolicy => {
      const { scope = Scope.GLOBAL, namespace = "" } = decode<istio.security.Authorization>(
        "istio.security.Authorization",
        value,
      );
      return { name, ...object === undefined ? {} : { object }, scope, namespace };
    });
    this.#named = new Map(all.map((one) => [one.name, one]));
    this.#wide = all.filter(({ scope }) => scope !== Scope.WORKLOAD_SELECTOR);
  }

  /** The policies of a workload, by name. */
  of({ namespace = "", authorization_policies = [] }: istio.workload.Workload): readonly ScopedPolicy[] {
    const wide = this.#wide.filter((one) => one.scope === Scope.GLOBAL || one.namespace === namespace);
    const listed = authorization_policies.flatMap((name) => this.#named.get(name) ?? []);
    return [...new Set([...wide, ...listed])].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Whether a policy is for a workload that lists these policies. */
  isFor(policy: string, namespace: string, lists: (name: string) => boolean): boolean {
    const found = this.#named.get(policy);
    if (found === undefined) return false;
    if (found.scope === Scope.WORKLOAD_SELECTOR) return lists(policy);
    return found.scope === Scope.GLOBAL || found.namespace === namespace;
  }
}

/** Where the policies of tunnels are enforced for a pod in each state of its capture. */
const AT_TUNNEL: Readonly<Record<Capture["state"], { readonly where: string; readonly isEnforced: boolean }>> = {
  captured: { where: "at the tunnel", isEnforced: true },
  itself: { where: "at the pod itself, if it enforces policies", isEnforced: false },
  pending: { where: "nowhere: the pod is not captured yet", isEnforced: false },
  waiting: { where: "nowhere: the pod is not captured", isEnforced: false },
  sidecar: { where: "at the sidecar", isEnforced: true },
  outside: { where: "nowhere: the pod is not captured", isEnforced: false },
};

/**
 * All policies of a pod: those of its node's tunnel, then those of waypoints.
 *
 * @param bound Of each service, and of the pod's own address: the name, and the waypoint.
 */
export function enforcedPolicies(
  workload: istio.workload.Workload,
  state: Capture["state"],
  scopes: TunnelPolicyScopes,
  bound: readonly (readonly [of: string, bound: BoundService])[],
): readonly EnforcedPolicy[] {
  const ofTunnel = scopes.of(workload).map(({ name, object }) => ({
    ...{ policy: name, ...AT_TUNNEL[state] },
    ...object === undefined ? {} : { object },
  }));
  const ofWaypoints = bound.flatMap(([of, { policies, isOnTheWay, binding: { waypoint, way } }]) =>
    policies.map((object) => ({
      policy: object.slice(object.indexOf("/") + 1),
      object,
      isEnforced: isOnTheWay || way !== "direct" && way !== "pods",
      where: isOnTheWay
        ? `at the waypoint ${waypoint}, for ${of}`
        : way === "direct" || way === "pods"
        ? `nowhere for ${of}: the waypoint ${waypoint} is not on the way`
        : `nothing reaches ${of}: the waypoint ${waypoint} is not on the way`,
    }))
  );
  return [...ofTunnel, ...ofWaypoints];
}

/** A policy with the place of its enforcement. */
export function policyCell({ policy, object, where, isEnforced }: EnforcedPolicy): readonly CellPart[] {
  const name = object === undefined ? { mono: policy } : { text: policy, link: objectUrl(object) };
  return [name, isEnforced ? { dim: where } : { tone: "warn", word: where }];
}
