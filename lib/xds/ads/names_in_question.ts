/**
 * Names of one type of which the client must hear whether they exist: those that it asked for or believes to exist, and
 * those of which the source says so later.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import type { InternedNames } from "../../resource/names.ts";
import { PendingNames } from "./pending_names.ts";
import { isNamedInStack, type SetStack } from "./set_stack.ts";

/** The names of one watch. */
export class NamesInQuestion {
  readonly #table: InternedNames;
  /** Names whose absence must be reported to the client. */
  #unsure: NameSet;
  /** Names that the source decides about later; the client hears nothing of them until then. */
  #pending: PendingNames | undefined;

  constructor(table: InternedNames) {
    this.#table = table;
    this.#unsure = table.empty;
  }

  /** Memory that they take. */
  get bytes(): number {
    return this.#unsure.bytes + (this.#pending?.bytes ?? 0);
  }

  /** The client is to hear of those that are absent. */
  add(names: NameSet): void {
    this.#unsure = this.#table.union(this.#unsure, names);
  }

  /** The client need not hear of these. */
  remove(names: NameSet): void {
    this.#unsure = this.#table.minus(this.#unsure, names);
  }

  /** The client has heard of all. */
  clear(): void {
    this.#unsure = this.#table.empty;
  }

  /** Those that do not exist. */
  missing(want: SetStack): string[] {
    if (this.#unsure.size === 0) return [];
    // The count settles the usual case with a result that other streams have computed already.
    let found = 0;
    for (const { set } of want) found += this.#unsure.select(set).size;
    if (found === this.#unsure.size) return [];
    return [...this.#unsure].filter((name) => !isNamedInStack(want, name));
  }

  /** When the first of those that are pending counts as absent, on the clock of `performance.now()`. */
  get pendingUntil(): number | undefined {
    return this.#pending?.next;
  }

  /** Whether the source has yet to decide about a name. */
  isPending(name: string): boolean {
    return this.#pending?.has(name) === true;
  }

  /** The source decides about these later. */
  postpone(names: ReadonlySet<string>, until: number): void {
    if (names.size === 0) return;
    this.#pending ??= new PendingNames();
    this.#pending.add(names, until);
    if (this.#unsure.size > 0) this.remove(this.#table.of(names));
  }

  /** These are pending no longer; `condition` says which of them. See {@linkcode PendingNames.take}. */
  take(names?: Iterable<string>, condition?: (name: string) => boolean): string[] {
    return this.#pending?.take(names, condition) ?? [];
  }

  /** Removes and returns those that have been pending for too long. */
  takeLate(now: number): string[] {
    return this.#pending?.takeLate(now) ?? [];
  }
}
