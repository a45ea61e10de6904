/**
 * The dependencies of results, where there is one result of a name and one source: a change makes it be computed again,
 * and nothing is replayed. Where several sources may share results there is a `BuildCache`.
 *
 * @module
 */
import { Dependents } from "./dependents.ts";
import type { InvalidatedKeys } from "./keys.ts";

/** The things that results depend on. A result that depends on nothing costs nothing. */
export class Dependencies {
  readonly #dependents = new Dependents();
  /** By result: kind and name of each thing, one after the other. */
  readonly #things = new Map<string, readonly string[]>();

  /**
   * Notes the dependencies of a result, in place of its former ones.
   *
   * @param things Kind and name of each thing, one after the other.
   */
  set(result: string, things: readonly string[]): void {
    this.delete(result);
    if (things.length === 0) return;
    // A copy has just the room that it needs: there may be many thousand results.
    this.#things.set(result, things.slice());
    for (let at = 0; at < things.length; at += 2) this.#dependents.add(things[at]!, things[at + 1]!, result);
  }

  /** Forgets a result. */
  delete(result: string): void {
    const things = this.#things.get(result);
    if (things === undefined) return;
    this.#things.delete(result);
    for (let at = 0; at < things.length; at += 2) this.#dependents.delete(things[at]!, things[at + 1]!, result);
  }

  /** Forgets the results that depend on the changed things. @returns their names */
  invalidate(keys: InvalidatedKeys): ReadonlySet<string> {
    const results = new Set(this.#dependents.affectedBy(keys));
    for (const result of results) this.delete(result);
    return results;
  }
}
