/**
 * The endpoints that an ended stream still owed the client: some cluster of the client warms until the endpoints come.
 * After a reconnect the client reports the endpoints as known, and without an answer would wait for the fetch timeout.
 *
 * @module
 */
import { contentHash } from "../resource/encoded.ts";
import type { NameSet } from "../resource/name_set.ts";

/** Most remembered clients. */
const MAX_CLIENTS = 10_000;
/**
 * Most names of all clients together. Above the limit the oldest clients are forgotten. Equal sets are shared, so that
 * the names take at most 5 MB.
 */
const MAX_NAMES = 500_000;

/** Remembers by node id, for as many clients as there is room for. */
export class OwedEndpoints {
  /** By the hash of the node id, the oldest first. The hash bounds the length of a text chosen by a client. */
  readonly #owed = new Map<string, NameSet>();
  #names = 0;

  /** Remembers the names that an ended stream of a node owed. */
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

  /** Returns the endpoints owed to a node, and forgets them. */
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

  /** Number of remembered clients. */
  get size(): number {
    return this.#owed.size;
  }
}
