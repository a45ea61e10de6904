/**
 * Starts real Envoys that get all configuration from a discovery server over a delta ADS stream.
 *
 * Permissions: run (envoy), read and write (a temporary folder), net (loopback), env (ENVOY).
 *
 * @module
 */

import { type EnvoyProcess, startEnvoyProcess } from "../envoy.ts";

/** The identity of an Envoy in the mesh. */
export interface EnvoyIdentity {
  /** `sidecar`, `router` or `waypoint`. */
  readonly type: "sidecar" | "router" | "waypoint";
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Further metadata of the node, such as `TLS_SERVER_CERT_CHAIN`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Further clusters of the bootstrap, such as an agent's cluster. */
  readonly clusters?: readonly unknown[];
  /** Runtime values of the bootstrap, such as limits. */
  readonly runtime?: Readonly<Record<string, unknown>>;
}

/** How an Envoy is started. */
export interface EnvoyOptions {
  readonly binary: string;
  /** The folder for Envoy's files. File names begin with the identity's name. */
  readonly folder: string;
  readonly identity: EnvoyIdentity;
  readonly discoveryPort: number;
  /** Delta with virtual hosts one by one (default), or state of the world. */
  readonly delta?: boolean;
  /** How traffic reaches the proxy: `NONE` (default), `REDIRECT` or `TPROXY`. */
  readonly interceptionMode?: string;
  /** Drain time of old listeners and filter chains, s. Default: Envoy's own, 600. */
  readonly drainTime?: number;
  /** Unused series are removed after this time, s. Default: never. */
  readonly evictionInterval?: number;
  /** Further variables of Envoy's process. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Listeners without an address, needed for HBONE. */
const INTERNAL_LISTENERS = {
  name: "envoy.bootstrap.internal_listener",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener" },
};

/** The static part of an Envoy's configuration: the Envoy's identity and the discovery server. */
export function bootstrap(
  { identity, discoveryPort, delta = true, interceptionMode = "NONE", evictionInterval }: Omit<
    EnvoyOptions,
    "binary" | "folder"
  >,
): unknown {
  const { type, name, namespace, address, labels, metadata = {}, clusters = [], runtime } = identity;
  const socket = (address: string, port_value: number) => ({ socket_address: { address, port_value } });
  const api = { resource_api_version: "V3" };
  const eviction = evictionInterval === undefined
    ? {}
    : { stats_flush_interval: `${evictionInterval}s`, stats_eviction_interval: `${evictionInterval}s` };
  return {
    ...eviction,
    node: {
      id: `${type}~${address}~${name}.${namespace}~${namespace}.svc.cluster.local`,
      cluster: `${name}.${namespace}`,
      metadata: {
        ...{ NAMESPACE: namespace, INSTANCE_IPS: address, LABELS: labels, INTERCEPTION_MODE: interceptionMode },
        ...metadata,
      },
    },
    admin: { address: socket("127.0.0.1", 0) },
    bootstrap_extensions: [INTERNAL_LISTENERS],
    ...runtime === undefined ? {} : { layered_runtime: { ["layers"]: [{ name: "own", static_layer: runtime }] } },
    dynamic_resources: {
      ads_config: {
        api_type: delta ? "DELTA_GRPC" : "GRPC",
        transport_api_version: "V3",
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: "xds-grpc" } }],
      },
      cds_config: { ads: {}, ...api },
      lds_config: { ads: {}, ...api },
    },
    static_resources: {
      clusters: [...clusters, {
        name: "xds-grpc",
        type: "STATIC",
        connect_timeout: "1s",
        load_assignment: {
          cluster_name: "xds-grpc",
          endpoints: [{ lb_endpoints: [{ endpoint: { address: socket("127.0.0.1", discoveryPort) } }] }],
        },
        typed_extension_protocol_options: {
          "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
            explicit_http_config: { http2_protocol_options: {} },
          },
        },
      }],
    },
  };
}

/** Starts an Envoy. Resolves when the admin pages are available. */
export function startEnvoy(options: EnvoyOptions): Promise<EnvoyProcess> {
  const { binary, folder, identity, drainTime, variables = {} } = options;
  const args = drainTime === undefined ? [] : ["--drain-time-s", String(drainTime), "--drain-strategy", "immediate"];
  return startEnvoyProcess({
    binary,
    bootstrap: bootstrap(options) as object,
    folder,
    name: identity.name,
    args,
    variables,
  });
}
