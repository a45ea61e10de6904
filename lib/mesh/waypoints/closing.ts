/**
 * Whether a policy closes services and workloads: without a usable waypoint no connection reaches the services, although
 * no proxy has a resource made from the policy.
 *
 * @module
 */
import { closingTargets, type ClosingWaypoint, targetsOf, type WaypointPolicy, type WaypointUser } from "./policies.ts";

/** The objects that ask for waypoints. */
export interface WaypointUsers {
  /** Everything that asks for a waypoint, by waypoint. */
  users(): Iterable<readonly [waypoint: string, users: Iterable<WaypointUser>]>;
  /** The terms of a waypoint. Undefined: there is no such Gateway. */
  terms(waypoint: string): ClosingWaypoint | undefined;
}

/**
 * Whether a policy closes some object while the object's waypoint is not used. True also if the waypoint is used: whether
 * a client uses the waypoint depends on the client, too.
 */
export function mayClose(policy: WaypointPolicy, rootNamespace: string, around: WaypointUsers): boolean {
  const named = new Set(targetsOf(policy, rootNamespace));
  if (named.size === 0) return false;
  // Most policies name a single waypoint. The users of the other waypoints need no look.
  const isOfGateways = [...named].every((target) => target.startsWith("ApiGateway/"));
  for (const [waypoint, of] of around.users()) {
    if (isOfGateways && !named.has(`ApiGateway/${waypoint}`)) continue;
    const found = around.terms(waypoint);
    for (const user of of) {
      if (closingTargets(user, waypoint, found).some((target) => named.has(target))) return true;
    }
  }
  return false;
}
