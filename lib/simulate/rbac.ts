/**
 * Rules of RBAC filters: which rule matches a request or connection.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { unpack } from "./decode.ts";
import { headerOf, type NormalizedRequest, pathAlone } from "./http_request.ts";
import { longestRange } from "./ip.ts";
import { matchesHeader, matchesMetadata, matchesRegex, matchesString, NotJudged } from "./matchers.ts";
import type { SimulatedRequest } from "./types.ts";

// Conditions on the identity of a caller. The identity may be known in part: the trust domain and the namespace,
// without the account.

type StringMatcher = envoy.type.matcher.v3.StringMatcher;

/** Account names used by no workload. A condition that holds for both names holds for every account. */
const PROBES = ["0-no-such-account", "z.other-such-name"] as const;

/**
 * Whether the caller's identity matches. Without a matcher: whether the caller has an identity.
 *
 * @throws {NotJudged} The answer depends on an unknown part of the identity.
 */
export function isCaller(
  matcher: StringMatcher | undefined,
  { identity, identityStart }: Pick<SimulatedRequest, "identity" | "identityStart">,
): boolean {
  if (identity !== undefined) return identity !== "" && (matcher === undefined || matchesString(matcher, identity));
  const verdict = identityStart === undefined ? undefined : matcher === undefined || ofUnknown(matcher, identityStart);
  if (verdict === undefined) throw new NotJudged("who the caller is, which a rule asks");
  return verdict;
}

/** Whether every identity with this beginning matches; undefined: some match, and some do not. */
function ofUnknown(matcher: StringMatcher, start: string): boolean | undefined {
  const found = PROBES.map((account) => matchesString(matcher, start + account));
  if (found.every((one) => one)) return true;
  const { exact, prefix, suffix, safe_regex: { regex = "" } = {} } = matcher;
  if (matcher.ignore_case || found.some((one) => one)) return undefined;
  if (exact !== undefined) return exact.startsWith(start) ? undefined : false;
  if (prefix !== undefined) return prefix.startsWith(start) ? undefined : false;
  if (suffix !== undefined) return start.endsWith(suffix.slice(0, suffix.lastIndexOf("/") + 1)) ? undefined : false;
  // An expression that ends with "anything" ignores the account.
  return regex.endsWith("/.*") ? false : undefined;
}

type RBAC = envoy.config.rbac.v3.RBAC;
type Permission = envoy.config.rbac.v3.Permission;
type Principal = envoy.config.rbac.v3.Principal;

/** The facts of traffic that rules compare. */
export interface JudgedTraffic {
  readonly connection: SimulatedRequest;
  /** The filter chain ends TLS, so the caller may have shown a certificate. */
  readonly terminatesTls: boolean;
  /** Absent: the connection carries other bytes than HTTP. */
  readonly http?: NormalizedRequest;
}

/** Name of the first matching rule, in Envoy's order; undefined: no rule matches. */
export function matchingRule({ policies = {} }: RBAC, traffic: JudgedTraffic): string | undefined {
  return Object.keys(policies).sort().find((name) => {
    const { permissions = [], principals = [] } = policies[name]!;
    return permissions.some((one) => permits(one, traffic)) && principals.some((one) => isPrincipal(one, traffic));
  });
}

function permits(permission: Permission, traffic: JudgedTraffic): boolean {
  const { and_rules, or_rules, not_rule, any, header, url_path, metadata } = permission;
  if (and_rules) return (and_rules.rules ?? []).every((one) => permits(one, traffic));
  if (or_rules) return (or_rules.rules ?? []).some((one) => permits(one, traffic));
  if (not_rule) return !permits(not_rule, traffic);
  if (any) return true;
  const { destination, sni = "", protocol } = traffic.connection;
  if (permission.destination_port !== undefined) return permission.destination_port === destination.port;
  if (permission.destination_ip) return longestRange([permission.destination_ip], destination.ip) !== undefined;
  if (permission.requested_server_name) {
    // Envoy stores the server name in lower case.
    return matchesString(permission.requested_server_name, protocol === "tls" ? sni.toLowerCase() : "");
  }
  if (header) return headerMatches(header, traffic);
  if (metadata) return metadataMatches(metadata, traffic);
  if (url_path) return matchesPath(url_path, traffic);
  if (permission.uri_template) return matchesTemplate(permission.uri_template, traffic);
  throw new NotJudged("a permission of a rule");
}

