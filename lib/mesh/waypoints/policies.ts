/**
 * Policies that only a waypoint can enforce, by the objects that the policies name; and which of these policies close an
 * object whose waypoint is not used.
 *
 * @module
 */
import { isDryRun } from "../../config/kinds/authorization_policy/dry_run.ts";
import type { ConfigObject } from "../../config/types.ts";
import { selectionOf } from "../selection/selection.ts";
import type { Labels } from "../../registry/labels.ts";
import { SmallMultimap } from "../../registry/small_multimap.ts";
import type { Service } from "../../registry/types.ts";
import { isForTraffic, type WaypointTerms } from "./choice.ts";
import { USE_WAYPOINT } from "./marks.ts";

/** A policy that may name objects behind a waypoint, or the waypoint itself. */
export type WaypointPolicy = ConfigObject<"AuthorizationPolicy"> | ConfigObject<"RequestAuthentication">;

/** Kinds of such policies. */
export const WAYPOINT_POLICIES = ["AuthorizationPolicy", "RequestAuthentication"] as const;

/** Whether an object is such a policy. */
export function isWaypointPolicy(object: { readonly kind: string }): object is WaypointPolicy {
  return (WAYPOINT_POLICIES as readonly string[]).includes(object.kind);
}

/** Kinds of targets, with the name of the kind here. */
const TARGETS: Readonly<Record<string, string>> = {
  Service: "Service",
  ServiceEntry: "ServiceEntry",
  Gateway: "ApiGateway",
  GatewayClass: "GatewayClass",
};

/** Whether a policy only reports, and enforces nothing. */
export function isOnlyReported(policy: ConfigObject<"AuthorizationPolicy">): boolean {
  return policy.spec.action === "AUDIT" || isDryRun(policy);
}

/** Whether a policy lets every request pass: the policy only reports, or verifies no tokens. */
function refusesNothing(policy: WaypointPolicy): boolean {
  if (policy.kind === "AuthorizationPolicy") return isOnlyReported(policy);
  return (policy.spec.jwtRules ?? []).length === 0;
}

/** Keys of the objects for which a policy is enforced; a class counts only in the root namespace. */
export function targetsOf(policy: WaypointPolicy, rootNamespace: string): readonly string[] {
  return refusesNothing(policy) ? [] : namedTargets(policy, rootNamespace);
}

/** Keys of the objects that a policy names, whatever the policy does with their traffic. */
export function namedTargets(policy: WaypointPolicy, rootNamespace: string): readonly string[] {
  const { meta } = policy;
  return selectionOf(policy).targets.flatMap(({ kind, name }) => {
    const target = Object.hasOwn(TARGETS, kind) ? TARGETS[kind] : undefined;
    if (target === undefined) return [];
    if (target !== "GatewayClass") return [`${target}/${meta.namespace}/${name}`];
    return meta.namespace === rootNamespace ? [`${target}//${name}`] : [];
  });
}

/** The policies in force. */
export class WaypointPolicies {
  readonly #targets = new Map<string, readonly string[]>();
  /** Keys of policies by the key of a target. */
  readonly #by = new SmallMultimap<string, string>();

  /**
   * Puts a policy in place of its earlier version.
   *
   * @param targets Keys of the objects that the policy names; empty: the policy is gone, or names no object.
   * @returns The targets whose policies may have changed.
   */
  put(policy: string, targets: readonly string[]): readonly string[] {
    const before = this.#targets.get(policy) ?? [];
    for (const target of before) this.#by.delete(target, policy);
    if (targets.length === 0) this.#targets.delete(policy);
    else this.#targets.set(policy, targets);
    for (const target of targets) this.#by.add(target, policy);
    return [...before, ...targets];
  }

  /** Keys of the policies that name an object, sorted. */
  on(target: string): readonly string[] {
    return this.#by.get(target).toSorted();
  }

  /** Key of the first policy, by key, that names an object. */
  first(target: string): string | undefined {
    return this.on(target)[0];
  }

  /** Whether a policy names an object. */
  has(target: string): boolean {
    return this.#by.has(target);
  }
}

/** An object that may have a waypoint. */
export interface WaypointUser {
  readonly namespace: string;
  readonly labels: Labels;
  readonly sort: "service" | "workload";
  /** Key of a Service or ServiceEntry, which policies may name. */
  readonly key?: string;
}

/** A service as a user of its waypoint: once for each object that makes the service. */
export function usersOf({ namespace, labels, cause, otherCauses = [] }: Service): readonly WaypointUser[] {
  return [cause, ...otherCauses].map((key) => ({ namespace, labels, sort: "service", key }));
}

/** The parts of a waypoint that tell which policies are for an object behind the waypoint. */
export interface ClosingWaypoint extends WaypointTerms {
  readonly className: string;
}

/** Classes of waypoints, in the spelling of either project. */
const WAYPOINT_CLASSES = ["mesh-waypoint", "istio-waypoint"];

/**
 * Keys of the objects whose policies only an unused waypoint can enforce for an object: a policy that names one of these
 * keys closes the object. A policy of the waypoint itself is meant only for the waypoint's traffic: by default not for
 * connections to the addresses of workloads.
 *
 * @param waypoint `namespace/name`
 * @param found The waypoint; undefined: there is no such Gateway.
 */
export function closingTargets(
  user: WaypointUser,
  waypoint: string,
  found: ClosingWaypoint | undefined,
): readonly string[] {
  const own = user.key === undefined ? [] : [user.key];
  const isMeant = found === undefined
    ? user.sort === "service" || Object.hasOwn(user.labels, USE_WAYPOINT)
    : isForTraffic(found, user.sort);
  if (!isMeant) return own;
  const classes = found === undefined ? WAYPOINT_CLASSES : [found.className];
  return [...own, `ApiGateway/${waypoint}`, ...classes.map((name) => `GatewayClass//${name}`)];
}
