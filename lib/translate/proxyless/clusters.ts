/**
 * Clusters of gRPC libraries, named `outbound|port|subset|host` like clusters of proxies.
 *
 * A cluster that cannot follow its rule is omitted, so that calls fail. A library would refuse the cluster or, worse,
 * ignore the field and call in plain text.
 *
 * Format: gRFC A27 and A37 (discovery), A29 (TLS), A32 (circuit breakers), A42 (ring hash), A55 (sessions).
 *
 * @module
 */
import { Cluster_DiscoveryType as DiscoveryType, Cluster_LbPolicy as LbPolicy } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { lossOf } from "../../finding/finding.ts";
import { connectionPool } from "../cluster/connection_pool.ts";
import { edsDiscovery } from "../cluster/outbound.ts";
import { commonLbConfig, loadBalancer } from "../cluster/load_balancer.ts";
import { causesOf, type DestinationPlan } from "../destination/plan.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { address } from "../endpoint/lb_endpoint.ts";
import { portCauses } from "../../registry/types.ts";
import type { Built } from "../message/built.ts";
import type { ReportFinding } from "../message/finding.ts";
import type { Reader } from "../reader/reader.ts";
import { type LibraryDestination, libraryDestinations } from "./destinations.ts";
import { clientTls } from "./tls.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/** The clusters of a host. */
export function clientClusters(read: Reader, host: string, report: ReportFinding): Built<Cluster>[] {
  return libraryDestinations(read, host).flatMap((destination) => clientCluster(read, destination, report) ?? []);
}

function clientCluster(read: Reader, d: LibraryDestination, report: ReportFinding): Built<Cluster> | undefined {
  const { plan } = d;
  const tls = clientTls(read, plan);
  const without = tls.closed ?? d.without;
  const causes = causesOf(plan);
  // The rule comes first, because the rule is not in force.
  const say = (text: string) =>
    report(lossOf("not-as-written", [...plan.rule?.causes ?? [], ...portCauses(plan.service, plan.port)], text));
  if (without !== undefined) {
    say(`gRPC clients have no cluster ${plan.name}: ${without}`);
    return undefined;
  }
  const balancer = balancing(plan);
  if (balancer.instead !== undefined) say(`gRPC clients balance ${plan.name} by ${balancer.instead}`);
  const sticky = commonLbConfig(read, plan, localityPlan(read, plan))?.override_host_status;
  const { circuit_breakers } = connectionPool(read.mesh(), plan.policy.connectionPool);
  const message: Cluster = {
    name: plan.name,
    ...discovery(d),
    ...balancer.fields,
    // Without a limit, libraries allow 1024 concurrent calls.
    ...(circuit_breakers && { circuit_breakers }),
    ...(sticky ? { common_lb_config: { override_host_status: sticky } } : {}),
    ...(tls.socket ? { transport_socket: tls.socket } : {}),
  };
  return { message, causes };
}

function discovery({ plan, name }: LibraryDestination): Cluster {
  if (name === undefined) return edsDiscovery(plan.name);
  const endpoint = { address: address(name.address, name.port) };
  return {
    type: DiscoveryType.LOGICAL_DNS,
    load_assignment: { cluster_name: plan.name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  };
}

/** All libraries know round robin and ring hash. A library refuses a cluster with an unknown balancer. */
function balancing({ policy: { loadBalancer: asked } }: DestinationPlan): { fields: Cluster; instead?: string } {
  const { lb_policy, ring_hash_lb_config } = loadBalancer(asked);
  if (lb_policy === LbPolicy.RING_HASH) {
    return { fields: { lb_policy, ...(ring_hash_lb_config && { ring_hash_lb_config }) } };
  }
  if (lb_policy === LbPolicy.MAGLEV) {
    return { fields: { lb_policy: LbPolicy.RING_HASH }, instead: "ring hash, not Maglev" };
  }
  const simple = asked?.simple ?? "UNSPECIFIED";
  const fields = { lb_policy: LbPolicy.ROUND_ROBIN };
  return simple === "UNSPECIFIED" || simple === "ROUND_ROBIN"
    ? { fields }
    : { fields, instead: `round robin, not ${simple}` };
}
