/**
 * Clusters and listeners of some proxies that belong to no host.
 *
 * @module
 */
import { GroupLook, type GroupModel, type ResultGroup } from "../../incremental/groups.ts";
import type { AskedProperties } from "../../incremental/properties.ts";
import { ResultTable } from "../../incremental/result_table.ts";
import type { BaseSets, Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { Finding } from "../../config/finding/finding.ts";
import type { MeshAnswers } from "../reader/mesh_answers.ts";
import type { ProxyProperties } from "../reader/proxy_properties.ts";

/** The one result, in a table of its own. */
export class BaseResources implements ResultGroup<MeshAnswers, StaleResults> {
  readonly #look: GroupLook<MeshAnswers>;
  readonly #table: ResultTable<MeshAnswers, BaseSets, Finding>;

  constructor(source: MeshAnswers, caches: Caches, model: GroupModel<BaseResources> | undefined) {
    this.#look = new GroupLook(source);
    this.#table = new ResultTable(caches.base, model?.inherits ? model.like.#table : undefined);
    this.update();
  }

  get source(): MeshAnswers {
    return this.#look.source;
  }

  get asked(): AskedProperties<ProxyProperties> {
    return this.#look.asked;
  }

  get failing(): boolean {
    return this.#look.failing;
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
    this.#table.update([""], this.#look.begin(() => true));
  }
}
