/**
 * A client's subscription to one resource type, and the selected resources.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import { sameStack, selectStack, selectStackNear, type SetStack } from "./set_stack.ts";

/** Names that a subscription may gain and lose before the whole selection is made anew. */
const MANY_CHANGES = 64;

/** A client's subscription to one resource type. */
export class Subscription {
  /** Whether the client subscribed to everything that the server has for it. */
  wildcard = false;
  /** Names that may have come or gone since the last selection; undefined: too many names to go through. */
  #changed: string[] | undefined = [];
  #last: { all: SetStack; names: NameSet; wildcard: boolean; selected: SetStack } | undefined;
  #names: NameSet;

  /** Whether the client takes resources by name alone, so that a wildcard selects nothing. */
  readonly #byName: boolean;
  readonly #isChosen: () => boolean;

  /**
   * @param names the set without names
   * @param byName the client takes resources by name alone: a wildcard selects nothing
   * @param isChosen whether the visible resources are chosen for the client already, so that names select nothing more
   */
  constructor(names: NameSet, byName: boolean, isChosen: () => boolean) {
    this.#names = names;
    this.#byName = byName;
    this.#isChosen = isChosen;
  }

  /** Names subscribed to, without the wildcard. */
  get names(): NameSet {
    return this.#names;
  }

  /** Subscribes to other names. @param changed the names that may have come or gone */
  change(names: NameSet, ...changed: readonly NameSet[]): void {
    this.#names = names;
    for (const set of changed) {
      if (this.#changed === undefined) return;
      if (this.#changed.length + set.size > MANY_CHANGES) this.#changed = undefined;
      else this.#changed.push(...set);
    }
  }

  /** The selected part of all visible resources; the same stack while nothing differs. */
  select(all: SetStack): SetStack {
    const last = this.#last;
    const { names, wildcard } = this;
    if (last?.all === all && last.names === names && last.wildcard === wildcard) return last.selected;
    let selected = (wildcard && !this.#byName) || this.#isChosen() ? all : this.#selectNames(all, last);
    if (last !== undefined && sameStack(selected, last.selected)) selected = last.selected;
    this.#last = { all, names, wildcard, selected };
    this.#changed = [];
    return selected;
  }

  #selectNames(all: SetStack, last: { all: SetStack; names: NameSet } | undefined): SetStack {
    const changed = this.#changed;
    if (last?.all !== all || changed === undefined) return selectStack(all, this.#names);
    return selectStackNear(all, this.#names, last.names, changed);
  }
}
