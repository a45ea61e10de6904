/**
 * The dependencies of results with a single source. After a change a stale result is computed again, and no record is
 * replayed. For results of several sources there is `BuildCache`.
 *
 * @module
 */
import { Dependents } from "./dependents.ts";
import type { InvalidatedKeys } from "./keys.ts";

/** The dependencies of results. A result without dependencies costs nothing. */
export class Dependencies {
  readonly #dependents = new Dependents();
  /** By result: kind and name of each thing, in turn. */
  readonly #things = new Map<string, readonly string[]>();

  /**
   * Replaces the dependencies of a result.
   *
   * @param things Kind and name of each thing, in turn.
   */
  set(result: string, things: readonly string[]): void {
    this.delete(result);
    if (things.length === 0) return;
    // A copy has no spare room: there may be many thousand results.
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

  /**
   * Forgets the results with changed dependencies.
   *
   * @returns The names of the results.
   */
  invalidate(keys: InvalidatedKeys): ReadonlySet<string> {
    const results = new Set(this.#dependents.affectedBy(keys));
    for (const result of results) this.delete(result);
    return results;
  }
}
