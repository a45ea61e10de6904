/**
 * A result without a host, for all proxies of a group.
 *
 * @module
 */
import { GroupBase, type GroupModel } from "../../../incremental/groups.ts";
import { ResultTable } from "../../../incremental/result_table.ts";
import type { TranslationCache, TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import type { SetsByType, SoleGroup } from "../results/row.ts";
import type { SharedGroup } from "./group.ts";

/** The group of a row with a single result. */
export interface SoleResultOptions<T> {
  readonly cache: TranslationCache<T>;
  readonly group: SoleGroup<T>;
  /** The group gives the notes of the result, instead of the cache. */
  readonly notesInUse: boolean;
}

/** The result, in a table of its own. */
export class SoleResult<T> extends GroupBase<ScopeReader> implements SharedGroup {
  readonly #table: ResultTable<ScopeReader, T, TranslationNote>;
  readonly #options: SoleResultOptions<T>;

  constructor(source: ScopeReader, options: SoleResultOptions<T>, model: GroupModel<SoleResult<T>> | undefined) {
    super(source);
    this.#options = options;
    this.#table = new ResultTable(options.cache, model?.inherits ? model.like.#table : undefined);
    this.update();
  }

  /** The current value. */
  get value(): T {
    return this.#table.results.get("")!.value;
  }

  get sets(): SetsByType {
    return this.#options.group.sets(this.value);
  }

  get added(): SetsByType | undefined {
    return this.#options.group.added?.(this.value);
  }

  /** The results in use. */
  results(): Iterable<TranslationResult<unknown>> {
    return this.#table.results.values();
  }

  *notes(): Iterable<TranslationNote> {
    if (!this.#options.notesInUse) return;
    for (const { notes } of this.results()) yield* notes ?? [];
  }

  update(): void {
    this.#table.update([""], this.look(() => true));
  }
}
