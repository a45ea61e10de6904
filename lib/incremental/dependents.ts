/**
 * The results that depend on a thing.
 *
 * @module
 */
import type { InvalidatedKeys } from "./keys.ts";

/** The longest list of results; a longer list becomes a set. A set of two takes four times the memory of a list. */
const LONGEST_LIST = 8;

/** The results that depend on a thing: usually a single result, else a list or a set. */
type ResultNames = string | string[] | Set<string>;

/** Names of dependent results, by kind and name of the thing. */
export class Dependents {
  readonly #byKind = new Map<string, Map<string, ResultNames>>();
  #size = 0;

  /** The number of things that results depend on. */
  get size(): number {
    return this.#size;
  }

  /** The things of a kind with dependent results. */
  of(kind: string): ReadonlyMap<string, unknown> | undefined {
    return this.#byKind.get(kind);
  }

  /** The results that depend on the changed things. A result may come several times. */
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

  /** Adds a dependency of a result. */
  add(kind: string, name: string, result: string): void {
    let byName = this.#byKind.get(kind);
    if (!byName) this.#byKind.set(kind, byName = new Map());
    const there = byName.get(name);
    if (there === undefined) {
      byName.set(name, result);
      this.#size++;
    } else if (there instanceof Set) there.add(result);
    else if (typeof there === "string") {
      if (there !== result) byName.set(name, [there, result]);
    } else if (!there.includes(result)) {
      if (there.length < LONGEST_LIST) there.push(result);
      else byName.set(name, new Set(there).add(result));
    }
  }

  /** Removes a dependency of a result. */
  delete(kind: string, name: string, result: string): void {
    const byName = this.#byKind.get(kind);
    const there = byName?.get(name);
    if (there === undefined || !leavesNone(there, result)) return;
    byName!.delete(name);
    this.#size--;
  }
}

/**
 * Removes a result from a collection.
 *
 * @returns Whether the result was there, and was the last.
 */
function leavesNone(there: ResultNames, result: string): boolean {
  if (typeof there === "string") return there === result;
  if (there instanceof Set) return there.delete(result) && there.size === 0;
  const at = there.indexOf(result);
  if (at >= 0) there.splice(at, 1);
  return there.length === 0;
}
