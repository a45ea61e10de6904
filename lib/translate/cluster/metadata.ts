/**
 * Metadata of clusters for telemetry and access logs: the services behind the cluster and the destination rule. The key
 * is `istio`, which telemetry, dashboards and log formats made for Istio read.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import { HBONE_METADATA } from "../hbone/names.ts";
import { HTTP_ALPN_FIELD } from "../message/http_alpn.ts";
import { PEER_CLUSTER_FIELD, SERVICE_CLUSTER_FIELD } from "../message/peer_cluster.ts";
import { struct } from "../../pb/wellknown.ts";
import type { Service } from "../../registry/types.ts";
import type { TranslateSettings } from "../reader/settings.ts";

/** The contents of a cluster's metadata. */
export interface ClusterMetadata {
  /** Services behind the cluster. Written only when the telemetry setting is on. */
  readonly services: readonly Service[];
  readonly rule: EffectiveDestinationRule | undefined;
  readonly subset?: string;
  /** Protocols that HTTP requests offer in the TLS handshake, see `filters/http/upstream_alpn`. */
  readonly httpAlpn?: string;
  /**
   * Proxies of the mesh may be behind the cluster and identify their workload, see `telemetry/metrics/peer_exchange`.
   */
  readonly peers?: boolean;
  /** HTTP listeners make the metrics of the cluster's requests and read the first service as text. Default false. */
  readonly measured?: boolean;
  /** A server's certificate must carry one of these names when the server is reached by HBONE. */
  readonly hboneNames?: readonly string[];
}

/** The `metadata` of a cluster. Undefined when empty. */
export function clusterMetadata(
  settings: TranslateSettings,
  { services, rule, subset, httpAlpn, peers = false, measured = false, hboneNames }: ClusterMetadata,
): envoy.config.core.v3.Metadata | undefined {
  const showsServices = settings.enableTelemetryLabel && services.length > 0;
  const { namespace, key } = HBONE_METADATA;
  const names = hboneNames === undefined ? {} : { [namespace]: struct({ [key]: hboneNames.join() }) };
  if (!showsServices && rule === undefined && httpAlpn === undefined && !peers) {
    return hboneNames === undefined ? undefined : { filter_metadata: names };
  }
  return {
    filter_metadata: {
      ...names,
      istio: struct({
        ...(rule && { config: rulePath(rule) }),
        ...(showsServices &&
          { services: services.map(serviceFields) }),
        ...(subset !== undefined && { subset }),
        ...(httpAlpn !== undefined && { [HTTP_ALPN_FIELD]: httpAlpn }),
        ...(peers && { [PEER_CLUSTER_FIELD]: true }),
        ...(showsServices && measured && { [SERVICE_CLUSTER_FIELD]: serviceText(services[0]!) }),
      }),
    },
  };
}

/** Services outside the orchestrator have no short name that users know, so the host is the name. */
function serviceFields({ hostname, name, namespace, provider }: Service) {
  return { host: hostname, name: provider === "Orch" ? name : hostname, namespace };
}

function serviceText(service: Service): string {
  const { host, name, namespace } = serviceFields(service);
  return [host, name, namespace].join(";");
}

function rulePath({ namespace, name }: EffectiveDestinationRule): string {
  return `/apis/networking.mesh.io/v1/namespaces/${namespace}/destination-rule/${name}`;
}