function isPrincipal(principal: Principal, traffic: JudgedTraffic): boolean {
  const { and_ids, or_ids, not_id, any, header, metadata } = principal;
  if (and_ids) return (and_ids.ids ?? []).every((one) => isPrincipal(one, traffic));
  if (or_ids) return (or_ids.ids ?? []).some((one) => isPrincipal(one, traffic));
  if (not_id) return !isPrincipal(not_id, traffic);
  if (any) return true;
  if (principal.authenticated) return isAuthenticated(principal.authenticated, traffic);
  if (principal.filter_state) return isCarried(principal.filter_state, traffic);
  const { ip = "127.0.0.1" } = traffic.connection.source ?? {};
  const direct = principal.direct_remote_ip ?? principal.source_ip;
  if (direct) return longestRange([direct], ip) !== undefined;
  if (principal.remote_ip) return longestRange([principal.remote_ip], originalIp(traffic, ip)) !== undefined;
  if (header) return headerMatches(header, traffic);
  if (metadata) return metadataMatches(metadata, traffic);
  throw new NotJudged("a principal of a rule");
}

function isAuthenticated(
  { principal_name }: envoy.config.rbac.v3.Principal.Authenticated,
  { connection, terminatesTls }: JudgedTraffic,
): boolean {
  if (!terminatesTls) return false;
  return isCaller(principal_name, connection);
}

/** Filter state of HBONE connections: the identity shown by the client of the CONNECT. */
const PEER_PRINCIPAL = "io.istio.peer_principal";

/** Whether the filter state matches. Only HBONE connections have this state. */
function isCarried(
  { key, string_match }: envoy.type.matcher.v3.FilterStateMatcher,
  { connection }: JudgedTraffic,
): boolean {
  if (key !== PEER_PRINCIPAL || string_match === undefined) throw new NotJudged(`the state ${key} of a rule`);
  return connection.hbone === true && isCaller(string_match, connection);
}

/** Where no header says anything else the client is at the other end of the connection. */
function originalIp({ http }: JudgedTraffic, ip: string): string {
  if (http && headerOf(http, "x-forwarded-for") !== undefined) {
    throw new NotJudged("the address of the original client, which a rule asks");
  }
  return ip;
}

function headerMatches(matcher: envoy.config.route.v3.HeaderMatcher, { http }: JudgedTraffic): boolean {
  return http !== undefined && matchesHeader(matcher, http);
}

function metadataMatches(
  matcher: envoy.type.matcher.v3.MetadataMatcher,
  { connection, http }: JudgedTraffic,
): boolean {
  return matchesMetadata(matcher, { metadata: http?.metadata ?? connection.metadata ?? {} });
}

function matchesPath({ path }: envoy.type.matcher.v3.PathMatcher, { http }: JudgedTraffic): boolean {
  return http !== undefined && path !== undefined && matchesString(path, pathAlone(http.path));
}

const TEMPLATE = "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";

function matchesTemplate(
  { typed_config }: envoy.config.core.v3.TypedExtensionConfig,
  { http }: JudgedTraffic,
): boolean {
  const config = unpack<envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig>(typed_config, TEMPLATE);
  if (config?.path_template === undefined) throw new NotJudged("a template of a path");
  const parts = config.path_template.split(/(\*\*|\*)/).map((part) => {
    if (part === "**") return "[a-zA-Z0-9\\-._~%!$&'()+,;:@=/*]*";
    return part === "*" ? "[a-zA-Z0-9\\-._~%!$&'()+,;:@=]+" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  return http !== undefined && matchesRegex(parts.join(""), pathAlone(http.path));
}
