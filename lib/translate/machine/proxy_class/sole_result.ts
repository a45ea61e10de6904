/**
 * Results that belong to no host: one result for all proxies that share it.
 *
 * @module
 */
import { GroupBase, type GroupModel } from "../../../incremental/groups.ts";
import { ResultTable } from "../../../incremental/result_table.ts";
import type { TranslationCache, TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import type { SetsByType, SoleGroup } from "../results/row.ts";
import type { SharedGroup } from "./group.ts";

/** The group of a row with one result. */
export interface SoleResultOptions<T> {
  readonly cache: TranslationCache<T>;
  readonly group: SoleGroup<T>;
  /** The group gives the notes of its result, because the cache's notes do not count. */
  readonly notesInUse: boolean;
}

/** The one result, in a table of its own. */
export class SoleResult<T> extends GroupBase<MeshAnswers> implements SharedGroup {
  readonly #table: ResultTable<MeshAnswers, T, TranslationNote>;
  readonly #options: SoleResultOptions<T>;

  constructor(source: MeshAnswers, options: SoleResultOptions<T>, model: GroupModel<SoleResult<T>> | undefined) {
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
