/**
 * Registered entries of groups in files. The entries are objects of this server, like objects in a file with the lowest
 * precedence.
 *
 * The entries live as long as the server. A proxy that connects to another server is registered at the other server.
 *
 * @module
 */
import { objectFromSpec } from "../../config/object.ts";
import type { StoreSource } from "../../config/store.ts";
import { type ConfigObject, objectKey } from "../../config/types.ts";
import { type AnnotationChange, changedAnnotations } from "./connection.ts";
import { EntryConflict, type EntryPlace, type EntryShelf, type ShelvedEntry } from "./shelf.ts";

type Entry = ConfigObject<"WorkloadEntry">;

export class MemoryShelf implements EntryShelf {
  readonly #target: StoreSource;
  readonly #entries = new Map<string, { readonly entry: Entry; readonly uid: string; readonly version: string }>();
  #versions = 0;

  constructor(target: StoreSource) {
    this.#target = target;
  }

  read(place: EntryPlace): Promise<ShelvedEntry | undefined> {
    const kept = this.#entries.get(keyOf(place));
    if (kept === undefined) return Promise.resolve(undefined);
    const { entry, uid, version } = kept;
    return Promise.resolve({ annotations: entry.meta.annotations, uid, version });
  }

  create(entry: Entry): Promise<void> {
    if (this.#entries.has(entry.key)) return Promise.reject(new EntryConflict(`${entry.key} is there`));
    this.#keep(entry, String(this.#versions + 1));
    return Promise.resolve();
  }

  annotate(place: EntryPlace, was: ShelvedEntry, change: AnnotationChange): Promise<void> {
    const kept = this.#entries.get(keyOf(place));
    if (kept === undefined || kept.version !== was.version) return Promise.reject(conflict(place));
    const { meta, spec, origin } = kept.entry;
    const annotations = changedAnnotations(meta.annotations, change);
    const { object } = objectFromSpec("WorkloadEntry", { ...meta, annotations }, spec, origin);
    if (object !== undefined) this.#keep(object as Entry, kept.uid);
    return Promise.resolve();
  }

  remove(place: EntryPlace, was: ShelvedEntry): Promise<boolean> {
    const kept = this.#entries.get(keyOf(place));
    if (kept === undefined) return Promise.resolve(false);
    if (kept.version !== was.version) return Promise.reject(conflict(place));
    this.#entries.delete(kept.entry.key);
    this.#target.apply({ upserted: [], removed: [kept.entry.key] });
    return Promise.resolve(true);
  }

  #keep(entry: Entry, uid: string): void {
    this.#entries.set(entry.key, { entry, uid, version: String(++this.#versions) });
    this.#target.apply({ upserted: [entry], removed: [] });
  }
}

function keyOf({ namespace, name }: EntryPlace): string {
  return objectKey("WorkloadEntry", namespace, name);
}

function conflict({ namespace, name }: EntryPlace): EntryConflict {
  return new EntryConflict(`WorkloadEntry ${namespace}/${name} is another version`);
}
