/**
 * The objects of one resource as last heard of, and the changes of a list or of some events.
 *
 * @module
 */

/** An object that is kept: its identity, and the value that a projector made of it. */
export interface KeptObject<T> {
  /** Empty: it has none. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly value: T;
}

/** A change of the kept objects; a key is in one of the lists at most. */
export interface CacheChange<T> {
  /** New objects, and those of another version. */
  readonly upserted: readonly KeptObject<T>[];
  /** As they were last known. */
  readonly removed: readonly KeptObject<T>[];
}

/** The fate of one object. */
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
   * Takes a whole list: an object that is not in it is gone. Versions are compared for being equal only, because an API
   * that was restored from a backup goes back.
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

  /** Takes events in their order. */
  apply(events: Iterable<CacheEvent<T>>): CacheChange<T> {
    const before = new Map<string, KeptObject<T> | undefined>();
    for (const { type, object } of events) {
      const key = cacheKey(object);
      const old = this.#objects.get(key);
      if (!before.has(key)) before.set(key, old);
      if (type === "put") this.#objects.set(key, object);
      // The end of an earlier object of that name is not the end of the present one.
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
