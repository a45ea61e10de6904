/**
 * The objects of one resource as last reported, and the changes in a list or in some events.
 *
 * @module
 */

/** A kept object: its identity, and the value that a projector made from the object. */
export interface KeptObject<T> {
  /** Empty: the object has no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly value: T;
}

/** A change of the kept objects. A key is in at most one of the lists. */
export interface CacheChange<T> {
  /** New objects, and objects with a new version. */
  readonly upserted: readonly KeptObject<T>[];
  /** Removed objects in their last known version. */
  readonly removed: readonly KeptObject<T>[];
}

/** A reported change of one object. */
export interface CacheEvent<T> {
  readonly type: "put" | "gone";
  readonly object: KeptObject<T>;
}

export class ObjectCache<T> {
  readonly #objects = new Map<string, KeptObject<T>>();

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): KeptObject<T> | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  values(): IterableIterator<KeptObject<T>> {
    return this.#objects.values();
  }

  /**
   * Takes a whole list. Objects outside the list are gone. Versions are only compared for equality, because the
   * versions of an API go back when the API is restored from a backup.
   */
  replace(list: ReadonlyMap<string, KeptObject<T>>): CacheChange<T> {
    const upserted: KeptObject<T>[] = [];
    const removed: KeptObject<T>[] = [];
    for (const [key, old] of this.#objects) {
      if (list.has(key)) continue;
      this.#objects.delete(key);
      removed.push(old);
    }
    for (const [key, now] of list) {
      const old = this.#objects.get(key);
      if (old !== undefined && old.uid === now.uid && old.version === now.version) continue;
      this.#objects.set(key, now);
      upserted.push(now);
    }
    return { upserted, removed };
  }

  /** Takes events in order. */
  apply(events: Iterable<CacheEvent<T>>): CacheChange<T> {
    const before = new Map<string, KeptObject<T> | undefined>();
    for (const { type, object } of events) {
      const key = cacheKey(object);
      const old = this.#objects.get(key);
      if (!before.has(key)) before.set(key, old);
      if (type === "put") this.#objects.set(key, object);
      // The end of an earlier object with the same name is not the end of the present object.
      else if (old !== undefined && old.uid === object.uid) this.#objects.delete(key);
    }
    const upserted: KeptObject<T>[] = [];
    const removed: KeptObject<T>[] = [];
    for (const [key, old] of before) {
      const now = this.#objects.get(key);
      if (now === undefined && old !== undefined) removed.push(old);
      else if (now !== undefined && (old?.uid !== now.uid || old.version !== now.version)) upserted.push(now);
    }
    return { upserted, removed };
  }
}

/** The key of an object: `namespace/name`. */
export function cacheKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
