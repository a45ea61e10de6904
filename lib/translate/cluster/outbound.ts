/**
 * Outbound clusters: for each port of a service, the default cluster and a cluster per subset of the destination rule.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import {
  ApiVersion,
  Cluster_DiscoveryType as DiscoveryType,
  Cluster_LbPolicy as LbPolicy,
} from "../../../proto/gen/enums.ts";
import { duration } from "../../pb/wellknown.ts";
import { portCauses, resolutionOf } from "../../registry/types.ts";
import type { BuildFinding, Built } from "../message/built.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { causesOf, type DestinationPlan, destinations } from "../destination/plan.ts";
import { isUnderstood } from "../filters/understood.ts";
import { ingressPath } from "../hbone/ingress.ts";
import type { Reader } from "../reader/reader.ts";
import { connectionPool } from "./connection_pool.ts";
import { dnsDiscovery, dynamicDnsDiscovery } from "./dns.ts";
import { hboneSockets, waypointSockets } from "./hbone.ts";
import { httpOptions, upstreamHttp } from "./http_options.ts";
import { commonLbConfig, loadBalancer, pickedBalancing } from "./load_balancer.ts";
import { clusterMetadata } from "./metadata.ts";
import { outlierDetection } from "./outlier.ts";
import { type SentSockets, withProxyHeader } from "./proxy_protocol.ts";
import { patternStatName, statName } from "./stat_name.ts";
import { upstreamTls } from "./tls.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/**
 * All outbound clusters of a host, `outbound|port|subset|host`. UDP ports have no cluster. Empty when the host is not
 * visible. A cluster that resolves endpoint names is omitted while the service has no endpoint.
 */
export function outboundClusters(read: Reader, host: string): Built<Cluster>[] {
  return destinations(read, host).flatMap((d) => outboundCluster(read, d) ?? []);
}

function outboundCluster(read: Reader, d: DestinationPlan): Built<Cluster> | undefined {
  const { policy, port, service, subset } = d;
  const version = upstreamHttp(read, port.protocol, policy.connectionPool, true);
  const path = ingressPath(read, d);
  if (path?.way === "closed") return closedCluster(read, d, path.why);
  const throughWaypoint = path?.way === "waypoint" ? waypointSockets(read, path.host) : undefined;
  const tls = throughWaypoint === undefined ? upstreamTls(read, d, version) : {};
  if (tls.closed !== undefined) return closedCluster(read, d, tls.closed);
  // A dynamic cluster must verify the host of a request, unless the rule sets other names or turns verification off.
  const dynamic = d.discovery === "dynamicDns";
  const autoSni = tls.autoSni ?? dynamic;
  const autoSanValidation = tls.autoSanValidation ?? dynamic;
  const found = discovery(read, d, !(autoSni && autoSanValidation));
  if (found === undefined) return undefined;
  // The waypoint sends the PROXY header of the rule.
  const proxyProtocol = throughWaypoint === undefined ? policy.proxyProtocol : undefined;
  const hbone = throughWaypoint ?? hboneSockets(read, d, tls);
  const own = hbone?.tls ?? tls;
  const sockets: SentSockets = proxyProtocol === undefined ? own : withProxyHeader(read, own, proxyProtocol);
  const metadata = clusterMetadata(read.settings, {
    services: [service],
    rule: d.rule,
    ...(subset && { subset: subset.name }),
    ...(tls.httpAlpn && { httpAlpn: tls.httpAlpn }),
    peers: !service.meshExternal && read.exchangesPeers(),
    measured: read.exchangesPeers(),
    ...(hbone?.names.length && { hboneNames: hbone.names }),
  });
  const message: Cluster = {
    name: d.name,
    alt_stat_name: altStatName(read, d),
    ...connectionPool(read.mesh(), policy.connectionPool, d.rule?.retryBudget),
    ...balancing(read, d),
    ...found,
    ...httpOptions(read, {
      protocol: port.protocol,
      version,
      pool: policy.connectionPool,
      autoSni,
      autoSanValidation,
    }),
    ...(policy.outlierDetection && { outlier_detection: outlierDetection(policy.outlierDetection) }),
    ...(sockets.socket && { transport_socket: sockets.socket }),
    ...(sockets.matches && { transport_socket_matches: [...sockets.matches] }),
    ...(metadata && { metadata }),
  };
  const warnings = warningsOf(d, [sockets.warning, path?.way === "direct" ? path.why : undefined]);
  return { message, causes: causesOf(d), ...(warnings.length > 0 && { warnings }) };
}

