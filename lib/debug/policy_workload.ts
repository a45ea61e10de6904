/**
 * The workload of a proxy, as policies choose it.
 *
 * @module
 */
import type { Mesh } from "../mesh/mesh.ts";
import type { SelectableWorkload } from "../mesh/selection/index.ts";
import type { Labels } from "../registry/labels.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { profileOf, type ProxyType } from "../translate/reader/proxy_profile.ts";
import { waypointName, waypointTargets } from "../translate/reader/waypoint_role.ts";
import type { DebugView } from "./view.ts";

/** The workload behind the state of a proxy. */
export function policyWorkload({ proxy }: ProxyState, { translator: { mesh } }: DebugView): SelectableWorkload {
  const { namespace, properties: { labels, type } } = proxy;
  return selectableWorkload({ namespace, labels, type }, mesh);
}

/** A workload, as policies choose it: of a waypoint, the Gateway, its class and the services behind it. */
export function selectableWorkload(
  { namespace, labels, type }: { readonly namespace: string; readonly labels: Labels; readonly type: ProxyType },
  mesh: Mesh,
): SelectableWorkload {
  if (!profileOf(type).waypoint) return mesh.gatewayTargets.of({ namespace, labels });
  return { namespace, labels, ofWaypoint: waypointTargets(mesh.waypoint(waypointName({ namespace, labels }))) };
}
