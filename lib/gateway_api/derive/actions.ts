/**
 * The action of a rule: redirect, rewrite, mirrors, and the policy for cross-origin requests.
 *
 * @module
 */
import type {
  CorsFilter,
  CorsPolicy,
  HttpMirrorPolicy,
  HttpRedirect,
  HttpRewrite,
  HttpRoute,
  MirrorFilter,
  RedirectFilter,
  RewriteFilter,
  StringMatch,
} from "../../config/kinds/kinds.ts";
import type { RedirectPath } from "../../config/kinds/virtual_service/internal.ts";
import type { ResolvedRule } from "../attach/types.ts";
import { destinationTo, foundBackend } from "./destinations.ts";
import { literally, literalReplacement } from "./expressions.ts";
import { NO_CHANGE, pathChange } from "./paths.ts";
import type { ReportRefusal } from "./refusal.ts";

/** A redirect of a rule. */
export interface RuleRedirect {
  readonly redirect: HttpRedirect;
  readonly path?: RedirectPath;
}

/**
 * The redirect of a filter. Without a port: the port of the new scheme, else the port of the listener.
 *
 * @param prefix The prefix of the match.
 * @returns Undefined if the path cannot be changed so; the reason is reported.
 */
export function redirectOf(
  { scheme, hostname, port, path, statusCode }: RedirectFilter,
  prefix: string | undefined,
  report: ReportRefusal,
): RuleRedirect | undefined {
  const change = path === undefined ? NO_CHANGE : pathChange(path, prefix, "requestRedirect.path", report);
  if (change === undefined) return undefined;
  const wanted = port === undefined
    ? scheme === undefined ? { derivePort: "FROM_REQUEST_PORT" } as const : {}
    : { port };
  const redirect: HttpRedirect = {
    ...(change !== NO_CHANGE && "full" in change ? { uri: change.full } : {}),
    ...(hostname === undefined ? {} : { authority: hostname }),
    ...wanted,
    ...(scheme === undefined ? {} : { scheme }),
    redirectCode: statusCode,
  };
  return change === NO_CHANGE || "full" in change ? { redirect } : { redirect, path: change };
}

/**
 * The rewrite of a filter. An empty object: nothing changes.
 *
 * @param prefix The prefix of the match.
 * @returns Undefined if the path cannot be changed so; the reason is reported.
 */
export function rewriteOf(
  { hostname, path }: RewriteFilter,
  prefix: string | undefined,
  report: ReportRefusal,
): Pick<HttpRoute, "rewrite"> | undefined {
  const change = path === undefined ? NO_CHANGE : pathChange(path, prefix, "urlRewrite.path", report);
  if (change === undefined) return undefined;
  const rewrite: HttpRewrite = {
    ...(change === NO_CHANGE
      ? {}
      : "full" in change
      ? { uriRegexRewrite: { match: "^/.*$", rewrite: literalReplacement(change.full) } }
      : "regex" in change
      ? { uriRegexRewrite: change.regex }
      : { uri: change.prefix }),
    ...(hostname === undefined ? {} : { authority: hostname }),
  };
  return Object.keys(rewrite).length > 0 ? { rewrite } : {};
}

/** The mirrors of a rule. A mirror without a backend is left out, and the requests are served. */
export function mirrorsOf(
  filters: readonly MirrorFilter[],
  { mirrors }: Pick<ResolvedRule, "mirrors">,
): HttpMirrorPolicy[] {
  return filters.flatMap((filter, at) => {
    const backend = foundBackend(mirrors[at]);
    if (backend === undefined) return [];
    const value = percentOf(filter);
    return [{ destination: destinationTo(backend), ...(value === undefined ? {} : { percentage: { value } }) }];
  });
}

/** The percentage of requests that a mirror gets; undefined: all requests. */
function percentOf({ percent, fraction }: MirrorFilter): number | undefined {
  if (fraction === undefined) return percent;
  return Math.min(100, fraction.numerator * 100 / fraction.denominator);
}

/** Any well-formed origin. */
const ANY_ORIGIN: StringMatch = { regex: "[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+" };

/**
 * The policy of a filter. The proxy itself answers preflights of origins that the filter does not allow: a backend does not
 * know the filter, and might allow the origin.
 */
export function corsPolicy(cors: CorsFilter): CorsPolicy {
  const { allowOrigins = [], allowMethods, allowHeaders, exposeHeaders = [], allowCredentials, maxAge } = cors;
  // With credentials a browser takes * as the name of a header.
  const exposed = allowCredentials ? exposeHeaders.filter((name) => name !== "*") : exposeHeaders;
  return {
    ...(allowOrigins.length > 0 ? { allowOrigins: allowOrigins.map(originMatch) } : {}),
    ...(allowMethods?.length ? { allowMethods } : {}),
    ...(allowHeaders?.length ? { allowHeaders } : {}),
    ...(exposed.length > 0 ? { exposeHeaders: exposed } : {}),
    maxAge: maxAge * 1000,
    ...(allowCredentials ? { allowCredentials } : {}),
    unmatchedPreflights: "IGNORE",
  };
}

/** An origin as browsers send it: lower case, without the default port of the scheme. */
function originMatch(origin: string): StringMatch {
  if (origin === "*") return ANY_ORIGIN;
  const sent = withoutDefaultPort(origin.toLowerCase());
  if (!sent.includes("*")) return { exact: sent };
  return { regex: sent.split("*").map(literally).join("[^/?#]*") };
}

function withoutDefaultPort(origin: string): string {
  const port = origin.startsWith("https:") ? ":443" : ":80";
  return origin.endsWith(port) ? origin.slice(0, -port.length) : origin;
}
