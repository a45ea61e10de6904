/**
 * Where requests to a service with dynamic DNS are dialled: the host of their authority, at the port of the destination.
 * (By itself Envoy takes the port of the authority as well, else 80, or 443 over TLS.)
 *
 *     Host: a.example.com:8080 ─> route to port 443 of *.example.com ─> address of a.example.com, port 443
 *
 * The filter of these values is there in proxies with an identity; others dial as Envoy does by itself.
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
 * Settings of the filter for requests that go to this destination; none where endpoints have addresses.
 *
 * @param authority By which the request's own is replaced on the way.
 */
export function dialledByName(read: Reader, target: RouteTarget, authority: string | undefined): PerFilter {
  const { service, port, name, host } = target;
  if (!service || !isNamed(service, port) || !hasExtension(read, SET_FILTER_STATE)) return {};
  // A rule that names a host under the wildcard says where to, whatever host the request is for.
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
