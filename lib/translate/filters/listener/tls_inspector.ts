/**
 * Reads server name and application protocols from a TLS ClientHello, for filter chains that match on either.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { wrap } from "../../../pb/wellknown.ts";

/**
 * First buffer for a ClientHello, bytes. Most messages fit, and Envoy enlarges the buffer for the rest. Envoy's default
 * would spend 64 KiB on each new connection.
 */
const INITIAL_READ_BUFFER_BYTES = 512;

/** `envoy.filters.listener.tls_inspector`. */
export function tlsInspectorFilter(): envoy.config.listener.v3.ListenerFilter {
  const config: envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector = {
    initial_read_buffer_size: wrap(INITIAL_READ_BUFFER_BYTES),
  };
  return {
    name: "envoy.filters.listener.tls_inspector",
    typed_config: any("envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", config),
  };
}
