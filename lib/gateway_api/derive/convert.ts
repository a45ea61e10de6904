/**
 * The rules of a route as rules of a VirtualService, one for each match, so that the rules of all routes of a host can be
 * sorted.
 *
 * @module
 */
import type { HttpRetry, HttpRoute, HTTPRouteRule } from "../../config/kinds/kinds.ts";
import type { RuleSource } from "../../config/kinds/virtual_service/internal.ts";
import { isHeaderName } from "../../config/validation/values.ts";
import { checkHttpRoute } from "../../config/kinds/virtual_service/validate_http.ts";
import type { ConfigObject } from "../../config/types.ts";
import { Findings } from "../../finding/findings.ts";
import type { ResolvedRule } from "../attach/types.ts";
import { corsPolicy, mirrorsOf, redirectOf, rewriteOf } from "./actions.ts";
import { ruleDestinations, type UnresolvedStatus } from "./destinations.ts";
import { type RuleFilters, ruleFilters } from "./filters.ts";
import { headersOf, withoutAuthority } from "./header_changes.ts";
import { limitsOf, sessionOf } from "./limits.ts";
import type { ConvertedMatch } from "./matches.ts";
import type { ConvertedRoute, ConvertedRule } from "./order.ts";
import { type ReportRefusal, type RuleRefusal, RuleRefusals } from "./refusal.ts";

/** Settings of the mesh that act on rules. */
export interface RuleContext {
  /** Retries of rules without `retry` (`defaultHttpRetryPolicy` of the mesh). Absent: the proxy's default. */
  readonly defaultRetry?: HttpRetry;
}

/** A route as rules. */
export interface RouteRules extends ConvertedRoute {
  /** Parts of rules that cannot be served as written. */
  readonly refusals: readonly RuleRefusal[];
}

/** A rule of a route, without its matches. A GRPCRoute has some of the fields. */
type WrittenRule<M> = Omit<HTTPRouteRule, "matches"> & { readonly matches?: readonly M[] };

/** How the routes of a kind are converted. */
export interface RuleConversion<M> {
  readonly matches: (matches: readonly M[] | undefined, report: ReportRefusal) => readonly ConvertedMatch[];
  /** Status of requests without a backend. */
  readonly unresolved: UnresolvedStatus;
}

/** Converts the rules of a route. @param backends By rule. */
export function convertRules<M>(
  route: ConfigObject<"HTTPRoute"> | ConfigObject<"GRPCRoute">,
  written: readonly WrittenRule<M>[] | undefined,
  backends: readonly Pick<ResolvedRule, "backends" | "mirrors">[],
  { matches, unresolved }: RuleConversion<M>,
  { defaultRetry }: RuleContext,
): RouteRules {
  const refusals = new RuleRefusals();
  const { kind, meta: { namespace, name } } = route;
  const rules = (written ?? ANY_REQUEST).flatMap((one, rule): ConvertedRule[] => {
    const report = refusals.of(rule);
    const label = one.name ?? `${namespace}.${name}.${rule}`;
    const input = { label, written: one, backends: backends[rule] ?? NO_BACKENDS, defaultRetry, unresolved };
    const converted = matches(one.matches, report);
    const make = ruleMaker(input, report);
    return converted.map((match) => {
      const at = match.at === undefined ? {} : { match: match.at };
      const made = make(match, { kind, namespace, name, rule, ...at });
      return { order: match.order, rule: checkedRule(made, report, unresolved) };
    });
  });
  return { route, rules, refusals: refusals.list };
}

/** The rule of a route without rules. */
const ANY_REQUEST: readonly WrittenRule<never>[] = [{}];

const NO_BACKENDS: Pick<ResolvedRule, "backends" | "mirrors"> = { backends: [], mirrors: [] };

interface RuleInput {
  readonly label: string;
  readonly written: Omit<HTTPRouteRule, "matches">;
  readonly backends: Pick<ResolvedRule, "backends" | "mirrors">;
  readonly defaultRetry: HttpRetry | undefined;
  readonly unresolved: UnresolvedStatus;
}

