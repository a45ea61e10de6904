/**
 * The transport socket of connections to an internal listener. The socket passes on the shared state of the request or
 * connection.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { RAW_SOCKET } from "../tls/mesh_client.ts";

type TransportSocket = envoy.config.core.v3.TransportSocket;
type Passed = envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport.MetadataValueSource;

/** Name of the extension. */
export const INTERNAL_UPSTREAM = "envoy.transport_sockets.internal_upstream";

/**
 * The socket.
 *
 * @param transport_socket The transport socket inside the connection.
 * @param passthrough_metadata Metadata for the internal listener.
 */
export function internalUpstream(
  transport_socket: TransportSocket = RAW_SOCKET,
  passthrough_metadata: Passed[] = [],
): TransportSocket {
  const type = "envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport";
  const passed = passthrough_metadata.length > 0 ? { passthrough_metadata } : {};
  return { name: INTERNAL_UPSTREAM, typed_config: any(type, { ...passed, transport_socket }) };
}
