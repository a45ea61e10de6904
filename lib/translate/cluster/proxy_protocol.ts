/**
 * Connections that begin with a header of the PROXY protocol. The header tells the server the client's address.
 *
 *     PROXY header | TLS or plain, as the cluster has it
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { ProxyProtocolConfig_Version as Version } from "../../../proto/gen/enums.ts";
import type { ProxyProtocolSettings } from "../../config/kinds/destination_rule/schema.ts";
import { any } from "../../pb/codec.ts";
import { hasExtension } from "../filters/extension.ts";
import type { Reader } from "../reader/reader.ts";
import { RAW_SOCKET } from "../tls/mesh_client.ts";
import type { UpstreamTls } from "./tls.ts";

type TransportSocket = envoy.config.core.v3.TransportSocket;

const NAME = "envoy.transport_sockets.upstream_proxy_protocol";

/** Sockets of a cluster, and why the header is left out. */
export interface SentSockets extends Pick<UpstreamTls, "socket" | "matches"> {
  /** A setting of the rule that is not in force, in words. */
  readonly warning?: string;
}

/** The sockets with the header in front of each. */
export function withProxyHeader(read: Reader, tls: UpstreamTls, settings: ProxyProtocolSettings): SentSockets {
  const { socket = RAW_SOCKET, matches } = tls;
  if (!hasExtension(read, NAME)) {
    return { ...tls, warning: `trafficPolicy.proxyProtocol is left out, the proxy's build lacks ${NAME}` };
  }
  const fronted = (inner: TransportSocket): TransportSocket => ({
    name: NAME,
    typed_config: any("envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport", {
      config: { version: Version[settings.version] },
      transport_socket: inner,
    }),
  });
  if (matches === undefined) return { ...tls, socket: fronted(socket) };
  const each = matches.map((match) => ({ ...match, transport_socket: fronted(match.transport_socket ?? RAW_SOCKET) }));
  return { ...tls, matches: each, ...(tls.socket === undefined ? {} : { socket: fronted(socket) }) };
}
