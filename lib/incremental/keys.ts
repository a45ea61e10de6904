/**
 * The changed things, in the words in which read records note the dependencies of their answers: a kind of thing and
 * the name of one, such as `("service", "a.example.com")`.
 *
 * @module
 */

interface OfOneKind {
  readonly names: Set<string>;
  /** Each stands for all names that it accepts. */
  readonly patterns: ((name: string) => boolean)[];
}

/** Keys whose answers may have changed. */
export class InvalidatedKeys {
  readonly #byKind = new Map<string, OfOneKind>();

  /** Adds one thing. */
  add(kind: string, name: string): void {
    this.#of(kind).names.add(name);
  }

  /** Adds every thing of a kind whose name a pattern accepts. */
  addPattern(kind: string, accepts: (name: string) => boolean): void {
    this.#of(kind).patterns.push(accepts);
  }

  #of(kind: string): OfOneKind {
    let own = this.#byKind.get(kind);
    if (!own) this.#byKind.set(kind, own = { names: new Set(), patterns: [] });
    return own;
  }

  /** Whether there is none. */
  get empty(): boolean {
    return this.#byKind.size === 0;
  }

  /** How many there are; a pattern counts as one. */
  get size(): number {
    let size = 0;
    for (const { names, patterns } of this.#byKind.values()) size += names.size + patterns.length;
    return size;
  }

  /** The kinds of which there is any. */
  kinds(): Iterable<string> {
    return this.#byKind.keys();
  }

  /** Whether this one is among them. */
  has(kind: string, name: string): boolean {
    const own = this.#byKind.get(kind);
    return own !== undefined && (own.names.has(name) || own.patterns.some((accepts) => accepts(name)));
  }

  /**
   * The names of a kind that are among them, of those that an index has. Without patterns its cost grows with the
   * change, else it is a look at every name of the index.
   */
  among(kind: string, index: ReadonlyMap<string, unknown>): readonly string[] {
    const own = this.#byKind.get(kind);
    if (own === undefined) return [];
    if (own.patterns.length === 0) return [...own.names].filter((name) => index.has(name));
    return [...index.keys()].filter((name) => this.has(kind, name));
  }
}
