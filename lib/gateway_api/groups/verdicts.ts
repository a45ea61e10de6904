/**
 * The verdicts on all objects of the Gateway API. The derivation makes the verdicts, and statuses are made from them.
 *
 * @module
 */
import { objectKey } from "../../config/types.ts";
import type { GatewayView, JudgedPool, PoolParent } from "../attach/types.ts";
import type { ShadowedMatch, ShadowedMatches } from "../derive/shadowed.ts";
import type { GroupVerdicts, JudgedRoute } from "./judged.ts";
import { routeRefused } from "./pool_parents.ts";

/** Gets the keys of objects whose verdicts have changed. Must not throw. */
export type ChangedVerdictsListener = (keys: readonly string[]) => void;

/** A Gateway with the verdicts on the routes that name it, or a ListenerSet of it, as a parent. */
export interface JudgedGateway {
  readonly view: GatewayView;
  readonly routes: readonly JudgedRoute[];
}

/** Keeps the verdicts of all groups. */
export class GatewayApiVerdicts {
  readonly #groups = new Map<string, GroupVerdicts>();
  /** Verdicts about a route by group, by key of the route. */
  readonly #routes = new Map<string, Map<string, JudgedRoute>>();
  /** Groups of Gateways by keys of the Gateway and of its ListenerSets. */
  readonly #gateways = new Map<string, string>();
  /** By key. */
  readonly #pools = new Map<string, JudgedPool>();
  /** Keys of the InferencePools to which a route leads, by key of the route. */
  readonly #poolsOf = new Map<string, Set<string>>();
  readonly #listeners = new Set<ChangedVerdictsListener>();

