/**
 * The common interface of groups, for classes of proxies.
 *
 * @module
 */
import type { ResultGroup } from "../../../incremental/groups.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import type { StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { SetsByType } from "../results/row.ts";

/** Results of a kind, shared by proxies. */
export interface SharedGroup extends ResultGroup<ScopeReader, StaleResults> {
  /** The resources. A set stays the same object until a resource in the set changes. */
  readonly sets: SetsByType;
  /** Further resources, unless another resource of the type has the same name. */
  readonly added?: SetsByType | undefined;
  /** The results in use. */
  results(): Iterable<TranslationResult<unknown>>;
  /** Notes of results, unless the cache gives the notes. */
  notes?(): Iterable<TranslationNote>;
}
