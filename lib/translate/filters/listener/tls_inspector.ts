/**
 * Reads server name and application protocols from a TLS ClientHello, for filter chains that match them.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { wrap } from "../../../pb/wellknown.ts";

/**
 * First buffer for a ClientHello, bytes: most fit, and it grows when one does not. Envoy's default of 64 KiB would be
 * spent on each new connection.
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
