/**
 * The client's side of mutual TLS between workloads: what a proxy shows to endpoints, and asks of them.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { struct } from "../../pb/wellknown.ts";
import { exactNames } from "./san.ts";
import type { Reader } from "../reader/reader.ts";
import { meshTlsParameters } from "./parameters.ts";
import type { ClientIdentity } from "./secret_source.ts";

type TransportSocket = envoy.config.core.v3.TransportSocket;
type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type TransportSocketMatch = envoy.config.cluster.v3.Cluster.TransportSocketMatch;

/** Key in the metadata of endpoints, and its value, by which the transport socket of an endpoint is chosen. */
export const TLS_MODE = { key: "tlsMode", value: "istio" } as const;

/** What differs between clusters. */
export interface MeshClientTls {
  readonly sni: string;
  /** Names of which a server's certificate must carry one; none: any certificate of the mesh. */
  readonly names: readonly string[];
  /** Protocols that are offered: sidecars choose by them what they take a connection for. */
  readonly alpn: readonly string[];
}

/** A transport socket that shows the workload's certificate, and demands one of these names. */
export function meshClientSocket(read: Reader, identity: ClientIdentity, tls: MeshClientTls): TransportSocket {
  const context: envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext = {
    common_tls_context: {
      tls_params: meshTlsParameters(read),
      alpn_protocols: [...tls.alpn],
      ...credentials(identity, tls.names),
    },
    sni: tls.sni,
  };
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: any("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", context),
  };
}

function credentials(identity: ClientIdentity, names: readonly string[]): CommonTlsContext {
  const trusted = names.length > 0 ? { match_typed_subject_alt_names: exactNames(names) } : {};
  if ("files" in identity) {
    const { chain, key, root } = identity.files;
    return {
      tls_certificates: [{ certificate_chain: { filename: chain }, private_key: { filename: key } }],
      validation_context: { trusted_ca: { filename: root }, ...trusted },
    };
  }
  return {
    tls_certificate_sds_secret_configs: [identity.certificate.config],
    combined_validation_context: {
      default_validation_context: trusted,
      validation_context_sds_secret_config: identity.authorities.config,
    },
  };
}

/** Automatic mutual TLS: endpoints that accept it get this socket, the others plain connections. */
export function automaticSockets(socket: TransportSocket): TransportSocketMatch[] {
  return [
    { name: "tlsMode-istio", match: struct({ [TLS_MODE.key]: TLS_MODE.value }), transport_socket: socket },
    {
      name: "tlsMode-disabled",
      match: struct({}),
      transport_socket: {
        name: "envoy.transport_sockets.raw_buffer",
        typed_config: any("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", {}),
      },
    },
  ];
}

/** Server name of a cluster, `outbound_.80_.v1_.reviews.default.svc.cluster.local`: legal in a handshake, unlike its name. */
export function clusterSni(port: number, subset: string, host: string): string {
  return `outbound_.${port}_.${subset}_.${host}`;
}
