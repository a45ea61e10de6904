/**
 * Route configurations of gRPC libraries, one per port of a host, `outbound|PORT||HOST`, from the same routes as for
 * sidecars.
 *
 * A library refuses a whole configuration with an unknown value, but ignores unknown fields. An ignored field is
 * omitted if the omission is harmless (headers, mirrors, rewrites). A rule that would match too many calls never
 * matches, and a rule with an answer of the proxy fails its calls.
 *
 * Format: gRFC A28 (matching), A31 (timeouts), A33 (faults), A42 (hashing), A44 (retries).
 *
 * @module
 */
import type { envoy, google } from "../../../proto/gen/types.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import { GRPC_STATUSES } from "../../config/kinds/virtual_service/grpc_statuses.ts";
import { any } from "../../pb/codec.ts";
import { outboundClusterName } from "../destination/names.ts";
import { FAULT_FILTER } from "../filters/http/fault/per_route.ts";
import type { BuildFinding, Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { fractionOf } from "../values/fraction.ts";
import { virtualHostName } from "../route/domains.ts";
import { routedPorts } from "../route/sidecar.ts";

type Route = envoy.config.route.v3.Route;
type RouteMatch = envoy.config.route.v3.RouteMatch;
type RouteAction = envoy.config.route.v3.RouteAction;
type HeaderMatcher = envoy.config.route.v3.HeaderMatcher;

/** The route configurations of a host. */
export function clientRoutes(read: Reader, host: string): Built<envoy.config.route.v3.RouteConfiguration>[] {
  const ports = isWildcard(host) ? [] : routedPorts(read, host);
  return ports.map(({ port, routes, causes, warnings }) => {
    const notes = new Set<string>();
    const translated = routes.flatMap((route) => clientRoute(route, outboundClusterName(port, "", host), notes) ?? []);
    const cause = causes.find((key) => key.startsWith("VirtualService/")) ?? causes[0] ?? "";
    const all: BuildFinding[] = [...warnings, ...[...notes].map((text) => ({ cause, text }))];
    return {
      message: {
        name: outboundClusterName(port, "", host),
        // The listener is for one host and port, so a call may have any authority.
        virtual_hosts: [{ name: virtualHostName(host, port), domains: ["*"], routes: translated }],
      },
      causes,
      ...(all.length > 0 ? { warnings: all } : {}),
    };
  });
}

/**
 * @param cluster The host's own cluster.
 * @returns Undefined when no call ever matches.
 */
function clientRoute(route: Route, cluster: string, notes: Set<string>): Route | undefined {
  const match = clientMatch(route.match ?? {}, notes);
  if (match === undefined) return undefined;
  const named = { ...(route.name ? { name: route.name } : {}), match };
  if (route.route === undefined) {
    notes.add("gRPC clients cannot answer calls: calls with a matching redirect or directResponse fail there");
    return { ...named, route: { cluster }, ...withFault(failure(route)) };
  }
  const fault = route.typed_per_filter_config?.[FAULT_FILTER];
  return {
    ...named,
    route: clientAction(route.route),
    ...(fault ? withFault(fault) : {}),
  };
}

function withFault(fault: google.protobuf.Any): Pick<Route, "typed_per_filter_config"> {
  return { typed_per_filter_config: { [FAULT_FILTER]: fault } };
}

const UNAVAILABLE = GRPC_STATUSES.indexOf("UNAVAILABLE");

/**
 * An abort of every call. A route without forwarding would be clearer, but such a route ends an application with gRPC
 * for Node 1.14.
 */
function failure({ direct_response: { status = 0 } = {} }: Route): google.protobuf.Any {
  const percentage = fractionOf(100);
  const abort = status >= 400 ? { http_status: status, percentage } : { grpc_status: UNAVAILABLE, percentage };
  return any("envoy.extensions.filters.http.fault.v3.HTTPFault", { abort });
}

function clientMatch(match: RouteMatch, notes: Set<string>): RouteMatch | undefined {
  const { dynamic_metadata: claims = [], query_parameters: query = [], path_separated_prefix: segments } = match;
  if (query.length > 0 || claims.some(({ invert }) => !invert)) {
    notes.add(
      "calls of gRPC clients have no query and no verified token: rules with such a condition never match there",
    );
    return undefined;
  }
  const headers = (match.headers ?? []).filter((header) => !isPost(header));
  if (headers.some(({ name }) => name?.startsWith(":"))) {
    notes.add(
      "gRPC clients do not compare authority, scheme and other methods than POST: rules with such a condition never match there",
    );
    return undefined;
  }
  return {
    ...pathOf(match, segments),
    ...(match.case_sensitive ? { case_sensitive: match.case_sensitive } : {}),
    ...(headers.length > 0 ? { headers } : {}),
  };
}

/** Every call is a POST. */
function isPost({ name, string_match, present_match }: HeaderMatcher): boolean {
  if (name !== ":method") return false;
  return present_match === true || string_match?.exact === "POST" ||
    string_match?.prefix !== undefined && "POST".startsWith(string_match.prefix);
}

/** Libraries do not know prefixes of whole segments. */
function pathOf({ path, prefix, safe_regex }: RouteMatch, segments: string | undefined): RouteMatch {
  if (segments !== undefined) {
    return { safe_regex: { regex: `${segments.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(/.*)?` } };
  }
  if (path !== undefined) return { path };
  return safe_regex ? { safe_regex } : { prefix: prefix ?? "/" };
}

function clientAction(action: RouteAction): RouteAction {
  const { cluster = "", weighted_clusters: weighted, hash_policy, retry_policy: retry, timeout } = action;
  return {
    ...(weighted ? { weighted_clusters: { clusters: (weighted.clusters ?? []).map(share) } } : { cluster }),
    ...(hash_policy ? { hash_policy } : {}),
    ...(retry ? { retry_policy: clientRetry(retry) } : {}),
    // Libraries do not read the field `timeout`.
    ...(timeout && lasts(timeout) ? { max_stream_duration: { max_stream_duration: timeout } } : {}),
  };
}

function share({ name = "", weight }: envoy.config.route.v3.WeightedCluster.ClusterWeight) {
  return { name, ...(weight ? { weight } : {}) };
}

/** Libraries retry at most 5 times, even if a rule asks for more. */
function clientRetry({ retry_on = "", num_retries, retry_back_off }: envoy.config.route.v3.RetryPolicy) {
  return { retry_on, ...(num_retries ? { num_retries } : {}), ...(retry_back_off ? { retry_back_off } : {}) };
}

function lasts({ seconds, nanos }: google.protobuf.Duration): boolean {
  return Number(seconds ?? 0) !== 0 || (nanos ?? 0) !== 0;
}
