/**
 * The distinctions of namespaces: things with another look from a namespace.
 *
 * Most of a mesh is exported to everybody. Two namespaces have the same view if the same things distinguish them. Few
 * things distinguish namespaces, so whole views need not be compared.
 *
 * @module
 */

/** A thing with another look from a namespace than from an unnamed namespace. */
export interface Distinction {
  readonly kind: "services" | "virtualServices" | "destinationRules";
  /** Hosts, possibly wildcards, about which queries may have other answers. */
  readonly hosts: readonly string[];
  /** The look of the thing. Equal for namespaces with the same look. */
  readonly how: string;
}

/** The distinctions of all namespaces, kept up to date thing by thing. */
export class Distinctions {
  readonly #byNamespace = new Map<string, Map<string, Distinction>>();
  /** Namespaces distinguished by a thing. */
  readonly #byThing = new Map<string, readonly string[]>();
  readonly #texts = new Map<string, string>();
  #changed = new Set<string>();

  /**
   * Replaces the distinctions of a thing.
   *
   * @param thing Identity of the thing.
   * @param namespaces Distinctions by namespace. Empty: the thing distinguishes no namespace, or is gone.
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

  /** A text, equal for namespaces with equal distinctions. Empty: no distinction. */
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

  /** The differences between two namespaces. */
  between(a: string, b: string): Distinction[] {
    const ofA = this.#byNamespace.get(a) ?? new Map<string, Distinction>();
    const ofB = this.#byNamespace.get(b) ?? new Map<string, Distinction>();
    const found: Distinction[] = [];
    for (const [thing, distinction] of ofA) if (ofB.get(thing)?.how !== distinction.how) found.push(distinction);
    for (const [thing, distinction] of ofB) if (ofA.get(thing)?.how !== distinction.how) found.push(distinction);
    return found;
  }

  /** The namespaces with changed distinctions since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }
}
