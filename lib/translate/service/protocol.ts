/**
 * The meaning of a port's protocol for listeners and routes.
 *
 * @module
 */
import type { Protocol } from "../../registry/types.ts";

/** How a port is listened to: `auto` recognizes HTTP by the first bytes. */
export type ListenerKind = "http" | "tcp" | "auto";

const KINDS: Readonly<Record<Protocol, ListenerKind | undefined>> = {
  HTTP: "http",
  HTTP2: "http",
  GRPC: "http",
  "GRPC-Web": "http",
  HTTP_PROXY: "http",
  HTTPS: "tcp",
  TCP: "tcp",
  TLS: "tcp",
  Mongo: "tcp",
  MySQL: "tcp",
  Redis: "tcp",
  UDP: undefined,
  Unsupported: "auto",
};

/** How a port with the protocol is listened to. Undefined: not at all (UDP). */
export function listenerKind(protocol: Protocol): ListenerKind | undefined {
  return KINDS[protocol];
}

/** Whether connections begin with a TLS handshake for the destination. */
export function isTls(protocol: Protocol): boolean {
  return protocol === "HTTPS" || protocol === "TLS";
}

/** The protocol inside TLS. */
export function afterTlsTermination(protocol: Protocol): Protocol {
  if (protocol === "HTTPS") return "HTTP";
  return protocol === "TLS" ? "TCP" : protocol;
}

/** The server speaks first, so the first bytes of the client cannot be waited for. */
export function serverSpeaksFirst(protocol: Protocol): boolean {
  return protocol === "Mongo" || protocol === "MySQL";
}

/** The HTTP inspector's names of HTTP. HTTP/1.0 is included only if accepted. Otherwise HTTP/1.0 passes as bytes. */
export function httpAlpn(http10: boolean): string[] {
  return http10 ? ["http/1.0", "http/1.1", "h2c"] : ["http/1.1", "h2c"];
}

/** ALPN protocols of sidecars with HTTP inside. */
export const SIDECAR_HTTP: readonly string[] = ["istio-http/1.0", "istio-http/1.1", "istio-h2"];

/** ALPN protocols of sidecars with bytes inside. Istio's sidecars offer both. */
export const SIDECAR_BYTES: readonly string[] = ["istio", "istio-peer-exchange"];

/** All ALPN protocols of sidecars. A client that offers such a protocol speaks mutual TLS of the mesh. */
export const MESH_PROTOCOLS: readonly string[] = [...SIDECAR_BYTES, ...SIDECAR_HTTP];