/** A cluster without endpoints. An open cluster would send plain text against its rule. The rule is the first cause. */
function closedCluster(read: Reader, d: DestinationPlan, why: string): Built<Cluster> {
  const message = {
    name: d.name,
    alt_stat_name: altStatName(read, d),
    type: DiscoveryType.STATIC,
    lb_policy: LbPolicy.ROUND_ROBIN,
    connect_timeout: duration(read.mesh().connectTimeout),
  };
  const causes = [...d.rule?.causes ?? [], ...portCauses(d.service, d.port)];
  return { message, causes, warnings: [{ cause: causes[0] ?? "", text: why }] };
}

function discovery(read: Reader, d: DestinationPlan, insecure: boolean): Cluster | undefined {
  switch (d.discovery) {
    case "eds":
      return edsDiscovery(d.name);
    case "strictDns":
    case "logicalDns":
      return dnsDiscovery(read, d);
    case "dynamicDns":
      return dynamicDnsDiscovery(read, insecure);
    case "originalDst":
      return { type: DiscoveryType.ORIGINAL_DST, ...targetPort(d) };
  }
}

/** Discovery fields of a cluster with endpoints from EDS. */
export function edsDiscovery(name: string): Cluster {
  return {
    type: DiscoveryType.EDS,
    eds_cluster_config: {
      service_name: name,
      // No timeout: a cluster still waiting for endpoints must not look like a cluster without endpoints.
      eds_config: { ads: {}, resource_api_version: ApiVersion.V3, initial_fetch_timeout: duration(0) },
    },
  };
}

/**
 * The target port of a service entry without resolution. Endpoints of an orchestrator's services have their own ports.
 */
function targetPort({ service, port }: DestinationPlan): Cluster {
  if (service.provider === "Orch" || resolutionOf(service, port) !== "passthrough" || !port.targetPort) return {};
  return { original_dst_lb_config: { upstream_port_override: { value: port.targetPort } } };
}

/** Where the client's connection or the request determines the address, there is nothing to balance. */
export function balancing(read: Reader, d: DestinationPlan): Cluster {
  if (d.discovery === "originalDst" || d.discovery === "dynamicDns") return { lb_policy: LbPolicy.CLUSTER_PROVIDED };
  const common = commonLbConfig(read, d, localityPlan(read, d));
  if (d.service.picked) {
    // Envoy refuses weighted localities beside a policy of this form.
    const { locality_weighted_lb_config: _, ...rest } = common ?? {};
    const kept = Object.keys(rest).length > 0 ? { common_lb_config: rest } : {};
    return { load_balancing_policy: pickedBalancing(), ...kept };
  }
  const balancer = d.port.protocol === "Redis" && isUnderstood(read, "Redis")
    // Maglev keeps keys at their endpoints when other endpoints come and go.
    ? { lb_policy: LbPolicy.MAGLEV }
    : loadBalancer(d.policy.loadBalancer);
  return { ...balancer, ...(common && { common_lb_config: common }) };
}

function altStatName(read: Reader, { name, service, port, subset }: DestinationPlan): string {
  const pattern = read.mesh().outboundClusterStatName;
  return pattern ? patternStatName(pattern, service, port, subset?.name ?? "", 0) : statName(name);
}

function warningsOf(d: DestinationPlan, found: readonly (string | undefined)[]): BuildFinding[] {
  const cause = d.rule?.causes[0] ?? portCauses(d.service, d.port)[0] ?? "";
  return found.flatMap((text) => (text === undefined ? [] : [{ cause, text }]));
}
