/**
 * The progress of each object on the proxies of this server.
 *
 * A resource names the objects that it was made from. The named objects are collected once for each set of resources,
 * because most proxies share most sets. Then one walk over the proxies counts for all objects at once.
 *
 * @module
 */
import type { ResourceSet } from "../../resource/set.ts";
import type { ObjectProgress } from "../../status/progress.ts";
import type { PushProgress } from "../../xds/progress.ts";
import type { ProxyView } from "../../xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, ROUTE, SECRET } from "../../xds/protocol/types.ts";

/** An object to count for. */
export interface CountedObject {
  readonly key: string;
  readonly generation: number;
  /** The push of its last change. */
  readonly changedIn: number;
  /** Whether the last change waits for its push. */
  readonly isWaiting: boolean;
  /** Whether all proxies count, because resources do not name the object. */
  readonly everywhere: boolean;
}

/** A connected proxy. */
export interface CountedProxy {
  readonly view: Pick<ProxyView, "resourceSets" | "virtualHosts" | "withheld">;
  readonly progress: PushProgress;
  /**
   * Key of the Sidecar that chooses the proxy's resources. No resource names the Sidecar. Undefined: there is no
   * Sidecar.
   */
  readonly sidecar?: string | undefined;
}

const TYPES = [CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, SECRET, ROUTE];

/** Most characters of a client's words. */
const MOST_TEXT = 500;

/** Most proxies that a step counts. */
const PROXIES_A_STEP = 4;

interface Row {
  readonly object: CountedObject;
  total: number;
  live: number;
  rejected: number;
  reason: string;
  /** Number of the last counted proxy. */
  seen: number;
}

/** Counts proxies for objects. Remembers the objects that sets name while the sets live. */
export class ProgressRows {
  readonly #causes = new WeakMap<ResourceSet, ReadonlySet<string>>();
  readonly #counts: (key: string) => boolean;

  /** @param counts Whether objects of a key are ever counted: the others cost nothing. Default: all are. */
  constructor(counts: (key: string) => boolean = () => true) {
    this.#counts = counts;
  }

  /** Counts, in steps. @returns by key of the object */
  *count(
    objects: Iterable<CountedObject>,
    proxies: Iterable<CountedProxy>,
  ): Generator<void, ReadonlyMap<string, ObjectProgress>> {
    const rows = new Map<string, Row>();
    for (const object of objects) {
      rows.set(object.key, { object, total: 0, live: 0, rejected: 0, reason: "", seen: -1 });
    }
    const everywhere = [...rows.values()].filter(({ object }) => object.everywhere);
    let at = 0;
    for (const { view, progress, sidecar } of proxies) {
      for (const row of everywhere) countProxy(row, at, progress);
      const chosen = sidecar === undefined ? undefined : rows.get(sidecar);
      if (chosen !== undefined) countProxy(chosen, at, progress);
      // No resource of the proxy names an object that the proxy goes without.
      for (const key of view.withheld?.keys() ?? []) {
        const row = rows.get(key);
        if (row !== undefined) countProxy(row, at, progress);
      }
      for (const set of setsOf(view)) {
        for (const key of this.#causesOf(set)) {
          const row = rows.get(key);
          if (row !== undefined) countProxy(row, at, progress);
        }
      }
      if (++at % PROXIES_A_STEP === 0) yield;
    }
    const found = new Map<string, ObjectProgress>();
    for (const [key, { object: { generation }, total, live, rejected, reason }] of rows) {
      found.set(key, { generation, total, live, rejected, reason });
    }
    return found;
  }

  #causesOf(set: ResourceSet): ReadonlySet<string> {
    let found = this.#causes.get(set);
    if (found === undefined) {
      const causes = new Set<string>();
      for (const { resources } of set.buckets) {
        for (const one of resources) for (const key of one.causes) if (this.#counts(key)) causes.add(key);
      }
      this.#causes.set(set, found = causes);
    }
    return found;
  }
}

/** Counts a proxy for an object, once. */
function countProxy(row: Row, at: number, progress: PushProgress): void {
  if (row.seen === at) return;
  row.seen = at;
  row.total++;
  const { key, changedIn, isWaiting } = row.object;
  const { refusals } = progress;
  const reason = refusals.refuses ? refusals.lacks(key) : undefined;
  if (reason !== undefined && reason !== "") {
    row.rejected++;
    const words = reason.slice(0, MOST_TEXT);
    if (row.reason === "" || words < row.reason) row.reason = words;
  } else if (reason === undefined && !progress.failing() && !isWaiting && progress.acked >= changedIn) row.live++;
}

function* setsOf(view: CountedProxy["view"]): Iterable<ResourceSet> {
  for (const type of TYPES) {
    const sets = view.resourceSets(type) ?? [];
    yield* sets;
    if (type !== ROUTE) continue;
    for (const set of sets) for (const { name } of set.list) yield* view.virtualHosts(name);
  }
}
