/**
 * The ways into networks, and which of them a change concerns.
 *
 * @module
 */
import { samePlain } from "../registry/content.ts";
import type { NetworkEntrance } from "../registry/types.ts";

const NONE: readonly NetworkEntrance[] = Object.freeze([]);

export class EntranceIndex {
  #byNetwork: ReadonlyMap<string, readonly NetworkEntrance[]> = new Map();

  /** The entrances to a network; the same array while they are the same. */
  of(network: string): readonly NetworkEntrance[] {
    return this.#byNetwork.get(network) ?? NONE;
  }

  /** Takes all there are. @returns the networks that are entered by other ways now */
  update(all: ReadonlyMap<string, readonly NetworkEntrance[]>): Set<string> {
    const before = this.#byNetwork;
    const changed = new Set<string>();
    const now = new Map<string, readonly NetworkEntrance[]>();
    for (const network of new Set([...before.keys(), ...all.keys()])) {
      const [old = NONE, next = NONE] = [before.get(network), all.get(network)];
      const same = samePlain(old, next);
      if (!same) changed.add(network);
      if (next.length > 0) now.set(network, same ? old : next);
    }
    this.#byNetwork = now;
    return changed;
  }
}
