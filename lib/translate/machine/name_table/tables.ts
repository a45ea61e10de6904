/**
 * All DNS tables: one for the agents whose proxies have one view and answer alike the queries of its entries, made when
 * the first of them asks for it.
 *
 * @module
 */
import { GroupPool } from "../../../incremental/groups.ts";
import type { Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import { SharedNameTable } from "./table.ts";

/** The tables by proxy: a proxy whose agent asks for none costs nothing. */
export class NameTables<P extends object> {
  readonly #pool: GroupPool<MeshAnswers, StaleResults, SharedNameTable>;
  readonly #byProxy = new Map<P, SharedNameTable>();
  readonly #sourceOf: (proxy: P) => MeshAnswers;

  /** @param sourceOf the present view of a proxy */
  constructor(caches: Caches, sourceOf: (proxy: P) => MeshAnswers) {
    this.#pool = new GroupPool((source, model) => new SharedNameTable(source, caches, model));
    this.#sourceOf = sourceOf;
  }

  /** Number of tables that are kept. */
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

  /** Whether a builder threw for a table that the proxy's agent has asked for. */
  isFailing(proxy: P): boolean {
    return this.#byProxy.get(proxy)?.failing === true;
  }

  /**
   * Brings all tables up to date; proxies that see something else now get other ones.
   *
   * @param gone whether a view is that of no workload any more; undefined: all views are as they were
   */
  update(stale: StaleResults, gone: ((view: object) => boolean) | undefined): void {
    if (gone) this.#pool.drop(({ source }) => gone(source.view));
    this.#pool.update(stale);
    if (!gone && !this.#pool.asksMore) return;
    for (const [proxy, table] of this.#byProxy) {
      const source = this.#sourceOf(proxy);
      if (!this.#pool.holds(table, source)) this.#byProxy.set(proxy, this.#pool.find(source, table));
    }
  }

  /** A proxy has left. */
  leave(proxy: P): void {
    this.#byProxy.delete(proxy);
  }

  /** Drops tables that no proxy uses. */
  sweep(): void {
    const used = new Set(this.#byProxy.values());
    this.#pool.drop((table) => !used.has(table));
  }

  /** The results in use. */
  *results(): Iterable<TranslationResult<unknown>> {
    for (const table of this.#pool) yield* table.results();
  }
}