/** Makes a function from a match to its rule. The parts that all matches share are made once. */
function ruleMaker(
  { label, written, backends, defaultRetry, unresolved }: RuleInput,
  report: ReportRefusal,
): (match: ConvertedMatch, source: RuleSource) => HttpRoute {
  const own = ruleFilters(written.filters, "filters", report);
  const head = ({ match }: ConvertedMatch, source: RuleSource) => ({
    name: label,
    match: [match],
    internal: { source },
  });
  if (own === undefined) return (match, source) => unavailable(head(match, source), unresolved);
  const destinations = ruleDestinations(written.backendRefs, backends, unresolved, report);
  const filters = joined(own, destinations.filters);
  const { sessionPersistence } = written;
  const session = sessionPersistence && sessionOf(sessionPersistence, label);
  if (session !== undefined && !isHeaderName(session.name)) {
    // The proxy would write the name into headers of responses as it is, with its line breaks.
    report("UnsupportedValue", "sessionPersistence.sessionName", session.name, "a name without blanks and separators");
    return (match, source) => unavailable(head(match, source), unresolved);
  }
  if (session !== undefined && destinations.route.some(({ internal }) => internal && "picker" in internal)) {
    // A session would overrule the program that picks the endpoint of each request.
    report("UnsupportedValue", "sessionPersistence", undefined, "no session: the backend has an endpoint picker");
    return (match, source) => unavailable(head(match, source), unresolved);
  }
  const limits = limitsOf(written, defaultRetry);
  const mirrors = mirrorsOf(filters.mirrors, backends);
  const cors = filters.cors === undefined ? {} : { corsPolicy: corsPolicy(filters.cors) };
  return (match, source) => {
    const rule = head(match, source);
    if (filters.redirect) {
      const made = redirectOf(filters.redirect, match.prefix, report);
      if (made === undefined) return unavailable(rule, unresolved);
      const internal = made.path === undefined ? rule.internal : { source, redirectPath: made.path };
      return { ...rule, internal, ...headers(filters), ...cors, redirect: made.redirect };
    }
    const rewritten = filters.rewrite ? rewriteOf(filters.rewrite, match.prefix, report) : {};
    if (rewritten === undefined) return unavailable(rule, unresolved);
    if (destinations.route.length === 0) return { ...unavailable(rule, unresolved), ...headers(filters), ...cors };
    return {
      ...rule,
      ...{ internal: { source, ...(session && { session }) } },
      ...headers(filters),
      ...{ ...cors, ...rewritten, ...limits, route: destinations.route },
      ...(mirrors.length > 0 ? { mirrors } : {}),
    };
  };
}

/** The filters of a rule. Filters of the only backend fill the places where the rule has no filter. */
function joined(own: RuleFilters, ofBackend: RuleFilters | undefined): RuleFilters {
  if (ofBackend === undefined) return own;
  const redirect = own.redirect ?? ofBackend.redirect;
  const rewrite = own.rewrite ?? ofBackend.rewrite;
  const cors = own.cors ?? ofBackend.cors;
  return { ...own, ...(redirect && { redirect }), ...(rewrite && { rewrite }), ...(cors && { cors }) };
}

/** The changes of headers. A new host by a rewrite wins over the Host header. */
function headers({ request, response, rewrite }: RuleFilters): Pick<HttpRoute, "headers"> {
  const changes = headersOf(request && rewrite?.hostname !== undefined ? withoutAuthority(request) : request, response);
  return changes === undefined ? {} : { headers: changes };
}

/** The rule's name, match and source, without an action. */
type RuleHead = Pick<HttpRoute, "name" | "match" | "internal">;

/** A rule that answers with an error. */
function unavailable({ name, match, internal }: RuleHead, status: UnresolvedStatus): HttpRoute {
  return {
    ...(name === undefined ? {} : { name }),
    ...(match && { match }),
    ...(internal && { internal: { source: internal.source } }),
    directResponse: { status },
  };
}

/**
 * The rule; if the proxy would refuse the rule, a rule that answers with an error, and the reason is reported. The proxy
 * would refuse all rules of the host for one wrong value.
 */
function checkedRule(rule: HttpRoute, report: ReportRefusal, status: UnresolvedStatus): HttpRoute {
  const findings = new Findings();
  // The statuses to try again are within the limits of the route's schema, and may be unregistered ones.
  const { retries: _, ...checked } = rule;
  checkHttpRoute(checked, false, "", findings);
  const wrong = findings.list.find(({ severity }) => severity === "error");
  if (wrong === undefined) return rule;
  report("UnsupportedValue", "", undefined, wrong.message.replace(/^\./, ""));
  return unavailable(rule, status);
}
