/**
 * The bootstrap of applications that speak xDS by themselves (gRPC without a proxy): they ask the agent's relay, and take
 * the workload's certificate from files.
 *
 * Format: gRFC A27 and A30 (xds_servers, node), A29 (certificate_providers), A36 (server_listener_resource_name_template).
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

/** Inputs of the bootstrap. */
export interface GrpcBootstrapInput {
  readonly node: AgentNode;
  /** Absolute path of the relay's socket. */
  readonly socket: string;
  /** Undefined: the workload's certificate is in no file. */
  readonly certificates: GrpcCertificateFiles | undefined;
}

/** The name by which server listeners ask for their configuration; `%s` becomes the address that they listen on. */
const SERVER_LISTENER = "xds.istio.io/grpc/lds/inbound/%s";
/** How often files are looked at again. */
const REFRESH = "900s";

/** The bootstrap as JSON. `GENERATOR` tells servers of the field which resources such a client takes. */
export function grpcBootstrap({ node, socket, certificates }: GrpcBootstrapInput): EnvoyJson {
  const { id, locality, metadata } = node;
  return {
    xds_servers: [{
      server_uri: `unix://${socket}`,
      channel_creds: [{ type: "insecure" }],
      server_features: ["xds_v3"],
    }],
    // Without a locality, be it empty, gRPC for Node refuses the file.
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
