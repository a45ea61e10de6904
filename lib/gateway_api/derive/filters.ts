/**
 * The filters of a rule, by type.
 *
 * @module
 */
import type {
  CorsFilter,
  HeaderOperations,
  HTTPRouteFilter,
  MirrorFilter,
  RedirectFilter,
  RewriteFilter,
} from "../../config/kinds/kinds.ts";
import { headerOperations } from "./header_changes.ts";
import type { ReportRefusal } from "./refusal.ts";

/** The filters of a rule or a backend. */
export interface RuleFilters {
  readonly request?: HeaderOperations;
  readonly response?: HeaderOperations;
  readonly redirect?: RedirectFilter;
  readonly rewrite?: RewriteFilter;
  readonly cors?: CorsFilter;
  /** In order. */
  readonly mirrors: readonly MirrorFilter[];
}

/** The fields with the content of each type. */
const FIELDS = {
  RequestHeaderModifier: "requestHeaderModifier",
  ResponseHeaderModifier: "responseHeaderModifier",
  RequestMirror: "requestMirror",
  RequestRedirect: "requestRedirect",
  URLRewrite: "urlRewrite",
  CORS: "cors",
} as const;

/**
 * Reads the filters. A GRPCRoute has some of the types. Of equal types the first counts, except for mirrors.
 *
 * @param field Path of the list in the rule.
 * @returns Undefined if a filter cannot be served; the reason is reported.
 */
export function ruleFilters(
  filters: readonly HTTPRouteFilter[] | undefined,
  field: string,
  report: ReportRefusal,
): RuleFilters | undefined {
  const found: { -readonly [K in keyof RuleFilters]: RuleFilters[K] } & { mirrors: MirrorFilter[] } = { mirrors: [] };
  for (const [at, filter] of (filters ?? []).entries()) {
    if (!isServed(filter, `${field}[${at}]`, report)) return undefined;
    const { requestHeaderModifier, responseHeaderModifier, requestMirror, requestRedirect, urlRewrite, cors } = filter;
    switch (filter.type) {
      case "RequestHeaderModifier":
        found.request ??= headerOperations(requestHeaderModifier ?? {});
        break;
      case "ResponseHeaderModifier":
        found.response ??= headerOperations(responseHeaderModifier ?? {});
        break;
      case "RequestMirror":
        if (requestMirror) found.mirrors.push(requestMirror);
        break;
      case "RequestRedirect":
        if (requestRedirect) found.redirect ??= requestRedirect;
        break;
      case "URLRewrite":
        if (urlRewrite) found.rewrite ??= urlRewrite;
        break;
      case "CORS":
        if (cors) found.cors ??= cors;
        break;
    }
  }
  if (found.redirect === undefined || found.rewrite === undefined) return found;
  report("IncompatibleFilters", field, "RequestRedirect and URLRewrite", "one of the two");
  return undefined;
}

/** Whether the filter's type is known here and its content is there. */
function isServed(filter: HTTPRouteFilter, field: string, report: ReportRefusal): boolean {
  const { type } = filter;
  const name = (FIELDS as Readonly<Record<string, string | undefined>>)[type];
  if (name === undefined) {
    report("InvalidFilter", `${field}.type`, type, `a supported type of filter (${Object.keys(FIELDS).join(", ")})`);
    return false;
  }
  const own = (filter as unknown as Readonly<Record<string, unknown>>)[name];
  if (own === undefined) report("InvalidFilter", `${field}.${name}`, undefined, `the content of the filter ${type}`);
  return own !== undefined;
}