  /** Takes the verdicts of a group; undefined: the group is gone. */
  learn(group: string, verdicts: GroupVerdicts | undefined): void {
    const before = this.#groups.get(group);
    const changed = new Set<string>();
    for (const { route: { key } } of before?.routes ?? []) if (!has(verdicts, key)) this.#forget(group, key, changed);
    for (const judged of verdicts?.routes ?? []) this.#keep(group, judged, changed);
    for (const key of objectsOf(before?.view)) {
      changed.add(key);
      // A ListenerSet may have moved to a Gateway whose verdicts came first.
      if (this.#gateways.get(key) === group) this.#gateways.delete(key);
    }
    for (const key of objectsOf(verdicts?.view)) {
      changed.add(key);
      this.#gateways.set(key, group);
    }
    this.#learnPool(before?.pool, verdicts?.pool, changed);
    for (const key of changedShadows(before?.shadowed, verdicts?.shadowed)) changed.add(key);
    if (verdicts === undefined) this.#groups.delete(group);
    else this.#groups.set(group, verdicts);
    if (changed.size === 0) return;
    for (const key of [...changed]) for (const pool of this.#poolsOf.get(key) ?? []) changed.add(pool);
    for (const listener of this.#listeners) listener([...changed]);
  }

  /** The Gateway with the key of a Gateway or of one of its ListenerSets; undefined: not ours. */
  gateway(key: string): JudgedGateway | undefined {
    const { view, routes = [] } = this.#groups.get(this.#gateways.get(key) ?? "") ?? {};
    return view && { view, routes };
  }

  /** The verdicts about a route, one for each group. */
  route(key: string): readonly JudgedRoute[] {
    return [...this.#routes.get(key)?.values() ?? []];
  }

  /** The matches of a route that no request reaches. */
  shadowed(key: string): readonly ShadowedMatch[] {
    const groups = this.#routes.get(key)?.keys() ?? [];
    return [...groups].flatMap((group) => this.#groups.get(group)?.shadowed?.get(key) ?? []);
  }

  /** The verdicts about an InferencePool; undefined: pools are not served, or the pool does not exist. */
  pool(key: string): JudgedPool | undefined {
    const judged = this.#pools.get(key);
    return judged && { ...judged, parents: judged.parents.map((parent) => this.#withRefusals(parent)) };
  }

  /** All Gateways of ours. */
  *judgedGateways(): Iterable<JudgedGateway> {
    for (const { view, routes } of this.#groups.values()) if (view !== undefined) yield { view, routes };
  }

  /** The verdicts about routes at services, one for each service. */
  *judgedMeshRoutes(): Iterable<JudgedRoute> {
    for (const { view, routes } of this.#groups.values()) {
      if (view === undefined) yield* routes.filter(({ at }) => at.some(({ mesh }) => mesh !== undefined));
    }
  }

  /** Calls a listener with each change. @returns ends the calls */
  onChange(listener: ChangedVerdictsListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * A Gateway of a pool. The Gateway may refuse a route for another route, which only the judgement of all routes of the
   * Gateway shows.
   */
  #withRefusals(parent: PoolParent): PoolParent {
    const { namespace, name, routes, accepted } = parent;
    if (accepted.status !== "True") return parent;
    const group = this.#gateways.get(objectKey("ApiGateway", namespace, name)) ?? "";
    const judged = routes.map((key) => this.#routes.get(key)?.get(group));
    const refused = judged.flatMap((one) => one?.at.every(({ accepted }) => accepted.status !== "True") ? [one] : []);
    const [first] = refused;
    if (first?.at[0] === undefined || refused.length < routes.length) return parent;
    return { ...parent, accepted: routeRefused(first.route, first.at[0].accepted) };
  }

  #learnPool(before: JudgedPool | undefined, now: JudgedPool | undefined, changed: Set<string>): void {
    if (before === now) return;
    for (const one of [before, now]) if (one !== undefined) changed.add(one.pool.key);
    if (before !== undefined) {
      const { key } = before.pool;
      this.#pools.delete(key);
      for (const route of routesOf(before)) {
        const pools = this.#poolsOf.get(route);
        if (pools?.delete(key) && pools.size === 0) this.#poolsOf.delete(route);
      }
    }
    if (now !== undefined) {
      const { key } = now.pool;
      this.#pools.set(key, now);
      for (const route of routesOf(now)) this.#poolsOf.getOrInsertComputed(route, () => new Set()).add(key);
    }
  }

  #keep(group: string, judged: JudgedRoute, changed: Set<string>): void {
    const { key } = judged.route;
    const known = this.#routes.get(key) ?? new Map<string, JudgedRoute>();
    if (known.get(group) === judged) return;
    this.#routes.set(key, known.set(group, judged));
    changed.add(key);
  }

  #forget(group: string, key: string, changed: Set<string>): void {
    const known = this.#routes.get(key);
    known?.delete(group);
    if (known?.size === 0) this.#routes.delete(key);
    changed.add(key);
  }
}

/** Keys of the routes that lead to a pool, each once. */
function routesOf({ parents }: JudgedPool): ReadonlySet<string> {
  return new Set(parents.flatMap(({ routes }) => routes));
}

/** Keys of routes with other shadowed matches. */
function changedShadows(before: ShadowedMatches = NO_SHADOWS, after: ShadowedMatches = NO_SHADOWS): string[] {
  if (before.size === 0 && after.size === 0) return [];
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key)));
}

const NO_SHADOWS: ShadowedMatches = new Map();

/** Keys of the routes in verdicts. */
const keysOf = new WeakMap<GroupVerdicts, ReadonlySet<string>>();

function has(verdicts: GroupVerdicts | undefined, key: string): boolean {
  if (verdicts === undefined) return false;
  let keys = keysOf.get(verdicts);
  if (keys === undefined) keysOf.set(verdicts, keys = new Set(verdicts.routes.map(({ route }) => route.key)));
  return keys.has(key);
}

/** Keys of a Gateway and of its ListenerSets. */
function objectsOf(view: GatewayView | undefined): string[] {
  return view === undefined ? [] : [view.gateway.key, ...view.sets.map(({ set }) => set.key)];
}
