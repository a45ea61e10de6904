/**
 * All DNS tables. Agents share a table if their proxies have the same view and give the same answers to the entries'
 * queries. The first agent that asks has the table made.
 *
 * @module
 */
import { GroupPool } from "../../../incremental/groups.ts";
import type { IsChanged } from "../../../incremental/properties.ts";
import type { Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { ProxyProperties } from "../../reader/proxy_properties.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { SharedNameTable } from "./table.ts";

/** The tables by proxy. A proxy without a question for names costs nothing. */
export class NameTables<P extends object> {
  readonly #pool: GroupPool<ScopeReader, StaleResults, SharedNameTable>;
  readonly #byProxy = new Map<P, SharedNameTable>();
  readonly #sourceOf: (proxy: P) => ScopeReader;

  /** @param sourceOf the present view of a proxy */
  constructor(caches: Caches, sourceOf: (proxy: P) => ScopeReader) {
    this.#pool = new GroupPool((source, model) => new SharedNameTable(source, caches, model));
    this.#sourceOf = sourceOf;
  }

  /** Number of kept tables. */
  get size(): number {
    return [...this.#pool].length;
  }

  /** The table of a proxy, kept up to date from the first call on. */
  of(proxy: P): SharedNameTable {
    const known = this.#byProxy.get(proxy);
    if (known !== undefined) return known;
    const found = this.#pool.find(this.#sourceOf(proxy));
    this.#byProxy.set(proxy, found);
    return found;
  }

  /** Whether a builder threw for a table in use by the proxy's agent. */
  isFailing(proxy: P): boolean {
    return this.#byProxy.get(proxy)?.failing === true;
  }

  /**
   * Brings all tables up to date. A proxy with another view or other answers gets another table.
   *
   * @param gone Whether no workload has a view any more. Undefined: all views are unchanged.
   * @param isChanged The changed facts about workloads. Undefined: entries depend on no changed fact.
   */
  update(
    stale: StaleResults,
    gone: ((view: object) => boolean) | undefined,
    isChanged: IsChanged<ProxyProperties> | undefined,
  ): void {
    if (gone) this.#pool.drop(({ source }) => gone(source.view));
    if (isChanged) this.#pool.dropChanged(isChanged);
    this.#pool.update(stale);
    if (!gone && !isChanged && !this.#pool.asksMore) return;
    for (const [proxy, table] of this.#byProxy) {
      const source = this.#sourceOf(proxy);
      if (!this.#pool.holds(table, source, isChanged)) this.#byProxy.set(proxy, this.#pool.find(source, table));
    }
  }

  /** Whether entries depend on facts about workloads, of an accepted kind. */
  dependsOn(isKind: (kind: string) => boolean): boolean {
    return this.#pool.dependsOn(isKind);
  }

  /** A proxy has left. */
  leave(proxy: P): void {
    this.#byProxy.delete(proxy);
  }

  /** Drops unused tables. */
  sweep(): void {
    const used = new Set(this.#byProxy.values());
    this.#pool.drop((table) => !used.has(table));
  }

  /** The results in use. */
  *results(): Iterable<TranslationResult<unknown>> {
    for (const table of this.#pool) yield* table.results();
  }
}
