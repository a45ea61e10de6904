/**
 * HTTPRoutes and GRPCRoutes with a common hostname at a listener: the Gateway API accepts one kind, and wants no merged
 * rules. The route that comes first by age, then by namespace and name, keeps the listener; each route of the other kind with
 * a common hostname is refused there.
 *
 *     HTTPRoute  old   *.example.com ──> accepted
 *     GRPCRoute  new   a.example.com ──> refused: HostnameConflict
 *     GRPCRoute  new   a.example.org ──> accepted
 *
 * @module
 */
import type { GroupReader } from "../../config/derive/derivation.ts";
import { ANY_HOST, namesOver } from "../attach/hostnames.ts";
import { byPrecedence } from "../attach/precedence.ts";
import type { ApiRoute, BoundListener, FieldFault, ListenerView, RouteAtParent } from "../attach/types.ts";
import { fails, faultText } from "../attach/verdicts.ts";
import { isRequestRoute, type JudgedRoute } from "./judged.ts";

/** The hostnames of accepted routes of one kind at a listener, with the first route of each. */
class TakenHosts {
  readonly #names = new Map<string, ApiRoute>();
  /** The names that cover a taken name. */
  readonly #over = new Map<string, ApiRoute>();

  take(host: string, route: ApiRoute): void {
    this.#names.getOrInsert(host, route);
    for (const wider of namesOver(host)) this.#over.getOrInsert(wider, route);
  }

  /** A route that has a host of a hostname; undefined: none has. */
  holder(host: string): ApiRoute | undefined {
    const same = this.#names.get(host) ?? this.#over.get(host);
    if (same !== undefined || host === ANY_HOST) return same;
    return Iterator.from(namesOver(host)).map((wider) => this.#names.get(wider)).find((route) => route !== undefined);
  }
}

/**
 * The routes of a Gateway, refused at listeners where a route of the other kind has the hostname. The cost is the hostnames
 * of the routes, and nothing while all routes for requests have one kind.
 */
export function withoutRivals(routes: readonly JudgedRoute[], read: GroupReader): readonly JudgedRoute[] {
  const requests = routes.filter(({ route }) => isRequestRoute(route));
  if (new Set(requests.map(({ route }) => route.kind)).size < 2) return routes;
  const taken = new Map<string, TakenHosts>();
  const placeOf = (kind: string, listener: ListenerView) =>
    taken.getOrInsertComputed(`${kind} ${listenerName(listener)}`, () => new TakenHosts());
  const changed = new Map<JudgedRoute, JudgedRoute>();
  for (const judged of requests.toSorted((a, b) => byPrecedence(a.route, b.route))) {
    const { route, at } = judged;
    const other = route.kind === "HTTPRoute" ? "GRPCRoute" : "HTTPRoute";
    const rivalAt = ({ listener, hostnames }: BoundListener) =>
      hostnames.map((host) => placeOf(other, listener).holder(host)).find((one) => one !== undefined);
    const bound = at.flatMap((one) => one.bound);
    const rivals = new Map(bound.flatMap((one) => {
      const rival = rivalAt(one);
      return rival === undefined ? [] : [[listenerName(one.listener), rival] as const];
    }));
    for (const { listener, hostnames } of bound) {
      if (rivals.has(listenerName(listener))) continue;
      for (const host of hostnames) placeOf(route.kind, listener).take(host, route);
    }
    if (rivals.size === 0) continue;
    // The same object while nothing changes: statuses are compared by object.
    const inputs = [judged, ...[...rivals].flatMap(([name, rival]) => [name, rival.key])];
    changed.set(judged, read.part(`rivals of ${route.key}`, inputs, () => refused(judged, rivals)));
  }
  return changed.size === 0 ? routes : routes.map((one) => changed.get(one) ?? one);
}

/** @param rivals The routes that have the listeners, by name of the listener. */
function refused(judged: JudgedRoute, rivals: ReadonlyMap<string, ApiRoute>): JudgedRoute {
  return {
    ...judged,
    at: judged.at.map((one) => refusedAt(judged.route, one, rivals)),
    places: judged.places.filter(({ listener }) => !rivals.has(listenerName(listener))),
  };
}

function refusedAt(route: ApiRoute, at: RouteAtParent, rivals: ReadonlyMap<string, ApiRoute>): RouteAtParent {
  const [rival] = at.bound.flatMap(({ listener }) => rivals.get(listenerName(listener)) ?? []);
  if (rival === undefined) return at;
  const bound = at.bound.filter(({ listener }) => !rivals.has(listenerName(listener)));
  const fault: FieldFault = {
    field: "hostnames",
    value: "hostnames" in route.spec ? route.spec.hostnames : undefined,
    expected: `hostnames that no ${rival.kind} has at a listener of the parent (${rivalText(route, rival)} is first)`,
  };
  return { ...at, bound, fault, ...(bound.length === 0 && { accepted: fails("HostnameConflict", faultText(fault)) }) };
}

/** A status must not tell what other namespaces hold. */
function rivalText(route: ApiRoute, { kind, meta: { namespace, name } }: ApiRoute): string {
  return namespace === route.meta.namespace ? `${kind} ${namespace}/${name}` : `one of another namespace`;
}

function listenerName({ owner, spec }: ListenerView): string {
  return `${owner.key} ${spec.name}`;
}
