/**
 * The encoded resources of an index, one set for all tunnels. A resource keeps its version while its content does.
 *
 * @module
 */
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceSet, ResourceTable } from "../resource/set.ts";
import { encodeAddress } from "./encode.ts";
import type { AmbientIndex } from "./index.ts";

/** Resources encoded in a single step. */
const RESOURCES_A_STEP = 200;

/** The set of an index. */
export class AddressSet {
  readonly #index: Pick<AmbientIndex, "settle">;
  #set: ResourceSet;

  /** @param table the table of the sets of the server */
  constructor(index: Pick<AmbientIndex, "settle">, table: ResourceTable) {
    this.#index = index;
    this.#set = table.empty;
  }

  /** The resources at the end of the last {@linkcode AddressSet.settle}; the same object while their content stays. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Brings the set up to date, in steps of some milliseconds. @returns whether the set is another one */
  *settle(): Generator<void, boolean> {
    const before = this.#set;
    const { made, gone } = yield* this.#index.settle();
    const encoded: EncodedResource[] = [];
    for (const resource of made) {
      encoded.push(encodeAddress(resource));
      if (encoded.length % RESOURCES_A_STEP === 0) yield;
    }
    // A resource may move from a part to another: resources that are there win.
    this.#set = this.#set.with(encoded, gone);
    return this.#set !== before;
  }
}
