/**
 * What the node tunnels have in a mesh of texts.
 *
 * @module
 */
import { AMBIENT_CONFIGURATION, AMBIENT_FACTS } from "../../ambient/objects.ts";
import { tunnelIndex } from "../../ambient/networks/clusters.ts";
import { WAYPOINT_POLICIES } from "../../mesh/waypoints/policies.ts";
import { WaypointAdmissions } from "../../ambient/waypoint_admission.ts";
import type { AnyFact } from "../../config/facts/types.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import { unpaced } from "../../kernel/time/paced.ts";
import { isTunnelPolicyObject, TunnelPolicies } from "../../mesh/tunnel/policies.ts";
import { type TunnelAuthorization, tunnelPolicy } from "../../mesh/tunnel/authorization.ts";
import { tunnelPolicyName } from "../../mesh/tunnel/change.ts";
import { isTunnelled, textOf, tunnelAddresses } from "../../simulate/tunnel/addresses.ts";
import { hasSeveralNetworks } from "../../discovery/settings/settings.ts";
import { scopeOfService } from "../../mesh/service_scope.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import type { TunnelWorld } from "./tunnel.ts";

/** The tunnels of a mesh. Undefined: no text has a workload in ambient mode. */
export function tunnelWorldOf(mesh: OfflineMesh): TunnelWorld | undefined {
  const policies = new TunnelPolicies(mesh.mesh, [...mesh.objects.values()].filter(isTunnelPolicyObject));
  const { settings } = mesh;
  const scopes = mesh.mesh.serviceScopeConfigs ?? [];
  const index = tunnelIndex({
    ...{ clusterId: settings.CLUSTER_ID, domain: mesh.domain, systemNamespace: settings.POD_NAMESPACE },
    rootNamespace: () => mesh.mesh.rootNamespace,
    trustDomain: () => mesh.mesh.trustDomain,
    selectPods: settings.PILOT_ENABLE_SERVICEENTRY_SELECT_PODS,
    selectWorkloadEntries: settings.PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES,
    opensWithoutWaypoint: settings.MESH_WAYPOINT_FAIL_OPEN,
    admitsWaypoints: settings.PILOT_AUTO_ALLOW_WAYPOINT_POLICY,
    ...hasSeveralNetworks(settings) && { isGlobal: (service) => scopeOfService(scopes, service) === "GLOBAL" },
    policies: (namespace, labels) => policies.listed({ namespace, labels }),
    failed: (what, error) => void mesh.failures.push({ what, error }),
    assigned: ({ key }) => mesh.pipeline.entries.assignment(key) ?? [],
  });
  // The stores' lists are of Fact and of ConfigObject; the unions by kind are the same objects.
  for (const kind of AMBIENT_FACTS) for (const fact of mesh.facts.list(kind)) index.put(fact as AnyFact);
  for (const kind of [...AMBIENT_CONFIGURATION, ...WAYPOINT_POLICIES]) {
    for (const object of mesh.store.list(kind)) index.put(object as AnyConfigObject);
  }
  const messages = unpaced(index.settle()).made.map(({ message }) => message);
  const clients = messages.flatMap(({ workload }) => workload !== undefined && isTunnelled(workload) ? [workload] : []);
  if (clients.length === 0) return undefined;
  const byAddress = new Map(
    clients.flatMap((one) => (one.addresses ?? []).map((bytes) => [textOf(bytes), one] as const)),
  );
  const admissions = new WaypointAdmissions();
  if (settings.PILOT_AUTO_ALLOW_WAYPOINT_POLICY) {
    for (const object of [...mesh.facts.list("Pod"), ...mesh.store.list("ApiGateway")]) admissions.put(object);
  }
  const named = (name: string) => policies.authorization(name) ?? admissions.policy(name, mesh.mesh.trustDomain);
  const sent = [...policies.names(), ...admissions.names()]
    .map((name): [string, TunnelAuthorization] => [name, named(name)!]);
  return {
    client: ({ address, namespace }) => {
      const found = byAddress.get(address);
      return found?.namespace === namespace ? found : undefined;
    },
    state: {
      ...{ addresses: tunnelAddresses(messages), policies: new Map(sent) },
      ...(settings.ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES ? { layered: layeredPolicies(mesh) } : {}),
    },
  };
}

/** The policies without targets, as waypoints enforce them. */
function layeredPolicies({ mesh, store }: OfflineMesh): ReadonlyMap<string, TunnelAuthorization> {
  return new Map(
    store.list("AuthorizationPolicy").flatMap((policy): [string, TunnelAuthorization][] => {
      const { authorization } = tunnelPolicy(policy, mesh, "waypoint");
      return authorization === undefined ? [] : [[tunnelPolicyName(policy.meta), authorization]];
    }),
  );
}
