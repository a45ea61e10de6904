/**
 * All valid configuration objects, in memory, typed, with changes as events.
 *
 * An update whose hash is unchanged (other metadata, another line of the file) replaces the object, so that debug pages are right, but
 * is no change for translation: it is in `refreshed`, and listeners are not called for it.
 *
 * @module
 */
import type { Kind } from "./kinds/mod.ts";
import { type ConfigObject, objectKey } from "./types.ts";

/** What a source says has changed. */
export interface StoreChanges {
  /** Objects that are new or changed. */
  readonly upserted: readonly ConfigObject[];
  /** Keys of objects that are gone. */
  readonly removed: readonly string[];
}

/** An object before and after. */
export interface Updated {
  readonly old: ConfigObject;
  readonly new: ConfigObject;
}

/** What one `apply` changed. */
export interface ChangeSet {
  readonly added: readonly ConfigObject[];
  /** Updates with another hash. */
  readonly updated: readonly Updated[];
  readonly removed: readonly ConfigObject[];
  /** Updates with an equal hash: nothing that translation reads. */
  readonly refreshed: readonly Updated[];
}

/** Gets change sets; called within `apply`, after the store holds the new state. Must not throw. */
export type StoreListener = (changes: ChangeSet) => void;

interface KindShelf {
  readonly objects: Map<string, ConfigObject>;
  /** Answers of `list`; dropped when an object of the kind changes. */
  all?: readonly ConfigObject[] | undefined;
  byNamespace?: ReadonlyMap<string, readonly ConfigObject[]> | undefined;
}

const NOTHING: readonly ConfigObject[] = Object.freeze([]);

/** The store. Not shared between threads. */
export class ConfigStore {
  readonly #shelves = new Map<Kind, KindShelf>();
  readonly #listeners = new Set<StoreListener>();

  /** How many objects there are. */
  get size(): number {
    return [...this.#shelves.values()].reduce((sum, shelf) => sum + shelf.objects.size, 0);
  }

  /** One object. */
  get<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined {
    const found = this.#shelves.get(kind)?.objects.get(objectKey(kind, namespace, name));
    // A shelf holds only objects of its kind.
    return found as ConfigObject<K> | undefined;
  }

  /**
   * All objects of a kind, or those of one namespace, sorted by key. The same array (`===`) until one of the kind changes.
   */
  list<K extends Kind>(kind: K, namespace?: string): readonly ConfigObject<K>[] {
    const shelf = this.#shelves.get(kind);
    if (shelf === undefined) return NOTHING as readonly unknown[] as readonly ConfigObject<K>[];
    shelf.all ??= [...shelf.objects.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    // One pass sorts every namespace in: asking for each of a thousand namespaces costs one scan, not a thousand.
    if (namespace !== undefined) shelf.byNamespace ??= Map.groupBy(shelf.all, (object) => object.meta.namespace);
    const found: readonly ConfigObject[] = namespace === undefined
      ? shelf.all
      : shelf.byNamespace?.get(namespace) ?? NOTHING;
    // A shelf holds only objects of its kind.
    return found as readonly unknown[] as readonly ConfigObject<K>[];
  }

  /** Takes changes all at once, tells the listeners, returns what really changed. */
  apply(changes: StoreChanges): ChangeSet {
    const added: ConfigObject[] = [];
    const updated: Updated[] = [];
    const refreshed: Updated[] = [];
    const removed: ConfigObject[] = [];
    for (const key of changes.removed) {
      const shelf = this.#shelves.get(kindOfKey(key));
      const old = shelf?.objects.get(key);
      if (shelf === undefined || old === undefined) continue;
      shelf.objects.delete(key);
      forgetLists(shelf);
      removed.push(old);
    }
    for (const object of changes.upserted) {
      const shelf = this.#shelf(object.kind);
      const old = shelf.objects.get(object.key);
      if (old === object) continue;
      shelf.objects.set(object.key, object);
      forgetLists(shelf);
      if (old === undefined) added.push(object);
      else (old.hash === object.hash ? refreshed : updated).push({ old, new: object });
    }
    const set: ChangeSet = { added, updated, removed, refreshed };
    if (added.length + updated.length + removed.length > 0) { for (const listener of this.#listeners) listener(set); }
    return set;
  }

  /** Calls `listener` on every change from now on. @returns ends it */
  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #shelf(kind: Kind): KindShelf {
    const found = this.#shelves.get(kind);
    if (found !== undefined) return found;
    const made: KindShelf = { objects: new Map() };
    this.#shelves.set(kind, made);
    return made;
  }
}

function forgetLists(shelf: KindShelf): void {
  shelf.all = undefined;
  shelf.byNamespace = undefined;
}

function kindOfKey(key: string): Kind {
  // Keys are `kind/namespace/name`; an unknown kind finds no shelf.
  return key.slice(0, key.indexOf("/")) as Kind;
}
