/**
 * The statuses of refused objects. Refused objects are not in the store, so each refused version is looked at once.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import { isGatewayApiKind } from "../../config/kinds/kinds.ts";
import type { Kind } from "../../config/types.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { changeStatus, mergePatch, type StatusBearer, statusTime } from "../../status/write.ts";
import type { StatusWriter } from "../../status/writer.ts";
import type { RefusedKind } from "../sources/kind_feeds.ts";

export interface RefusedStatusesParts {
  readonly client: ApiClient;
  /** The objects whose present version is refused. */
  readonly refused: () => Iterable<RefusedKind>;
  /** The status that a refused object should have; undefined: the present status is right. */
  readonly wantedRefusal: (refused: RefusedKind, read: StatusBearer, now: string) => ApiJson | undefined;
}

export class RefusedStatuses {
  readonly #parts: RefusedStatusesParts;
  readonly #writer: StatusWriter;
  /** Generations of refused objects that were looked at, by uid. */
  readonly #seen = new Map<string, number>();

  constructor(parts: RefusedStatusesParts, writer: StatusWriter) {
    this.#parts = parts;
    this.#writer = writer;
  }

  /** Writes the statuses of versions that were refused since the last call. */
  look(): void {
    const { client, refused, wantedRefusal } = this.#parts;
    const present = new Set<string>();
    for (const one of refused()) {
      const { uid, key, place, generation } = one;
      if (!isGatewayApiKind(key.split("/", 1)[0] as Kind)) continue;
      present.add(uid);
      if (this.#seen.get(uid) === generation) continue;
      this.#seen.set(uid, generation);
      this.#writer.put(uid, async (signal) => {
        const change = (read: StatusBearer) => {
          if (read.generation !== generation) return undefined;
          const wanted = wantedRefusal(one, read, statusTime(client.clock));
          return wanted && mergePatch(read.status, wanted);
        };
        await changeStatus(client, place, uid, change, signal);
      });
    }
    for (const uid of this.#seen.keys()) if (!present.has(uid)) this.#seen.delete(uid);
  }
}
