/**
 * Rules of filters of HTTPRoutes and GRPCRoutes beyond their schemas.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import type { GRPCRouteFilter } from "./grpc_route.ts";
import type {
  CorsFilter,
  HeaderFilter,
  HTTPRouteFilter,
  HTTPRouteMatch,
  MirrorFilter,
  PathModifier,
} from "./http_route.ts";
import { checkBackend, checkDistinct, checkDistinctTexts } from "./validate_parts.ts";

/** The field of each type of filters. */
const FIELDS = {
  RequestHeaderModifier: "requestHeaderModifier",
  ResponseHeaderModifier: "responseHeaderModifier",
  RequestMirror: "requestMirror",
  RequestRedirect: "requestRedirect",
  URLRewrite: "urlRewrite",
  ExtensionRef: "extensionRef",
  CORS: "cors",
  ExternalAuth: "externalAuth",
} as const satisfies Readonly<Record<HTTPRouteFilter["type"], keyof HTTPRouteFilter>>;

/** Types that a list of filters may have several times. */
const REPEATED: ReadonlySet<string> = new Set(["RequestMirror", "ExtensionRef", "ExternalAuth"]);

type RouteFilter = HTTPRouteFilter | GRPCRouteFilter;

/** Checks the filters of a rule or of a backend. */
export function checkFilters(filters: readonly RouteFilter[] | undefined, at: string, report: Findings): void {
  if (filters === undefined) return;
  checkDistinct(filters, at, {
    keyOf: ({ type }) => (REPEATED.has(type) || !Object.hasOwn(FIELDS, type) ? undefined : type),
    partOf: ".type",
    expected: "a type that no other filter of the list has",
  }, report);
  const redirects = filters.some(({ type }) => type === "RequestRedirect");
  const rewrites = filters.findIndex(({ type }) => type === "URLRewrite");
  if (redirects && rewrites >= 0) {
    const expected = "no rewrite beside a RequestRedirect: the request goes to no backend";
    report.error(`${at}[${rewrites}].type`, "URLRewrite", expected, "exclusive-fields");
  }
  filters.forEach((filter, index) => checkFilter(filter, `${at}[${index}]`, report));
}

function checkFilter(filter: HTTPRouteFilter, at: string, report: Findings): void {
  // An unknown type has failed already.
  const isKnown = Object.hasOwn(FIELDS, filter.type);
  for (const [type, field] of Object.entries(FIELDS)) {
    const isWritten = filter[field] !== undefined;
    if (filter.type === type && !isWritten) report.error(`${at}.${field}`, undefined, `settings: the type is ${type}`);
    if (isKnown && filter.type !== type && isWritten) {
      const expected = `only ${FIELDS[filter.type]}: the type is ${filter.type}`;
      report.error(`${at}.${field}`, filter[field], expected, "exclusive-fields");
    }
  }
  const { requestHeaderModifier: request, responseHeaderModifier: response, requestMirror, cors, externalAuth } =
    filter;
  if (request !== undefined) checkHeaders(request, `${at}.requestHeaderModifier`, report);
  if (response !== undefined) checkHeaders(response, `${at}.responseHeaderModifier`, report);
  if (requestMirror !== undefined) checkMirror(requestMirror, `${at}.requestMirror`, report);
  if (cors !== undefined) checkCors(cors, `${at}.cors`, report);
  if (externalAuth !== undefined) checkAuthorizer(externalAuth, `${at}.externalAuth`, report);
  for (const field of ["requestRedirect", "urlRewrite"] as const) {
    const path = filter[field]?.path;
    if (path !== undefined) checkPathModifier(path, `${at}.${field}.path`, report);
  }
}

/** Visible characters, with single blanks or tabs between them. */
const HEADER_VALUE = /^[!-~]+([\t ][!-~]+)*$/;

/** Checks a header's value. Definitions before v1.4 take any text. */
export function checkHeaderText(value: string, at: string, report: Findings): void {
  // An empty value has failed already.
  if (value === "" || HEADER_VALUE.test(value)) return;
  report.error(at, value, "visible ASCII characters with single blanks between words");
}

function checkHeaders({ set, add, remove }: HeaderFilter, at: string, report: Findings): void {
  for (const [what, headers] of Object.entries({ set, add })) {
    const expected = "a name that no other header of the list has";
    checkDistinct(headers, `${at}.${what}`, { keyOf: ({ name }) => name, partOf: ".name", expected }, report);
    headers?.forEach(({ value }, index) => checkHeaderText(value, `${at}.${what}[${index}].value`, report));
  }
  checkDistinctTexts(remove, `${at}.remove`, report);
}

