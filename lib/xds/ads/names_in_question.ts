/**
 * Names of one type whose existence must be told to the client: names that the client asked for or believes to exist,
 * and names about which the source decides later.
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
  /** Names that the response in flight answers. */
  #inFlight: NameSet;
  /** Names about which the source decides later. The client hears nothing of pending names. */
  #pending: PendingNames | undefined;

  constructor(table: InternedNames) {
    this.#table = table;
    this.#unsure = this.#inFlight = table.empty;
  }

  /** Memory of the names. */
  get bytes(): number {
    return this.#unsure.bytes + this.#inFlight.bytes + (this.#pending?.bytes ?? 0);
  }

  /** The client must hear of the absent among the given names. */
  add(names: NameSet): void {
    this.#unsure = this.#table.union(this.#unsure, names);
  }

  /** The client need not hear of the given names. */
  remove(names: NameSet): void {
    this.#unsure = this.#table.minus(this.#unsure, names);
    this.#inFlight = this.#table.minus(this.#inFlight, names);
  }

  /** The client has heard of all. */
  clear(): void {
    this.#unsure = this.#inFlight = this.#table.empty;
  }

  /**
   * A response tells the client of all absent names. The other names stay in question until the last response of an
   * answer: their resources may go before.
   *
   * @param want the resources that exist
   * @param isLast the response brings the client to all resources that it should have
   */
  dispatched(want: SetStack, isLast: boolean): void {
    const all = this.#unsure;
    this.#inFlight = isLast ? all : this.#table.of(this.missing(want));
    this.#unsure = isLast ? this.#table.empty : this.#table.minus(all, this.#inFlight);
  }

  /** The client has answered the response. What a client has rejected it has not heard. */
  answered(isRejected: boolean): void {
    if (this.#inFlight.size === 0) return;
    if (isRejected) this.add(this.#inFlight);
    this.#inFlight = this.#table.empty;
  }

  /** Names without a resource. */
  missing(want: SetStack): string[] {
    if (this.#unsure.size === 0) return [];
    // In the usual case all names exist. Counting settles the usual case by results that other streams have already
    // computed.
    let found = 0;
    for (const { set } of want) found += this.#unsure.select(set).size;
    if (found === this.#unsure.size) return [];
    return [...this.#unsure].filter((name) => !isNamedInStack(want, name));
  }

  /** The time at which the first pending name counts as absent, on the clock of `performance.now()`. */
  get pendingUntil(): number | undefined {
    return this.#pending?.next;
  }

  /** Whether the source has yet to decide about a name. */
  isPending(name: string): boolean {
    return this.#pending?.has(name) === true;
  }

  /** The source decides about the given names later. */
  postpone(names: ReadonlySet<string>, until: number): void {
    if (names.size === 0) return;
    this.#pending ??= new PendingNames();
    this.#pending.add(names, until);
    if (this.#unsure.size + this.#inFlight.size > 0) this.remove(this.#table.of(names));
  }

  /** The given names are no longer pending; `condition` selects among the names. See {@linkcode PendingNames.take}. */
  take(names?: Iterable<string>, condition?: (name: string) => boolean): string[] {
    return this.#pending?.take(names, condition) ?? [];
  }

  /** Removes and returns names that have been pending for too long. */
  takeLate(now: number): string[] {
    return this.#pending?.takeLate(now) ?? [];
  }
}
