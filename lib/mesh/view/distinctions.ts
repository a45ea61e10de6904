/**
 * The distinctions of namespaces: things that one sees and others do not, or see otherwise.
 *
 * Most of a mesh is exported to everybody. Two namespaces see the same when the same things distinguish them, of which
 * there are few, so the whole of what they see need not be compared.
 *
 * @module
 */

/** One thing that a namespace sees otherwise than one that nothing names. */
export interface Distinction {
  readonly kind: "services" | "virtualServices" | "destinationRules";
  /** Hosts (some may be wildcards) about which queries may have other answers. */
  readonly hosts: readonly string[];
  /** How the namespace sees it; equal for all that see it in the same way. */
  readonly how: string;
}

/** The distinctions of all namespaces, kept up to date thing by thing. */
export class Distinctions {
  readonly #byNamespace = new Map<string, Map<string, Distinction>>();
  /** Namespaces that a thing distinguishes. */
  readonly #byThing = new Map<string, readonly string[]>();
  readonly #texts = new Map<string, string>();
  #changed = new Set<string>();

  /**
   * Replaces the distinctions that come of a thing.
   *
   * @param thing Its identity.
   * @param namespaces Distinctions by namespace; empty: it distinguishes none, or is gone.
   */
  set(thing: string, namespaces: ReadonlyMap<string, Distinction>): void {
    const before = this.#byThing.get(thing);
    if (before === undefined && namespaces.size === 0) return;
    for (const namespace of before ?? []) if (!namespaces.has(namespace)) this.#put(namespace, thing, undefined);
    for (const [namespace, distinction] of namespaces) this.#put(namespace, thing, distinction);
    if (namespaces.size > 0) this.#byThing.set(thing, [...namespaces.keys()]);
    else this.#byThing.delete(thing);
  }

  #put(namespace: string, thing: string, distinction: Distinction | undefined): void {
    let own = this.#byNamespace.get(namespace);
    if (!own) this.#byNamespace.set(namespace, own = new Map());
    if (own.get(thing)?.how !== distinction?.how) {
      this.#changed.add(namespace);
      this.#texts.delete(namespace);
    }
    if (distinction) own.set(thing, distinction);
    else own.delete(thing);
    if (own.size === 0) this.#byNamespace.delete(namespace);
  }

  /** A text that is equal for namespaces that the same things distinguish in the same way; empty: nothing does. */
  of(namespace: string): string {
    const own = this.#byNamespace.get(namespace);
    if (!own) return "";
    let text = this.#texts.get(namespace);
    if (text === undefined) {
      text = JSON.stringify([...own].map(([thing, { how }]) => [thing, how]).sort());
      this.#texts.set(namespace, text);
    }
    return text;
  }

  /** The things that two namespaces see differently. */
  between(a: string, b: string): Distinction[] {
    const ofA = this.#byNamespace.get(a) ?? new Map<string, Distinction>();
    const ofB = this.#byNamespace.get(b) ?? new Map<string, Distinction>();
    const found: Distinction[] = [];
    for (const [thing, distinction] of ofA) if (ofB.get(thing)?.how !== distinction.how) found.push(distinction);
    for (const [thing, distinction] of ofB) if (ofA.get(thing)?.how !== distinction.how) found.push(distinction);
    return found;
  }

  /** The namespaces whose distinctions changed since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }
}