function checkMirror({ backendRef, percent, fraction }: MirrorFilter, at: string, report: Findings): void {
  checkBackend(backendRef, `${at}.backendRef`, report);
  if (percent !== undefined && fraction !== undefined) {
    report.error(`${at}.fraction`, fraction, "either percent or fraction", "exclusive-fields");
  }
  if (fraction !== undefined && fraction.numerator > fraction.denominator) {
    report.error(`${at}.fraction.numerator`, fraction.numerator, `at most the denominator, ${fraction.denominator}`);
  }
}

const ORIGIN = /^\*$|^https?:\/\/((\*\.)?([a-zA-Z0-9-]+\.)*[a-zA-Z0-9-]+|\*)(:[0-9]{1,5})?$/;

function checkCors(cors: CorsFilter, at: string, report: Findings): void {
  for (const field of ["allowOrigins", "allowMethods", "allowHeaders", "exposeHeaders"] as const) {
    const list: readonly string[] | undefined = cors[field];
    checkDistinctTexts(list, `${at}.${field}`, report);
    if (field !== "exposeHeaders" && list !== undefined && list.length > 1 && list.includes("*")) {
      report.error(`${at}.${field}`, list, "either * alone, or elements without *", "exclusive-fields");
    }
  }
  cors.allowOrigins?.forEach((origin, index) => {
    if (ORIGIN.test(origin)) return;
    const expected = "*, or http:// or https:// with a host, *.HOST or *, and an optional port";
    report.error(`${at}.allowOrigins[${index}]`, origin, expected);
  });
}

function checkAuthorizer(
  { protocol, backendRef, grpc, http }: NonNullable<HTTPRouteFilter["externalAuth"]>,
  at: string,
  report: Findings,
): void {
  checkBackend(backendRef, `${at}.backendRef`, report);
  const settings = { GRPC: ["grpc", grpc], HTTP: ["http", http] } as const;
  for (const [one, [field, value]] of Object.entries(settings)) {
    if (one === protocol && value === undefined) {
      report.error(`${at}.${field}`, undefined, `settings: the protocol is ${protocol}`);
    }
    // An unknown protocol has failed already.
    if (one !== protocol && Object.hasOwn(settings, protocol) && value !== undefined) {
      report.error(`${at}.${field}`, value, `no such settings: the protocol is ${protocol}`, "exclusive-fields");
    }
  }
  checkDistinctTexts(grpc?.allowedHeaders, `${at}.grpc.allowedHeaders`, report);
  checkDistinctTexts(http?.allowedHeaders, `${at}.http.allowedHeaders`, report);
  checkDistinctTexts(http?.allowedResponseHeaders, `${at}.http.allowedResponseHeaders`, report);
}

function checkPathModifier(path: PathModifier, at: string, report: Findings): void {
  const fields = { ReplaceFullPath: "replaceFullPath", ReplacePrefixMatch: "replacePrefixMatch" } as const;
  for (const [type, field] of Object.entries(fields)) {
    const value = path[field];
    if (type === path.type && value === undefined) {
      report.error(`${at}.${field}`, undefined, `a path: the type is ${type}`);
    }
    // An unknown type has failed already.
    const isOther = path.type !== type && Object.hasOwn(fields, path.type);
    if (isOther && value !== undefined) {
      report.error(`${at}.${field}`, value, `only ${fields[path.type]}: the type is ${path.type}`, "exclusive-fields");
    }
  }
}

/** Reports filters that replace a matched prefix in a rule that matches anything but one prefix. */
export function checkPrefixes(
  filters: readonly HTTPRouteFilter[] | undefined,
  matches: readonly HTTPRouteMatch[] | undefined,
  at: string,
  report: Findings,
): void {
  // A rule without matches, and a match without a path, match the prefix /.
  const isOnePrefix = matches === undefined ||
    (matches.length === 1 && (matches[0]!.path?.type ?? "PathPrefix") === "PathPrefix");
  if (isOnePrefix) return;
  filters?.forEach(({ requestRedirect, urlRewrite }, index) => {
    for (
      const [field, path] of [["requestRedirect", requestRedirect?.path], ["urlRewrite", urlRewrite?.path]] as const
    ) {
      if (path?.type !== "ReplacePrefixMatch" || path.replacePrefixMatch === undefined) continue;
      const expected = "ReplaceFullPath, or exactly one match in the rule, with path type PathPrefix";
      report.error(`${at}[${index}].${field}.path.type`, path.type, expected);
    }
  });
}
