/**
 * The message of an endpoint.
 *
 * @module
 */
import { hostAndPort } from "../values/host.ts";
import { HealthStatus } from "../../../proto/gen/enums.ts";
import type { Endpoint, Service } from "../../registry/types.ts";
import type { TranslateSettings } from "../reader/settings.ts";
import type { LeanAddress, LeanEndpoint } from "./encode.ts";
import {
  CONNECT_ORIGINATE,
  DIALLED_GATEWAY,
  DIALLED_METADATA,
  DIALLED_SERVICE,
  HBONE_MARK,
  INNER_ORIGINATE,
} from "../hbone/names.ts";
import { TLS_MODE } from "../tls/mesh_client.ts";
import { isDraining } from "./select.ts";

/**
 * Builds the message of an endpoint. Envoy's defaults (weight 1, healthy) are omitted. Metadata for telemetry is
 * written only if the setting is on.
 *
 * @param way How the endpoint is reached. For mutual TLS and HBONE the endpoint is marked.
 */
export function lbEndpoint(
  settings: TranslateSettings,
  service: Service,
  endpoint: Endpoint,
  way: "plain" | "mutual" | "hbone",
): LeanEndpoint {
  const dialled = hostAndPort(endpoint.address, endpoint.port);
  const message: LeanEndpoint = {
    endpoint: { address: way === "hbone" ? byHbone(dialled) : address(endpoint.address, endpoint.port) },
  };
  if (way !== "hbone" && settings.dualStack && endpoint.additionalAddresses !== undefined) {
    message.endpoint.additional_addresses = endpoint.additionalAddresses.map((a) => ({
      address: address(a, endpoint.port),
    }));
  }
  if (isDraining(endpoint, settings.drainingLabel)) message.health_status = HealthStatus.DRAINING;
  else if (endpoint.health === "unhealthy") message.health_status = HealthStatus.UNHEALTHY;
  if (endpoint.weight > 1) message.load_balancing_weight = { value: endpoint.weight };
  const labelled = settings.enableTelemetryLabel && settings.endpointTelemetryLabel;
  if (labelled || way !== "plain") {
    const workload = { stringValue: labelled ? workloadLabel(settings, service, endpoint) : "" };
    message.metadata = {
      filter_metadata: {
        ...(labelled && { istio: { fields: { workload } } }),
        ...(way === "mutual" && MUTUAL),
        ...(way === "hbone" && { ...HBONE, [DIALLED_METADATA]: { fields: { local: { stringValue: dialled } } } }),
      },
    };
  }
  return message;
}

/** The mark that selects a cluster's socket of mutual TLS. */
export const MUTUAL = {
  "envoy.transport_socket_match": { fields: { [TLS_MODE.key]: { stringValue: TLS_MODE.value } } },
} as const;

const HBONE = {
  "envoy.transport_socket_match": { fields: { [HBONE_MARK.key]: { stringValue: HBONE_MARK.value } } },
} as const;

/**
 * The address of the internal listener that opens the tunnel. The ID, the endpoint's own address, keeps endpoints
 * distinct.
 */
function byHbone(endpoint_id: string): LeanAddress {
  return { envoy_internal_address: { server_listener_name: CONNECT_ORIGINATE, endpoint_id } };
}

/**
 * A gateway of another network, in place of endpoints that are reached by HBONE through the gateway.
 *
 * @param gateway `IP:PORT` of the gateway.
 * @param service `HOST:PORT` of the service.
 */
export function farEndpoint(gateway: string, service: string): LeanEndpoint {
  const fields = { [DIALLED_GATEWAY]: { stringValue: gateway }, [DIALLED_SERVICE]: { stringValue: service } };
  return {
    endpoint: {
      address: {
        envoy_internal_address: { server_listener_name: INNER_ORIGINATE, endpoint_id: `${gateway}/${service}` },
      },
    },
    metadata: { filter_metadata: { ...HBONE, [DIALLED_METADATA]: { fields } } },
  };
}

/** An IP address or name with its port, or the pipe of `unix:///path`. */
export function address(host: string, port: number): LeanAddress {
  if (host.startsWith("unix://")) return { pipe: { path: host.slice("unix://".length) } };
  return { socket_address: { address: host, port_value: port } };
}

/**
 * `workload;namespace;canonical name;canonical revision;cluster`: the form read by telemetry and access logs made for
 * Istio. The revision `latest` is omitted.
 */
function workloadLabel(settings: TranslateSettings, service: Service, endpoint: Endpoint): string {
  const { labels } = endpoint;
  let name = canonicalName(labels) ?? endpoint.workloadName;
  let revision = canonicalRevision(labels);
  let namespace = endpoint.namespace;
  if (settings.labelCanonicalServicesForMeshExternal && service.meshExternal) {
    namespace = service.namespace;
    const own = service.labels["service.mesh.io/canonical-name"];
    if (own !== undefined) {
      name = own;
      revision = service.labels["service.mesh.io/canonical-revision"];
    }
  }
  const shown = revision === undefined || revision === "latest" ? "" : revision;
  return `${endpoint.workloadName};${namespace};${name};${shown};${endpoint.clusterId}`;
}

function canonicalName(labels: Readonly<Record<string, string>>): string | undefined {
  return labels["service.mesh.io/canonical-name"] ?? labels["app.kubernetes.io/name"] ?? labels.app;
}

function canonicalRevision(labels: Readonly<Record<string, string>>): string | undefined {
  return labels["service.mesh.io/canonical-revision"] ?? labels["app.kubernetes.io/version"] ?? labels.version;
}
