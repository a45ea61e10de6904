/**
 * The status last written of each object, to decide whether another status is worth a write.
 *
 * A change of meaning is written. A pending change is written only when it lasts, so an edit is a single write. Changed
 * changes of only numbers are written rarely, so proxies that come and go cause no writes.
 *
 * @module
 */
import type { DesiredStatus } from "./desired.ts";

/** How long writes wait, milliseconds. */
export interface StatusPatience {
  /** Time after which a change that is not live on all proxies is reported as pending. */
  readonly pending: number;
  /** Time until a change of only numbers is written. */
  readonly numbers: number;
}

interface WrittenStatus {
  readonly meaning: string;
  readonly conditions: string;
  readonly at: number;
}

/** The statuses last written. */
export class WrittenStatuses {
  readonly #patience: StatusPatience;
  readonly #written = new Map<string, WrittenStatus>();
  /** Pending objects, with the generation and the time since when the object is pending. */
  readonly #pending = new Map<string, { readonly generation: number; readonly since: number }>();

  constructor(patience: StatusPatience) {
    this.#patience = patience;
  }

  /** Number of objects whose status waits for proxies. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * Whether a status is to be written now. If so, the status is noted as written.
   *
   * @param uid Uid of the object.
   * @param isPending Whether some proxies do not have all resources of the object yet.
   * @param now Milliseconds on a steady clock.
   */
  isDue(uid: string, desired: DesiredStatus, isPending: boolean, now: number): boolean {
    const written = this.#written.get(uid);
    const conditions = JSON.stringify(desired.conditions);
    if (!isPending) this.#pending.delete(uid);
    else {
      const known = this.#pending.get(uid);
      const since = known?.generation === desired.generation ? known.since : now;
      this.#pending.set(uid, { generation: desired.generation, since });
      if (written?.meaning !== desired.meaning && now - since < this.#patience.pending) return false;
    }
    if (written?.meaning === desired.meaning) {
      if (written.conditions === conditions || now - written.at < this.#patience.numbers) return false;
    }
    this.#written.set(uid, { meaning: desired.meaning, conditions, at: now });
    return true;
  }

  /** Drops objects that are not in `uids`. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const map of [this.#written, this.#pending]) {
      for (const uid of map.keys()) if (!uids.has(uid)) map.delete(uid);
    }
  }
}
