/**
 * Protocols that a proxy offers in mutual TLS of the mesh. The server's sidecar chooses its filter chain by them,
 * before it has read a byte of the content: `istio-http/1.1` and `istio-h2` say HTTP, `istio` alone says bytes. Names
 * without that prefix are agreed on as usual, and are offered only where the version is certain.
 *
 * `istio-peer-exchange` is never offered: it announces data before the first byte, which stock Envoy does not send.
 *
 * @module
 */
import type { Protocol } from "../../registry/types.ts";
import { listenerKind } from "../service/protocol.ts";
import type { UpstreamHttp } from "./http_options.ts";

/** Protocols of a cluster's connections. */
export interface MeshAlpn {
  /** Of every connection, unless a request says otherwise. */
  readonly socket: readonly string[];
  /** Of HTTP requests, where connections of the cluster carry bytes as well. */
  readonly http?: readonly string[];
}

const BYTES: readonly string[] = ["istio"];
const HTTP: readonly string[] = ["istio-http/1.1", "istio"];

/** The protocols of a cluster. */
export function meshAlpn(protocol: Protocol, version: UpstreamHttp): MeshAlpn {
  const kind = listenerKind(protocol);
  if (kind === "auto") return { socket: BYTES, http: HTTP };
  if (kind !== "http") return { socket: BYTES };
  if (version === "http2") return { socket: ["istio-h2", "istio", "h2"] };
  return { socket: version === "http1" ? [...HTTP, "http/1.1"] : HTTP };
}
