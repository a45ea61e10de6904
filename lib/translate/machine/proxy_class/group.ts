/**
 * Groups of results as classes of proxies see them, whatever their results are.
 *
 * @module
 */
import type { ResultGroup } from "../../../incremental/groups.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import type { StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { SetsByType } from "../results/row.ts";

/** Results of one kind that some proxies share. */
export interface SharedGroup extends ResultGroup<MeshAnswers, StaleResults> {
  /** The resources. A set is the same object while none of its resources changed. */
  readonly sets: SetsByType;
  /** Resources that a proxy gets too, unless another resource of the type has the name. */
  readonly added?: SetsByType | undefined;
  /** The results in use. */
  results(): Iterable<TranslationResult<unknown>>;
  /** The notes that the caches of its results do not give. */
  notes?(): Iterable<TranslationNote>;
}
