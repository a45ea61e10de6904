/**
 * Objects of several sources in memory, typed by kind, with changes as events.
 *
 *     source of the highest precedence ──┐
 *     source below it                  ──┼─> the object in force for each key ─> changes ─> listeners
 *     ...                                └─> hidden ones
 *
 * If several sources have an object of one key, the source with the highest precedence decides. The other sources'
 * objects are hidden until the object in force goes.
 *
 * An update with an unchanged hash (other metadata, another line of the file) replaces the object, so that debug pages
 * are right. For translation this is not a change: the update is in `refreshed`.
 *
 * @module
 */
import type { KindSpecs } from "./kinds/kinds.ts";
import type { Origin } from "../finding/origin.ts";
import type { ConfigObject } from "./types.ts";

/** The content of a store. */
export interface StoredObject {
  readonly kind: string;
  /** `kind/namespace/name`. */
  readonly key: string;
  readonly meta: { readonly namespace: string; readonly name: string };
  readonly origin: Origin;
  /** Equal for two versions with the same meaning. */
  readonly hash: string;
}

/** The changes reported by a source. */
export interface StoreChanges<O extends StoredObject = ConfigObject> {
  /** New or changed objects. */
  readonly upserted: readonly O[];
  /** Keys of removed objects. */
  readonly removed: readonly string[];
}

/** An object before and after. */
export interface Updated<O extends StoredObject = ConfigObject> {
  readonly old: O;
  readonly new: O;
}

/** An object hidden by an object of a source with higher precedence. */
export interface HiddenObject<O extends StoredObject = ConfigObject> {
  readonly object: O;
  /** The object in force. */
  readonly by: O;
}

/** The changes of one `apply` to the objects in force. */
export interface ChangeSet<O extends StoredObject = ConfigObject> {
  readonly added: readonly O[];
  /** Updates with another hash. */
  readonly updated: readonly Updated<O>[];
  readonly removed: readonly O[];
  /** Updates with an equal hash: translation reads nothing of these changes. */
  readonly refreshed: readonly Updated<O>[];
  /** For the keys of the change: objects hidden before, and objects hidden now. */
  readonly hidden: { readonly before: readonly HiddenObject<O>[]; readonly after: readonly HiddenObject<O>[] };
}

/** The objects that came, changed or went: of a changed object the new version. Refreshed objects are left out. */
export function changedObjects<O extends StoredObject>(
  { added, removed, updated }: Pick<ChangeSet<O>, "added" | "removed" | "updated">,
): O[] {
  return [...added, ...removed, ...updated.map((one) => one.new)];
}

/** Gets change sets in their order, after the store holds the new state. Must not throw. */
export type StoreListener<O extends StoredObject = ConfigObject> = (changes: ChangeSet<O>) => void;

/** A source's access to a store. */
export interface StoreSource<O extends StoredObject = ConfigObject> {
  readonly name: string;
  /** Takes changes all at once, calls the listeners, returns the changes to the objects in force. */
  apply(changes: StoreChanges<O>): ChangeSet<O>;
  /** Number of the source's objects, hidden objects included. */
  readonly size: number;
  /** The objects of the source, hidden objects included. */
  objects(): Iterable<O>;
}

/** The objects of one source, by kind and key. */
interface Shelves<O> {
  readonly name: string;
  readonly rank: number;
  readonly byKind: Map<string, Map<string, O>>;
}

/** Answers of `list` for one kind; dropped when an object of the kind changes. */
interface KindLists<O> {
  readonly all: readonly O[];
  byNamespace?: ReadonlyMap<string, readonly O[]>;
}

/** A store of objects of some kinds, `Kinds` being the type of each. Not shared between threads. */
export class ObjectStore<O extends StoredObject, Kinds extends { readonly [K in keyof Kinds]: O }> {
  /** By precedence, the highest first. */
  readonly #sources: Shelves<O>[] = [];
  /** Keys in more than one source. */
  readonly #contested = new Set<string>();
  readonly #lists = new Map<string, KindLists<O>>();
  readonly #listeners = new Set<StoreListener<O>>();
  readonly #unheard: ChangeSet<O>[] = [];
  #isNotifying = false;

