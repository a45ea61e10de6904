/**
 * The notes of all builders whose results are in use.
 *
 * @module
 */
import type { Mesh } from "../../mesh/mesh.ts";
import type { Caches } from "./cache/caches.ts";
import { presentNotes, type TranslationNote } from "../message/notes.ts";
import { rejectionFindings } from "../patches/rejected.ts";
import type { ProxyState } from "./per_proxy/proxy_state.ts";
import type { ProxyClasses } from "./proxy_class/classes.ts";

/** The holders of results, whose notes are gathered. */
interface NoteSources {
  readonly mesh: Mesh;
  readonly caches: Caches;
  readonly classes: Iterable<ProxyClasses>;
  readonly states: ReadonlySet<ProxyState>;
}

/** All notes. Costs the notes, and a look at each group and proxy. */
export function gatheredNotes(sources: NoteSources): Iterable<TranslationNote> {
  return presentNotes(allNotes(sources), sources.mesh.proxyFilters);
}

function* allNotes({ caches, classes, states }: NoteSources): Iterable<TranslationNote> {
  yield* caches.notes();
  for (const ofType of classes) yield* ofType.notes();
  for (const state of states) yield* state.perProxy?.notes() ?? [];
  yield* rejectionFindings(states);
}
