/**
 * The property queries of builders, with the answers.
 *
 * Most results of a kind ask the same property queries in the same order. So lists of answers are nodes of a tree:
 * results with equal lists keep the same node, and comparing a source with thousands of results costs a comparison for
 * each distinct node.
 *
 *     root ── type=sidecar ──┬── network=a ── ipMode=ipv4      (5,000 results)
 *                            └── network=b ── ipMode=ipv4      (20 results)
 *
 * @module
 */

/** An answer, after the answers recorded earlier. */
export class PropertyAnswers<P> {
  readonly #tree: PropertyTree<P>;
  /** By query and answer. Held weakly, since an answer may be a client's text. */
  #children: Map<string, Map<unknown, WeakRef<PropertyAnswers<P>>>> | undefined;
  /** The last recorded next answer: most builds ask alike. Every list keeps a single next answer. */
  #next: PropertyAnswers<P> | undefined;

  constructor(
    tree: PropertyTree<P>,
    readonly before: PropertyAnswers<P> | undefined,
    /** The identity of the query. */
    readonly key: string,
    readonly compute: (properties: P) => unknown,
    readonly answer: unknown,
    /** Kind of fact beside the properties: a changed fact may change the answer. */
    readonly on?: string,
  ) {
    this.#tree = tree;
  }

  /** The recorded answer to a query; undefined: not recorded. */
  find(key: string): PropertyAnswers<P> | undefined {
    return findFrom(this, key);
  }

  /** The list with an answer added. The tree keeps equal lists as the same object. */
  with(key: string, compute: (properties: P) => unknown, answer: unknown, on?: string): PropertyAnswers<P> {
    const next = this.#next;
    if (next !== undefined && next.key === key && next.answer === answer) return next;
    return this.#next = this.#child(key, compute, answer, on);
  }

  #child(key: string, compute: (properties: P) => unknown, answer: unknown, on?: string): PropertyAnswers<P> {
    const byAnswer = this.#children?.get(key);
    const known = byAnswer?.get(answer)?.deref();
    if (known !== undefined) return known;
    const child = new PropertyAnswers(this.#tree, this, key, compute, answer, on);
    const children = byAnswer ?? new Map();
    if (!this.#tree.grow(child, children)) return child;
    children.set(answer, new WeakRef(child));
    if (byAnswer === undefined) (this.#children ??= new Map()).set(key, children);
    return child;
  }

  /** Whether a source with these properties gives the same answers. */
  fits(properties: P): boolean {
    return allFit(this, properties);
  }

  /** As `fits`, for queries about changed facts only. */
  fitsAfter(isChanged: IsChanged<P>, properties: P): boolean {
    return allFitAfter(this, isChanged, properties);
  }
}

/** Whether facts of a kind changed for sources with these properties. */
export type IsChanged<P> = (kind: string, properties: P) => boolean;

function findFrom<P>(last: PropertyAnswers<P>, key: string): PropertyAnswers<P> | undefined {
  for (let node = last; node.before !== undefined; node = node.before) if (node.key === key) return node;
  return undefined;
}

function allFit<P>(last: PropertyAnswers<P>, properties: P): boolean {
  for (let node = last; node.before !== undefined; node = node.before) {
    if (node.compute(properties) !== node.answer) return false;
  }
  return true;
}

function allFitAfter<P>(last: PropertyAnswers<P>, isChanged: IsChanged<P>, properties: P): boolean {
  for (let node = last; node.before !== undefined; node = node.before) {
    if (node.on !== undefined && isChanged(node.on, properties) && node.compute(properties) !== node.answer) {
      return false;
    }
  }
  return true;
}

/** The most lists in a tree. A tree with more lists begins anew, because answers may be texts of clients. */
const MAX_NODES = 10_000;

/** The place of a node, for the time after the last use. */
interface Place {
  readonly children: Map<unknown, WeakRef<WeakKey>>;
  readonly answer: unknown;
}

/**
 * The lists of answers of results. A list is kept while a result uses the list. The tree has a single registry for all
 * nodes: `WeakTable` would need a registry for each node.
 */
export class PropertyTree<P> {
  #size = 0;
  readonly #gone = new FinalizationRegistry<Place>(({ children, answer }) => {
    if (children.get(answer)?.deref() !== undefined) return;
    children.delete(answer);
    this.#size = Math.max(0, this.#size - 1);
  });
  #root = this.#newRoot();