  /** How many objects are in force. */
  get size(): number {
    let size = 0;
    for (const { byKind } of this.#sources) for (const shelf of byKind.values()) size += shelf.size;
    for (const key of this.#contested) size -= this.#holders(key).length - 1;
    return size;
  }

  /**
   * Adds a source.
   *
   * @param name The `origin.source` of the source's objects.
   * @param rank The precedence: 0 is the highest; of equal ranks the source that was added first.
   */
  addSource(name: string, rank: number): StoreSource<O> {
    const shelves: Shelves<O> = { name, rank, byKind: new Map() };
    const below = this.#sources.findIndex((other) => other.rank > rank);
    this.#sources.splice(below < 0 ? this.#sources.length : below, 0, shelves);
    return {
      name,
      apply: (changes) => this.#apply(shelves, changes),
      get size() {
        return [...shelves.byKind.values()].reduce((sum, shelf) => sum + shelf.size, 0);
      },
      *objects() {
        for (const shelf of shelves.byKind.values()) yield* shelf.values();
      },
    };
  }

  /** An object in force. */
  get<K extends keyof Kinds & string>(kind: K, namespace: string, name: string): Kinds[K] | undefined {
    // A shelf holds only objects of its kind.
    return this.#inForce(kind, `${kind}/${namespace}/${name}`) as Kinds[K] | undefined;
  }

  /** An object in force, by its key. */
  at(key: string): O | undefined {
    return this.#inForce(kindOfKey(key), key);
  }

  /**
   * All objects in force of a kind, or of one namespace, sorted by key. The same array (`===`) until an object of the
   * kind changes.
   */
  list<K extends keyof Kinds & string>(kind: K, namespace?: string): readonly Kinds[K][] {
    let lists = this.#lists.get(kind);
    if (lists === undefined) this.#lists.set(kind, lists = { all: this.#merged(kind) });
    // One pass sorts the objects into all namespaces: questions about a thousand namespaces cost one scan, not a
    // thousand.
    if (namespace !== undefined) lists.byNamespace ??= Map.groupBy(lists.all, (object) => object.meta.namespace);
    const found = namespace === undefined ? lists.all : lists.byNamespace?.get(namespace) ?? [];
    // A shelf holds only objects of its kind.
    return found as readonly O[] as readonly Kinds[K][];
  }

  /** All hidden objects, with the objects that hide them. */
  hidden(): HiddenObject<O>[] {
    return [...this.#contested].sort().flatMap((key) => this.#hiddenAt(key));
  }

  /** Calls `listener` on every change from now on. @returns ends the calls */
  subscribe(listener: StoreListener<O>): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #apply(
    source: Shelves<O>,
    { removed, upserted }: StoreChanges<O>,
  ): ChangeSet<O> {
    const touched = new Map<string, { readonly old: O | undefined; readonly now: O | undefined }>();
    const contested = new Set<string>();
    const before: HiddenObject<O>[] = [];
    const touch = (kind: string, key: string, object: O | undefined) => {
      const old = touched.has(key) ? touched.get(key)?.old : this.#inForce(kind, key);
      if (this.#contested.has(key) && !contested.has(key)) {
        contested.add(key);
        before.push(...this.#hiddenAt(key));
      }
      if (!put(source.byKind, kind, key, object)) return;
      if (this.#sources.length > 1 && this.#holders(key).length > 1) {
        contested.add(key);
        this.#contested.add(key);
      } else this.#contested.delete(key);
      this.#lists.delete(kind);
      touched.set(key, { old, now: this.#inForce(kind, key) });
    };
    for (const key of removed) touch(kindOfKey(key), key, undefined);
    for (const object of upserted) touch(object.kind, object.key, object);
    const after = [...contested].flatMap((key) => this.#hiddenAt(key));
    const set = changeSet(touched, { before, after });
    if (!isEmpty(set)) this.#notify(set);
    return set;
  }

  /** A listener may change the store: all listeners get such a change after the present change. */
  #notify(set: ChangeSet<O>): void {
    this.#unheard.push(set);
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    try {
      for (let next = this.#unheard.shift(); next !== undefined; next = this.#unheard.shift()) {
        for (const listener of this.#listeners) listener(next);
      }
    } finally {
      this.#isNotifying = false;
    }
  }

  #inForce(kind: string, key: string): O | undefined {
    for (const { byKind } of this.#sources) {
      const found = byKind.get(kind)?.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The objects of a key, the object in force first. */
  #holders(key: string): O[] {
    const kind = kindOfKey(key);
    const found = this.#sources.map(({ byKind }) => byKind.get(kind)?.get(key));
    return found.filter((object): object is O => object !== undefined);
  }

  #hiddenAt(key: string): HiddenObject<O>[] {
    const [by, ...others] = this.#holders(key);
    return by === undefined ? [] : others.map((object) => ({ object, by }));
  }

  #merged(kind: string): readonly O[] {
    const shelves = this.#sources.map(({ byKind }) => byKind.get(kind)).filter((shelf) => shelf !== undefined);
    const [only] = shelves;
    const found = shelves.length === 1 ? only : new Map(shelves.toReversed().flatMap((shelf) => [...shelf]));
    return [...found?.values() ?? []].sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}

/** The store of configuration objects. */
export class ConfigStore extends ObjectStore<ConfigObject, { readonly [K in keyof KindSpecs]: ConfigObject<K> }> {}

/** The changes to the objects in force, from the objects before and after. */
function changeSet<O extends StoredObject>(
  touched: ReadonlyMap<string, { readonly old: O | undefined; readonly now: O | undefined }>,
  hidden: ChangeSet<O>["hidden"],
): ChangeSet<O> {
  const [added, updated, removed, refreshed]: [O[], Updated<O>[], O[], Updated<O>[]] = [[], [], [], []];
  for (const { old, now } of touched.values()) {
    if (old === now) continue;
    if (old === undefined) added.push(now as O);
    else if (now === undefined) removed.push(old);
    else (old.hash === now.hash ? refreshed : updated).push({ old, new: now });
  }
  return { added, updated, removed, refreshed, hidden };
}

function isEmpty<O extends StoredObject>({ added, updated, removed, refreshed, hidden }: ChangeSet<O>): boolean {
  const lists = [added, updated, removed, refreshed, hidden.before, hidden.after];
  return lists.every((list) => list.length === 0);
}

/** Puts or removes an object of a shelf. @returns whether the shelf changed */
function put<O>(byKind: Map<string, Map<string, O>>, kind: string, key: string, object: O | undefined): boolean {
  let shelf = byKind.get(kind);
  if (object === undefined) return shelf?.delete(key) ?? false;
  if (shelf === undefined) byKind.set(kind, shelf = new Map());
  if (shelf.get(key) === object) return false;
  shelf.set(key, object);
  return true;
}

/** Keys are `kind/namespace/name`; an unknown kind finds no shelf. */
function kindOfKey(key: string): string {
  return key.slice(0, key.indexOf("/"));
}
