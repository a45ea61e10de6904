/**
 * Results that belong to no host: one result for all proxies that share it.
 *
 * @module
 */
import { GroupBase, type GroupModel, type ResultGroup } from "../../../incremental/groups.ts";
import { ResultTable } from "../../../incremental/result_table.ts";
import type { StaleResults } from "../cache/caches.ts";
import type { TranslationCache, TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";

/** The one result, in a table of its own. */
export class SoleResult<T> extends GroupBase<MeshAnswers> implements ResultGroup<MeshAnswers, StaleResults> {
  readonly #table: ResultTable<MeshAnswers, T, TranslationNote>;

  constructor(source: MeshAnswers, cache: TranslationCache<T>, model: GroupModel<SoleResult<T>> | undefined) {
    super(source);
    this.#table = new ResultTable(cache, model?.inherits ? model.like.#table : undefined);
    this.update();
  }

  /** The current value. */
  get value(): T {
    return this.#table.results.get("")!.value;
  }

  /** The results in use. */
  results(): Iterable<TranslationResult<unknown>> {
    return this.#table.results.values();
  }

  update(): void {
    this.#table.update([""], this.look(() => true));
  }
}
