/**
 * The order in which groups start, for two workers. Each worker runs a single group at a time.
 *
 * @module
 */
import type { TestGroup } from "./groups.ts";

/** The build that a group waits for. */
export type GroupNeed = NonNullable<TestGroup["needs"]>;

/** Groups that have not started. */
export class GroupQueue {
  readonly #groups: TestGroup[];
  readonly #builds: Readonly<Record<GroupNeed, Promise<unknown>>>;
  readonly #built = new Set<GroupNeed>();

  /** @param builds Each resolves when the groups with the need can start. */
  constructor(groups: readonly TestGroup[], builds: Readonly<Record<GroupNeed, Promise<unknown>>>) {
    this.#groups = [...groups];
    this.#builds = builds;
    for (const need of Object.keys(builds) as GroupNeed[]) void builds[need].then(() => this.#built.add(need));
  }

  /**
   * The next group; undefined at the end. Waits for a build if nothing else is left.
   *
   * @param waiting Whether the worker prefers groups that wait more than they compute.
   */
  async take(waiting: boolean): Promise<TestGroup | undefined> {
    await Promise.resolve(); // finished builds are noted
    while (this.#groups.length > 0) {
      const ready = this.#groups.filter(({ needs }) => needs === undefined || this.#built.has(needs));
      const next = ready.find(({ waits = false }) => waits === waiting) ?? ready[0];
      if (next !== undefined) return this.#groups.splice(this.#groups.indexOf(next), 1)[0];
      await Promise.race(this.#groups.map(({ needs }) => this.#builds[needs!]));
    }
  }

  /** Drops the groups that have not started. */
  clear(): void {
    this.#groups.length = 0;
  }
}
