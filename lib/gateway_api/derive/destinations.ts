/**
 * The destinations of a rule with their shares of the requests.
 *
 *     valid 3, unknown service 1 ─> 75 % to the service, 25 % answered with an error
 *     unknown service 1          ─> no destination: the whole rule answers with an error
 *
 * @module
 */
import type { Destination, HTTPBackendReference, HttpRouteDestination } from "../../config/kinds/kinds.ts";
import { UNRESOLVED_HOST } from "../../config/kinds/virtual_service/internal.ts";
import type { ResolvedBackend, ResolvedRule } from "../attach/types.ts";
import { type RuleFilters, ruleFilters } from "./filters.ts";
import { headersOf } from "./header_changes.ts";
import type { ReportRefusal } from "./refusal.ts";

/** Status for requests without a backend: of an HTTPRoute, or of a GRPCRoute (for clients UNAVAILABLE). */
export type UnresolvedStatus = 500 | 503;

/** The destinations of a rule. */
export interface RuleDestinations {
  /** Empty: no backend gets a request. */
  readonly route: readonly HttpRouteDestination[];
  /** Filters of the only backend with a share, without changes of headers. These filters act on the whole rule. */
  readonly filters?: RuleFilters;
}

/** A backend to which requests can go. */
export type FoundBackend = Extract<ResolvedBackend, { readonly host: string }>;

/** The backend of a reference; undefined: the reference leads nowhere, and the route's status says why. */
export function foundBackend(backend: ResolvedBackend | undefined): FoundBackend | undefined {
  return backend?.reason === undefined ? backend : undefined;
}

/** A backend as the destination of a rule. */
export function destinationTo({ host, port }: FoundBackend): Destination {
  return { host, port: { number: port } };
}

interface Share {
  readonly weight: number;
  readonly backend: FoundBackend | undefined;
  readonly filters: RuleFilters;
}

const NO_FILTERS: RuleFilters = { mirrors: [] };

/** The destinations of a rule. A backend whose filters cannot be served gets no requests. */
export function ruleDestinations(
  references: readonly HTTPBackendReference[] | undefined,
  { backends }: Pick<ResolvedRule, "backends">,
  status: UnresolvedStatus,
  report: ReportRefusal,
): RuleDestinations {
  const written = (references ?? []).map((reference, at) => ({ reference, at })).filter(({ reference }) =>
    reference.weight > 0
  );
  const shares = written.map(({ reference: { weight, filters }, at }): Share => {
    const read = filtersOf(filters, at, written.length === 1, report);
    return { weight, backend: read && foundBackend(backends[at]), filters: read ?? NO_FILTERS };
  });
  if (shares.every(({ backend }) => backend === undefined)) return { route: [] };
  const [only, ...more] = shares;
  if (only?.backend === undefined || more.length > 0) {
    return { route: shares.map((share) => ({ ...destinationOf(share, status), weight: share.weight })) };
  }
  return { route: [destinationOf(only, status)], filters: only.filters };
}

/**
 * The filters of a backend; undefined: they cannot be served.
 *
 * @param alone Whether the backend gets all requests of the rule. Among several backends, only headers can differ.
 */
function filtersOf(
  written: HTTPBackendReference["filters"],
  at: number,
  alone: boolean,
  report: ReportRefusal,
): RuleFilters | undefined {
  const field = `backendRefs[${at}].filters`;
  const filters = ruleFilters(written, field, report);
  if (filters === undefined) return undefined;
  const { redirect, rewrite, cors, mirrors } = filters;
  const others = {
    RequestMirror: mirrors[0],
    ...(alone ? {} : { RequestRedirect: redirect, URLRewrite: rewrite, CORS: cors }),
  };
  const [wrong] = Object.entries(others).filter(([, content]) => content !== undefined);
  if (wrong === undefined) return filters;
  const expected = alone
    ? "a filter other than RequestMirror"
    : "only filters of headers, because the rule has other backends";
  report("InvalidFilter", field, wrong[0], expected);
  return undefined;
}

function destinationOf({ backend, filters }: Share, unresolved: UnresolvedStatus): HttpRouteDestination {
  if (backend === undefined) return { destination: { host: UNRESOLVED_HOST }, internal: { unresolved } };
  const headers = headersOf(filters.request, filters.response);
  const { picker } = backend;
  return { destination: destinationTo(backend), ...(headers && { headers }), ...(picker && { internal: { picker } }) };
}
