/**
 * The workloads of a set of addresses as bare messages, for clients that ask for this type. Few servers have such a
 * client, so the set is made when it is asked for. A change costs the changed resources.
 *
 * @module
 */
import type { Diff } from "../resource/diff.ts";
import type { ResourceSet } from "../resource/set.ts";
import { bareWorkload } from "./encode.ts";

/** The set of workloads, beside the set of addresses. */
export class WorkloadSet {
  #addresses: ResourceSet;
  #workloads: ResourceSet;
  readonly #between: (from: ResourceSet, to: ResourceSet) => Pick<Diff, "changed" | "removed">;

  /** @param empty the set without resources @param between the difference of two sets */
  constructor(
    empty: ResourceSet,
    between: (from: ResourceSet, to: ResourceSet) => Pick<Diff, "changed" | "removed">,
  ) {
    this.#addresses = empty;
    this.#workloads = empty;
    this.#between = between;
  }

  /** The workloads of the present addresses; the same object while their content stays. */
  of(addresses: ResourceSet): ResourceSet {
    if (addresses === this.#addresses) return this.#workloads;
    const { changed, removed } = this.#between(this.#addresses, addresses);
    this.#addresses = addresses;
    const workloads = changed.flatMap((resource) => bareWorkload(resource) ?? []);
    return this.#workloads = this.#workloads.with(workloads, removed);
  }
}
