/**
 * The queries of builders about the properties of their source, with the answers.
 *
 * Most results of one kind ask the same properties in the same order, so lists of answers are nodes of a tree: a result
 * keeps one node, results that asked alike keep the same one, and comparing a source with thousands of results costs a
 * comparison for each distinct node.
 *
 *     root ── type=sidecar ──┬── network=a ── ipMode=ipv4      (5,000 results)
 *                            └── network=b ── ipMode=ipv4      (20 results)
 *
 * @module
 */

/** One answer, after those that were recorded before it. */
export class PropertyAnswers<P> {
  readonly #tree: PropertyTree<P>;
  /** By query and answer; held weakly, since an answer may be a text that a client chose. */
  #children: Map<string, Map<unknown, WeakRef<PropertyAnswers<P>>>> | undefined;
  /** The answer that was recorded next the last time: most builds ask alike. It is kept, so of each list one. */
  #next: PropertyAnswers<P> | undefined;

  constructor(
    tree: PropertyTree<P>,
    readonly before: PropertyAnswers<P> | undefined,
    /** The identity of the query. */
    readonly key: string,
    readonly compute: (properties: P) => unknown,
    readonly answer: unknown,
  ) {
    this.#tree = tree;
  }

  /** The recorded answer to a query; undefined: not recorded. */
  find(key: string): PropertyAnswers<P> | undefined {
    return findFrom(this, key);
  }

  /** These answers and one more. Equal lists are one object while the tree keeps it. */
  with(key: string, compute: (properties: P) => unknown, answer: unknown): PropertyAnswers<P> {
    const next = this.#next;
    if (next !== undefined && next.key === key && next.answer === answer) return next;
    return this.#next = this.#child(key, compute, answer);
  }

  #child(key: string, compute: (properties: P) => unknown, answer: unknown): PropertyAnswers<P> {
    const byAnswer = this.#children?.get(key);
    const known = byAnswer?.get(answer)?.deref();
    if (known !== undefined) return known;
    const child = new PropertyAnswers(this.#tree, this, key, compute, answer);
    const children = byAnswer ?? new Map();
    if (!this.#tree.grow(child, children)) return child;
    children.set(answer, new WeakRef(child));
    if (byAnswer === undefined) (this.#children ??= new Map()).set(key, children);
    return child;
  }

  /** Whether a source with these properties answers all the queries in the same way. */
  fits(properties: P): boolean {
    return allFit(this, properties);
  }
}

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

/** Lists of answers that a tree keeps. Beyond, it begins anew: answers may be texts that clients choose. */
const MAX_NODES = 10_000;

/** Where a node is found, for the time when no result uses it any more. */
interface Place {
  readonly children: Map<unknown, WeakRef<WeakKey>>;
  readonly answer: unknown;
}

/** All lists of answers that some results share; a list is kept as long as a result uses it. */
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

  /** Counts one more node; false: the tree began anew, and the node belongs to no tree. */
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

/** Compares one source with many lists of answers; each distinct list costs once. For one turn: properties must stay. */
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

/** A query about properties, with the answer that some results share. */
export type PropertyQuery<P> = Pick<PropertyAnswers<P>, "key" | "compute" | "answer">;

function answersAlike<P>({ compute, answer }: PropertyQuery<P>, properties: P): boolean {
  return compute(properties) === answer;
}

/**
 * The queries about properties that some results asked together, and that all got one answer each. They only grow: a
 * query that no result asks any more separates more sources than needed, never fewer.
 */
export class AskedProperties<P> {
  readonly #all = new Map<string, PropertyQuery<P>>();
  readonly #seen = new WeakSet<PropertyAnswers<P>>();
  #fresh: PropertyQuery<P>[] = [];
  /** The query that last told sources apart. */
  #telling: PropertyQuery<P> | undefined;
  #fromEnd = false;

  /** Adds one that decides the form of all results, even if no builder asks it. */
  require(key: string, compute: (properties: P) => unknown, answer: unknown): void {
    this.#all.set(key, { key, compute, answer });
  }

  /** Whether one was asked. */
  has(key: string): boolean {
    return this.#all.has(key);
  }

  /** Adds those of one result. */
  add(answers: PropertyAnswers<P>): void {
    for (let node = answers; node.before !== undefined; node = node.before) {
      if (this.#seen.has(node)) return; // the nodes before it came with it
      this.#seen.add(node);
      if (this.#all.has(node.key)) continue;
      const { key, compute, answer } = node;
      this.#all.set(key, { key, compute, answer });
      this.#fresh.push({ key, compute, answer });
    }
  }

  /**
   * Whether a source with these properties gives the same answers to all. Groups are asked about sources of others far
   * more often than about their own, and the property that tells one source apart tells most: it is asked first.
   */
  fits(properties: P): boolean {
    if (this.#telling !== undefined && !answersAlike(this.#telling, properties)) return false;
    const differs = (query: PropertyQuery<P>) => !answersAlike(query, properties);
    // Of hundreds of queries "is it this namespace?" two differ for another one's source: its own, which tells nothing of
    // the next source, and the group's. From one end or the other the group's is the first to be met.
    const found = this.#fromEnd ? [...this.#all.values()].findLast(differs) : this.#all.values().find(differs);
    if (found === undefined) return true;
    this.#telling = found;
    this.#fromEnd = !this.#fromEnd;
    return false;
  }

  /** Those that came since the last call. */
  takeFresh(): readonly PropertyQuery<P>[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }
}
