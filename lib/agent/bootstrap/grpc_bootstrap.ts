/**
 * The bootstrap of gRPC applications with an xDS client of their own and without a proxy. Such an application asks the
 * agent's relay, and takes the workload's certificate from files.
 *
 * Format: gRFC A27 and A30 (xds_servers, node), A29 (certificate_providers), A36
 * (server_listener_resource_name_template).
 *
 * @module
 */
import type { AgentNode } from "../node/agent_node.ts";
import type { EnvoyJson } from "./envoy_json.ts";

/** Files of a certificate, absolute paths. */
export interface GrpcCertificateFiles {
  readonly chain: string;
  readonly key: string;
  readonly roots: string;
}

export interface GrpcBootstrapInput {
  readonly node: AgentNode;
  /** Absolute path of the relay's socket. */
  readonly socket: string;
  /** Undefined: the workload's certificate is in no file. */
  readonly certificates: GrpcCertificateFiles | undefined;
}

/** The name by which server listeners ask for their configuration. `%s` becomes the listening address. */
const SERVER_LISTENER = "xds.istio.io/grpc/lds/inbound/%s";
/** How often files are looked at again. */
const REFRESH = "900s";

/** The bootstrap as JSON. `GENERATOR` tells servers of the field which resources a gRPC client takes. */
export function grpcBootstrap({ node, socket, certificates }: GrpcBootstrapInput): EnvoyJson {
  const { id, locality, metadata } = node;
  return {
    xds_servers: [{
      server_uri: `unix://${socket}`,
      channel_creds: [{ type: "insecure" }],
      server_features: ["xds_v3"],
    }],
    // gRPC for Node refuses a file without a locality. An empty locality is enough.
    node: { id, metadata: { GENERATOR: "grpc", ...metadata }, locality },
    ...(certificates === undefined ? {} : { certificate_providers: { default: fileWatcher(certificates) } }),
    server_listener_resource_name_template: SERVER_LISTENER,
  };
}

function fileWatcher({ chain, key, roots }: GrpcCertificateFiles): EnvoyJson {
  return {
    plugin_name: "file_watcher",
    config: {
      certificate_file: chain,
      private_key_file: key,
      ca_certificate_file: roots,
      refresh_interval: REFRESH,
    },
  };
}
