/**
 * Starts real Envoys that get everything from a discovery server over one delta ADS stream.
 *
 * Permissions: run (envoy), read and write (a temporary folder), net (loopback).
 *
 * @module
 */

/** Who an Envoy is in the mesh. */
export interface EnvoyIdentity {
  /** `sidecar` or `router`. */
  readonly type: "sidecar" | "router";
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** How it is started. */
export interface EnvoyOptions {
  readonly binary: string;
  readonly folder: string;
  readonly identity: EnvoyIdentity;
  readonly discoveryPort: number;
  readonly adminPort: number;
  /** Keeps processes on one machine apart. */
  readonly baseId: number;
  /** Delta with virtual hosts one by one (default), or state of the world. */
  readonly delta?: boolean;
}

/** A running Envoy. */
export interface RunningEnvoy {
  readonly adminPort: number;
  /** Resolves when it ends; the text is what it wrote. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** The static part of an Envoy's configuration: who it is and where it asks. */
export function bootstrap({ identity, discoveryPort, adminPort, delta = true }: EnvoyOptions): unknown {
  const { type, name, namespace, address, labels } = identity;
  const socket = (address: string, port_value: number) => ({ socket_address: { address, port_value } });
  const api = { resource_api_version: "V3" };
  return {
    node: {
      id: `${type}~${address}~${name}.${namespace}~${namespace}.svc.cluster.local`,
      cluster: `${name}.${namespace}`,
      metadata: { NAMESPACE: namespace, INSTANCE_IPS: address, LABELS: labels, INTERCEPTION_MODE: "NONE" },
    },
    admin: { address: socket("127.0.0.1", adminPort) },
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
      clusters: [{
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

/** Starts one; a field that it does not know refuses the resource. */
export async function startEnvoy(options: EnvoyOptions): Promise<RunningEnvoy> {
  const { binary, folder, identity, baseId, adminPort } = options;
  const file = `${folder}/${identity.name}.json`;
  await Deno.writeTextFile(file, JSON.stringify(bootstrap(options), null, 2));
  const child = new Deno.Command(binary, {
    args: [
      "-c",
      file,
      "--reject-unknown-dynamic-fields",
      "--base-id",
      String(baseId),
      "--log-level",
      "warning",
      "--concurrency",
      "1",
    ],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const ended = new Response(child.stderr).text();
  return {
    adminPort,
    ended,
    stop: async () => {
      try {
        child.kill("SIGTERM");
      } catch {
        // It has ended by itself.
      }
      await child.status;
    },
  };
}
