/**
 * Clusters and listeners of some proxies that belong to no host.
 *
 * @module
 */
import { GroupBase, type GroupModel, type ResultGroup } from "../../incremental/groups.ts";
import { ResultTable } from "../../incremental/result_table.ts";
import type { BaseSets, Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { Finding } from "../../config/finding/finding.ts";
import type { MeshAnswers } from "../reader/mesh_answers.ts";

/** The one result, in a table of its own. */
export class BaseResources extends GroupBase<MeshAnswers> implements ResultGroup<MeshAnswers, StaleResults> {
  readonly #table: ResultTable<MeshAnswers, BaseSets, Finding>;

  constructor(source: MeshAnswers, caches: Caches, model: GroupModel<BaseResources> | undefined) {
    super(source);
    this.#table = new ResultTable(caches.base, model?.inherits ? model.like.#table : undefined);
    this.update();
  }

  /** The sets now. */
  get sets(): BaseSets {
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