  /** No answers. */
  get root(): PropertyAnswers<P> {
    return this.#root;
  }

  /**
   * Counts a new node.
   *
   * @returns False: the tree began anew, and the node belongs to no tree.
   */
  grow(node: PropertyAnswers<P>, children: Map<unknown, WeakRef<WeakKey>>): boolean {
    if (this.#size++ < MAX_NODES) {
      this.#gone.register(node, { children, answer: node.answer });
      return true;
    }
    this.#size = 0;
    this.#root = this.#newRoot();
    return false;
  }

  #newRoot(): PropertyAnswers<P> {
    return new PropertyAnswers<P>(this, undefined, "", () => undefined, undefined);
  }
}

/**
 * Compares a source with many lists of answers. Every distinct list costs once. Use the check within a turn, while the
 * properties stay.
 */
export class PropertyCheck<P> {
  readonly #properties: P;
  readonly #known = new Map<PropertyAnswers<P>, boolean>();

  constructor(properties: P) {
    this.#properties = properties;
  }

  /** Whether the source answers all the queries in the same way. */
  fits(answers: PropertyAnswers<P>): boolean {
    let fits = this.#known.get(answers);
    if (fits === undefined) this.#known.set(answers, fits = answers.fits(this.#properties));
    return fits;
  }
}

/** A property query, with the common answer of results. */
export type PropertyQuery<P> = Pick<PropertyAnswers<P>, "key" | "compute" | "answer" | "on">;

function answersAlike<P>({ compute, answer }: PropertyQuery<P>, properties: P): boolean {
  return compute(properties) === answer;
}

/**
 * The property queries of results with common answers. Queries are never removed: a query of a former result may
 * separate more sources than needed, never fewer.
 */
export class AskedProperties<P> {
  readonly #all = new Map<string, PropertyQuery<P>>();
  /** The queries about facts beside the properties. */
  readonly #onFacts: (PropertyQuery<P> & { readonly on: string })[] = [];
  readonly #seen = new WeakSet<PropertyAnswers<P>>();
  #fresh: PropertyQuery<P>[] = [];
  /** The query with the last difference between sources. */
  #telling: PropertyQuery<P> | undefined;
  #fromEnd = false;

  /** Adds a query without a builder: the answer decides the form of all results. */
  require(key: string, compute: (properties: P) => unknown, answer: unknown): void {
    this.#all.set(key, { key, compute, answer });
  }

  /** Whether a query is about facts of an accepted kind. */
  dependsOn(isKind: (kind: string) => boolean): boolean {
    return this.#onFacts.some(({ on }) => isKind(on));
  }

  /** Whether a source with these properties gives the same answers to queries about changed facts. */
  fitsAfter(isChanged: IsChanged<P>, properties: P): boolean {
    return this.#onFacts.every((query) => !isChanged(query.on, properties) || answersAlike(query, properties));
  }

  /** Adds the queries of a result. */
  add(answers: PropertyAnswers<P>): void {
    for (let node = answers; node.before !== undefined; node = node.before) {
      if (this.#seen.has(node)) return; // the earlier nodes were added with this node
      this.#seen.add(node);
      if (this.#all.has(node.key)) continue;
      const { key, compute, answer, on } = node;
      const query = { key, compute, answer, ...on !== undefined && { on } };
      this.#all.set(key, query);
      this.#fresh.push(query);
      if (on !== undefined) this.#onFacts.push({ ...query, on });
    }
  }

  /**
   * Whether a source with these properties gives the same answers. Groups are mostly asked about sources of other
   * groups, and the last query with a difference usually differs again. So that query comes first.
   */
  fits(properties: P): boolean {
    if (this.#telling !== undefined && !answersAlike(this.#telling, properties)) return false;
    const differs = (query: PropertyQuery<P>) => !answersAlike(query, properties);
    // Of hundreds of queries "is it this namespace?" two differ for a source of another group: the query for the
    // source's namespace, and the query for the group's namespace. Only the second query helps with the next source,
    // and a search from alternating ends finds the second query soon.
    const found = this.#fromEnd ? [...this.#all.values()].findLast(differs) : this.#all.values().find(differs);
    if (found === undefined) return true;
    this.#telling = found;
    this.#fromEnd = !this.#fromEnd;
    return false;
  }

  /** The queries added since the last call. */
  takeFresh(): readonly PropertyQuery<P>[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }
}
