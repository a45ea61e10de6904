/**
 * The inputs of a derivation by group.
 *
 * @module
 */
import type { DerivationInput, SharedDerivation } from "./derivation.ts";

/** Marks the name of a group among keys of inputs, which begin with a kind. */
const MARK = "group:";

const NONE: readonly DerivationInput[] = Object.freeze([]);

/** Keeps the members of groups. */
export class InputGroups {
  readonly #shared: SharedDerivation | undefined;
  /** By name of the group, then by key of the input. */
  readonly #members = new Map<string, Map<string, DerivationInput>>();
  /** Sorted members of groups that were asked for. */
  readonly #sorted = new Map<string, readonly DerivationInput[]>();

  /** @param shared Undefined: there are no groups. */
  constructor(shared: SharedDerivation | undefined) {
    this.#shared = shared;
  }

  /** Adds an input. @returns the marked names of the input's groups */
  add(input: DerivationInput): string[] {
    return this.#groupsOf(input).map((group) => {
      const members = this.#members.get(group) ?? new Map<string, DerivationInput>();
      this.#members.set(group, members.set(input.key, input));
      this.#sorted.delete(group);
      return MARK + group;
    });
  }

  /** Removes an input. @returns the marked names of the input's former groups */
  remove(input: DerivationInput): string[] {
    return this.#groupsOf(input).map((group) => {
      const members = this.#members.get(group);
      members?.delete(input.key);
      this.#sorted.delete(group);
      if (members?.size === 0) this.#members.delete(group);
      return MARK + group;
    });
  }

  /** The members of a group by its marked name, in order of their keys. */
  get(marked: string): readonly DerivationInput[] {
    return this.members(nameOfGroup(marked) ?? "");
  }

  /** The members of a group by its name, in order of their keys. The same list until a member changes. */
  members(group: string): readonly DerivationInput[] {
    const known = this.#sorted.get(group);
    if (known !== undefined) return known;
    const members = this.#members.get(group);
    if (members === undefined) return NONE;
    const sorted = [...members.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#sorted.set(group, sorted);
    return sorted;
  }

  #groupsOf(input: DerivationInput): string[] {
    return [...new Set(this.#shared?.groupsOf(input) ?? [])];
  }
}

/** The name of a group without the mark; undefined: no mark. */
export function nameOfGroup(marked: string): string | undefined {
  return marked.startsWith(MARK) ? marked.slice(MARK.length) : undefined;
}
