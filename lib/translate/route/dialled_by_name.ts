/**
 * Where requests to a service with dynamic DNS are dialled: the authority's host, at the port of the destination.
 * (Envoy's default is the authority's port, else 80, or 443 over TLS.)
 *
 *     Host: a.example.com:8080 ─> route to port 443 of *.example.com ─> address of a.example.com, port 443
 *
 * Proxies with an identity have the filter for these values. Other proxies dial by Envoy's default.
 *
 * @module
 */
import type { envoy, google } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { hasExtension } from "../filters/extension.ts";
import { UPSTREAM_ALPN as SET_FILTER_STATE } from "../filters/http/upstream_alpn/filter.ts";
import { dialledPort, isNamed } from "../../mesh/dialled_server.ts";
import type { Reader } from "../reader/reader.ts";
import type { RouteTarget } from "./destination.ts";

type FilterStateValue = envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue;
type PerFilter = Readonly<Record<string, google.protobuf.Any>>;

/** Host of the authority, without its port. */
const HOST = "%CEL(re.extract(request.host, '^([^:]+)(?::[0-9]+)?$', '\\\\1'))%";

/**
 * Filter settings for requests to the destination. Empty if endpoints have addresses.
 * @param authority Replaces the request's authority.
 */
export function dialledByName(read: Reader, target: RouteTarget, authority: string | undefined): PerFilter {
  const { service, port, name, host } = target;
  if (!service || !isNamed(service, port) || !hasExtension(read, SET_FILTER_STATE)) return {};
  // A host under the wildcard in the rule is the destination, whatever the request's host.
  const named = name === host ? authority?.replace(/:\d+$/, "") : name;
  const values = [
    value("envoy.upstream.dynamic_host", named?.replaceAll("%", "%%") ?? HOST),
    value("envoy.upstream.dynamic_port", `${dialledPort(service, port)}`),
  ];
  const config = any("envoy.extensions.filters.http.set_filter_state.v3.Config", { on_request_headers: values });
  return { [SET_FILTER_STATE]: config };
}

function value(object_key: string, inline_string: string): FilterStateValue {
  return { object_key, format_string: { text_format_source: { inline_string } } };
}
