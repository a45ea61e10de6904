/**
 * Inbound clusters, `inbound|port||`: from the proxy to its workload.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Cluster_DiscoveryType as DiscoveryType, Cluster_LbPolicy as LbPolicy } from "../../../proto/gen/enums.ts";
import type { ConnectionPoolSettings } from "../../config/kinds/common/schema.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import { duration } from "../../pb/wellknown.ts";
import { portCauses, type Service } from "../../registry/types.ts";
import type { Built } from "../message/built.ts";
import { portPolicy } from "../destination/policy.ts";
import { inboundClusterName, type InboundTarget } from "../inbound/target.ts";
import type { Reader } from "../reader/reader.ts";
import { loopbackBind } from "./bind.ts";
import { connectionPool } from "./connection_pool.ts";
import { fixedAddress, loopback, type WorkloadAddress } from "./default_endpoint.ts";
import { httpOptions, upstreamHttp } from "./http_options.ts";
import { clusterMetadata } from "./metadata.ts";
import { patternStatName, statName } from "./stat_name.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/** The largest time that Envoy can represent (about 292 years), ms. Hosts of the cluster are never forgotten. */
const NEVER = 9_223_372_035_000;

/** The cluster of each target. Of several targets on one port, only the first has a cluster. */
export function inboundClusters(read: Reader, targets: readonly InboundTarget[]): Built<Cluster>[] {
  const ports = new Set<number>();
  return targets.filter((t) => !ports.has(t.port) && ports.add(t.port)).map((t) => inboundCluster(read, t));
}

function inboundCluster(read: Reader, target: InboundTarget): Built<Cluster> {
  const name = inboundClusterName(target.port);
  const { service, servicePort } = target;
  const rule = service && ruleOf(read, service);
  const pool = target.connectionPool ?? rulePool(rule, servicePort.port);
  const fixed = target.fromSidecarIngress ? fixedAddress(read, target) : ofService(read, target);
  const version = upstreamHttp(read, servicePort.protocol, pool, false);
  const metadata = clusterMetadata(read.settings, {
    ...{ services: reportedServices(target), rule },
    measured: read.exchangesPeers(),
  });
  const message: Cluster = {
    name,
    alt_stat_name: altStatName(read, target, name),
    ...connectionPool(read.mesh(), pool),
    ...(fixed === undefined ? whereDialled() : at(name, fixed)),
    ...httpOptions(read, { protocol: servicePort.protocol, version, pool }),
    ...(fixed?.local !== true && { upstream_bind_config: loopbackBind(read, read.settings.dualStack) }),
    ...(metadata && { metadata }),
  };
  return { message, causes: [...(service ? portCauses(service, servicePort) : []), ...(rule?.causes ?? [])] };
}

/** Workloads behind a service are reached where the client dialled, or all on loopback, as the mesh says. */
function ofService(read: Reader, target: InboundTarget): WorkloadAddress | undefined {
  return read.mesh().inboundTrafficPolicy.mode === "LOCALHOST"
    ? loopback(read, target.port)
    : fixedAddress(read, target);
}

/** Rules for chosen client workloads say nothing about the server's side, whatever labels the server has. */
function ruleOf(read: Reader, service: Service): EffectiveDestinationRule | undefined {
  const rule = read.destinationRuleForAll(service.hostname);
  return rule?.spec.trafficPolicy === undefined ? undefined : rule;
}

/**
 * The connection pool of a rule. The server's side must have room for all requests that a rule lets clients send, so
 * only the rule's pool counts here.
 */
function rulePool(rule: EffectiveDestinationRule | undefined, port: number): ConnectionPoolSettings | undefined {
  return rule && portPolicy(rule.spec.trafficPolicy, port).connectionPool;
}

function whereDialled(): Cluster {
  return {
    type: DiscoveryType.ORIGINAL_DST,
    lb_policy: LbPolicy.CLUSTER_PROVIDED,
    cleanup_interval: duration(NEVER),
  };
}

function at(name: string, fixed: WorkloadAddress): Cluster {
  return {
    type: DiscoveryType.STATIC,
    lb_policy: LbPolicy.ROUND_ROBIN,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: fixed.address } }] }],
    },
  };
}

/** All services on the port, each host once; services outside the mesh have no workload here. */
function reportedServices({ service, otherServices }: InboundTarget): Service[] {
  if (service === undefined || service.meshExternal) return [];
  return [...new Map([service, ...(otherServices ?? [])].map((s) => [s.hostname, s])).values()];
}

function altStatName(read: Reader, { service, servicePort, port }: InboundTarget, name: string): string {
  const pattern = read.mesh().inboundClusterStatName;
  return pattern && service ? patternStatName(pattern, service, servicePort, "", port) : statName(name);
}
