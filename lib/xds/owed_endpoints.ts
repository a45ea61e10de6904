/**
 * The endpoints that streams owed their clients when they ended: those for which a cluster of the client warms. The
 * client will report that it knows them, and would wait for its fetch timeout.
 *
 * @module
 */
import { contentHash } from "../resource/encoded.ts";
import type { NameSet } from "../resource/name_set.ts";

/** Clients that are remembered. */
const MAX_CLIENTS = 10_000;
/** Names of all clients together; beyond, the oldest are forgotten. Equal sets are shared, so they take 5 MB at most. */
const MAX_NAMES = 500_000;

/** Remembers by node id, for as many clients as there is room for. */
export class OwedEndpoints {
  /** By the hash of the node id, the oldest first: an id is a text that a client chooses. */
  readonly #owed = new Map<string, NameSet>();
  #names = 0;

  /** A stream of a node has ended and owed these. */
  remember(nodeId: string, names: NameSet): void {
    this.take(nodeId);
    if (names.size === 0) return;
    this.#owed.set(contentHash(nodeId), names);
    this.#names += names.size;
    for (const oldest of this.#owed.keys()) {
      if (this.#owed.size <= MAX_CLIENTS && this.#names <= MAX_NAMES) break;
      this.#forget(oldest);
    }
  }

  /** Takes the endpoints owed to a node; they are forgotten by this. */
  take(nodeId: string): NameSet | undefined {
    return this.#forget(contentHash(nodeId));
  }

  #forget(key: string): NameSet | undefined {
    const names = this.#owed.get(key);
    if (names === undefined) return undefined;
    this.#owed.delete(key);
    this.#names -= names.size;
    return names;
  }

  /** Clients that are remembered now. */
  get size(): number {
    return this.#owed.size;
  }
}
