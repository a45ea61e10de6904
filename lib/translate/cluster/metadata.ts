/**
 * Metadata of clusters: which services they stand for and which rule shaped them, for telemetry and access logs.
 *
 * It lies under the key `istio`, which telemetry, dashboards and log formats made for Istio read.
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
  /** Services behind it; written only where the telemetry setting is on. */
  readonly services: readonly Service[];
  readonly rule: EffectiveDestinationRule | undefined;
  readonly subset?: string;
  /** Protocols that HTTP requests over the cluster offer in the TLS handshake, see `filters/http/upstream_alpn`. */
  readonly httpAlpn?: string;
  /** Proxies of the mesh may be behind it, which say what workload they are, see `telemetry/metrics/peer_exchange`. */
  readonly peers?: boolean;
  /** Metrics of its requests are made by listeners for HTTP, which read the first service as a text. Default false. */
  readonly measured?: boolean;
  /** Names of which a server's certificate must carry one where it is reached by HBONE. */
  readonly hboneNames?: readonly string[];
}

/** The `metadata` of a cluster; undefined when it would be empty. */
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

/** Outside the orchestrator services have no short name that people know: their host stands for it. */
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
