/**
 * Which results depend on a thing.
 *
 * @module
 */
import type { InvalidatedKeys } from "./keys.ts";

/** Names of results by the things that they depend on: by kind, then by name. */
export class Dependents {
  /** A lone result, which is the rule, needs no set. */
  readonly #byKind = new Map<string, Map<string, string | Set<string>>>();
  #size = 0;

  /** How many things results depend on. */
  get size(): number {
    return this.#size;
  }

  /** The things of a kind on which results depend. */
  of(kind: string): ReadonlyMap<string, string | Set<string>> | undefined {
    return this.#byKind.get(kind);
  }

  /** The results that depend on what changed; some come more than once. */
  *affectedBy(keys: InvalidatedKeys): Iterable<string> {
    for (const kind of keys.kinds()) {
      const byName = this.#byKind.get(kind);
      for (const name of byName ? keys.among(kind, byName) : []) {
        const there = byName!.get(name)!;
        if (typeof there === "string") yield there;
        else yield* there;
      }
    }
  }

  /** Notes that a result depends on a thing. */
  add(kind: string, name: string, result: string): void {
    let byName = this.#byKind.get(kind);
    if (!byName) this.#byKind.set(kind, byName = new Map());
    const there = byName.get(name);
    if (there === undefined) {
      byName.set(name, result);
      this.#size++;
    } else if (typeof there !== "string") there.add(result);
    else if (there !== result) byName.set(name, new Set([there, result]));
  }

  /** Notes that it does so no more. */
  delete(kind: string, name: string, result: string): void {
    const byName = this.#byKind.get(kind);
    const there = byName?.get(name);
    const alone = typeof there === "object" ? there.delete(result) && there.size === 0 : there === result;
    if (!alone) return;
    byName!.delete(name);
    this.#size--;
  }
}
