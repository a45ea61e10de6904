/**
 * A search by trials for the fewest suspects without which a resource is accepted.
 *
 * The first suspect is tried alone, then all suspects, then halves. With k culprits among n suspects the search takes
 * about k log n trials. The search assumes that leaving out more suspects does not make things worse.
 *
 *     first alone ──accepted──> found
 *          └─rejected─> all ──rejected──> they do not explain it
 *                        └─accepted─> halves ──> a culprit ──> the rest without it ... ──> found
 *
 * @module
 */

/**
 * The state of the search: the suspects to leave out in the next trial or for good, or that leaving suspects out does
 * not help.
 */
export type FewestState =
  | { readonly is: "trying"; readonly without: readonly string[] }
  | { readonly is: "found"; readonly without: readonly string[] }
  | { readonly is: "helpless" };

export class FewestSearch {
  readonly #suspects: readonly string[];
  #state: FewestState;
  #phase: "first" | "all" | "halves" | "check" = "first";
  /** The known culprits. */
  #culprits: readonly string[] = [];
  /** Leaving out the suspects before this number, together with the culprits, is known to help. */
  #enough = 0;
  /** Leaving out the suspects before this number, together with the culprits, is known not to help. */
  #tooFew = 0;

  /** @param suspects The most suspicious first. */
  constructor(suspects: readonly string[]) {
    this.#suspects = suspects;
    const [first] = suspects;
    this.#state = first === undefined ? { is: "helpless" } : { is: "trying", without: [first] };
  }

  get state(): FewestState {
    return this.#state;
  }

  /** The resource without the suspects of the state was accepted, or rejected. */
  answer(accepted: boolean): void {
    if (this.#state.is !== "trying") return;
    switch (this.#phase) {
      case "first":
        return this.#first(accepted);
      case "all":
        if (!accepted) return void (this.#state = { is: "helpless" });
        this.#enough = this.#suspects.length;
        this.#tooFew = 1;
        return this.#halve();
      case "halves": {
        const middle = this.#middle;
        if (accepted) this.#enough = middle;
        else this.#tooFew = middle;
        return this.#halve();
      }
      case "check":
        if (accepted) return void (this.#state = { is: "found", without: this.#culprits });
        this.#tooFew = 0;
        return this.#halve();
    }
  }

  #first(accepted: boolean): void {
    if (accepted) return void (this.#state = { is: "found", without: this.#suspects.slice(0, 1) });
    if (this.#suspects.length === 1) return void (this.#state = { is: "helpless" });
    this.#phase = "all";
    this.#state = { is: "trying", without: this.#suspects };
  }

  get #middle(): number {
    return (this.#enough + this.#tooFew) >> 1;
  }

  #halve(): void {
    if (this.#enough - this.#tooFew > 1) {
      this.#phase = "halves";
      this.#state = { is: "trying", without: [...this.#culprits, ...this.#suspects.slice(0, this.#middle)] };
      return;
    }
    const culprit = this.#suspects[this.#enough - 1]!;
    this.#culprits = [...this.#culprits, culprit];
    this.#enough--;
    // The accepted trial left out nothing but the culprits.
    if (this.#enough === 0) return void (this.#state = { is: "found", without: this.#culprits });
    this.#phase = "check";
    this.#state = { is: "trying", without: this.#culprits };
  }
}
