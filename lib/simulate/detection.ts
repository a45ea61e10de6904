/**
 * The facts that listener filters detect about a connection before Envoy chooses a filter chain.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { DetectionStep, SimulatedRequest } from "./types.ts";

type ListenerFilterChainMatchPredicate = envoy.config.listener.v3.ListenerFilterChainMatchPredicate;

/** The two inspectors, by the end of the type. Listeners made for Istio use other names. */
const TLS_INSPECTOR = "tls_inspector.v3.TlsInspector";
const HTTP_INSPECTOR = "http_inspector.v3.HttpInspector";

const ALPN_OF_VERSION = { "HTTP/1.0": "http/1.0", "HTTP/1.1": "http/1.1", "HTTP/2": "h2c" } as const;

/**
 * Runs the inspectors of the passed listeners over the first bytes of a connection. Detected facts stay known when a
 * listener hands the connection on.
 *
 * Without a TLS inspector a TLS hello is not recognised. Without an HTTP inspector no application protocol is
 * recognised.
 *
 * @param listeners In the order of the connection's way.
 */
export function detect(
  listeners: readonly envoy.config.listener.v3.Listener[],
  request: SimulatedRequest,
): DetectionStep {
  let found: DetectionStep = { step: "detection", transport: "raw_buffer", sni: "", applicationProtocols: [] };
  for (const filter of listeners.flatMap((listener) => listener.listener_filters ?? [])) {
    if (filter.filter_disabled && holds(filter.filter_disabled, request.destination.port)) continue;
    const type = filter.typed_config?.type_url ?? "";
    if (type.endsWith(TLS_INSPECTOR) && request.protocol === "tls") {
      const sni = (request.sni ?? "").toLowerCase();
      found = { step: "detection", transport: "tls", sni, applicationProtocols: request.alpn ?? [] };
    }
    if (type.endsWith(HTTP_INSPECTOR) && request.protocol === "http") {
      found = { ...found, applicationProtocols: [ALPN_OF_VERSION[request.httpVersion ?? "HTTP/1.1"]] };
    }
  }
  return found;
}

function holds(predicate: ListenerFilterChainMatchPredicate, port: number): boolean {
  if (predicate.or_match) return (predicate.or_match.rules ?? []).some((rule) => holds(rule, port));
  if (predicate.and_match) return (predicate.and_match.rules ?? []).every((rule) => holds(rule, port));
  if (predicate.not_match) return !holds(predicate.not_match, port);
  if (predicate.destination_port_range) {
    const { start = 0, end = 0 } = predicate.destination_port_range;
    return port >= start && port < end;
  }
  return predicate.any_match === true;
}
