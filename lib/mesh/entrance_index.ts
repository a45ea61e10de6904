/**
 * The ways into networks.
 *
 * @module
 */
import { samePlain } from "../registry/content.ts";
import type { NetworkEntrance } from "../registry/types.ts";

const NONE: readonly NetworkEntrance[] = Object.freeze([]);

export class EntranceIndex {
  readonly #takesHbone: boolean;
  #byNetwork: ReadonlyMap<string, readonly NetworkEntrance[]> = new Map();

  /** @param takesHbone False: gateways that take HBONE do not count. */
  constructor(takesHbone: boolean) {
    this.#takesHbone = takesHbone;
  }

  /** The entrances to a network. The same array until an entrance changes. */
  of(network: string): readonly NetworkEntrance[] {
    return this.#byNetwork.get(network) ?? NONE;
  }

  /**
   * Replaces all entrances.
   *
   * @returns The networks with changed entrances.
   */
  update(all: ReadonlyMap<string, readonly NetworkEntrance[]>): Set<string> {
    const before = this.#byNetwork;
    const changed = new Set<string>();
    const now = new Map<string, readonly NetworkEntrance[]>();
    for (const network of new Set([...before.keys(), ...all.keys()])) {
      const [old = NONE, reported = NONE] = [before.get(network), all.get(network)];
      const next = this.#takesHbone ? reported : reported.filter(({ hbone }) => !hbone);
      const same = samePlain(old, next);
      if (!same) changed.add(network);
      if (next.length > 0) now.set(network, same ? old : next);
    }
    this.#byNetwork = now;
    return changed;
  }
}
