/**
 * Changed things, named as in read records: a kind and a name, such as `("service", "a.example.com")`.
 *
 * @module
 */

interface OfOneKind {
  readonly names: Set<string>;
  /** A pattern stands for all accepted names. */
  readonly patterns: ((name: string) => boolean)[];
}

/** Keys of changed things. */
export class InvalidatedKeys {
  readonly #byKind = new Map<string, OfOneKind>();

  /** Adds a thing. */
  add(kind: string, name: string): void {
    this.#of(kind).names.add(name);
  }

  /** Adds all things of a kind with an accepted name. */
  addPattern(kind: string, accepts: (name: string) => boolean): void {
    this.#of(kind).patterns.push(accepts);
  }

  #of(kind: string): OfOneKind {
    let own = this.#byKind.get(kind);
    if (!own) this.#byKind.set(kind, own = { names: new Set(), patterns: [] });
    return own;
  }

  /**
   * Adds the things of a kind from other keys.
   *
   * @param as The kind of the added things. Default: unchanged.
   */
  addAll(from: InvalidatedKeys, kind: string, as = kind): void {
    const added = from.#byKind.get(kind);
    if (added === undefined) return;
    const own = this.#of(as);
    for (const name of added.names) own.names.add(name);
    own.patterns.push(...added.patterns);
  }

  /** Whether there is no key. */
  get empty(): boolean {
    return this.#byKind.size === 0;
  }

  /** The number of names and patterns. */
  get size(): number {
    let size = 0;
    for (const { names, patterns } of this.#byKind.values()) size += names.size + patterns.length;
    return size;
  }

  /** The kinds with keys. */
  kinds(): Iterable<string> {
    return this.#byKind.keys();
  }

  /** Whether there is a key of a kind. */
  hasAny(kind: string): boolean {
    return this.#byKind.has(kind);
  }

  /** Whether a thing changed. */
  has(kind: string, name: string): boolean {
    const own = this.#byKind.get(kind);
    return own !== undefined && (own.names.has(name) || own.patterns.some((accepts) => accepts(name)));
  }

  /**
   * The changed names of a kind in an index. The cost grows with the change. With patterns every name of the index is
   * tested.
   */
  among(kind: string, index: ReadonlyMap<string, unknown>): readonly string[] {
    const own = this.#byKind.get(kind);
    if (own === undefined) return [];
    if (own.patterns.length === 0) return [...own.names].filter((name) => index.has(name));
    return [...index.keys()].filter((name) => this.has(kind, name));
  }
}
