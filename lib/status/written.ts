/**
 * The status last written of each object, by which it is decided whether another one is worth a write.
 *
 * A meaning that changes is written. A pending change is written only when it lasts, so that an edit is one write, and
 * numbers alone are brought up to date rarely, so that proxies that come and go cause no write.
 *
 * @module
 */
import type { DesiredStatus } from "./desired.ts";

/** How long statements wait, milliseconds. */
export interface StatusPatience {
  /** A change that is not live on all proxies after this is said to be pending. */
  readonly pending: number;
  /** Numbers alone are written again after this. */
  readonly numbers: number;
}

interface Said {
  readonly meaning: string;
  readonly conditions: string;
  readonly at: number;
}

export class WrittenStatuses {
  readonly #patience: StatusPatience;
  readonly #said = new Map<string, Said>();
  /** Objects that are pending, with the generation and since when. */
  readonly #pending = new Map<string, { readonly generation: number; readonly since: number }>();

  constructor(patience: StatusPatience) {
    this.#patience = patience;
  }

  /** Objects whose statement waits for their proxies. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * Whether a status is to be written now; then it counts as said.
   *
   * @param uid The object's.
   * @param isPending Proxies do not have all of it yet.
   * @param now Milliseconds on a steady clock.
   */
  isDue(uid: string, desired: DesiredStatus, isPending: boolean, now: number): boolean {
    const said = this.#said.get(uid);
    const conditions = JSON.stringify(desired.conditions);
    if (!isPending) this.#pending.delete(uid);
    else {
      const known = this.#pending.get(uid);
      const since = known?.generation === desired.generation ? known.since : now;
      this.#pending.set(uid, { generation: desired.generation, since });
      if (said?.meaning !== desired.meaning && now - since < this.#patience.pending) return false;
    }
    if (said?.meaning === desired.meaning) {
      if (said.conditions === conditions || now - said.at < this.#patience.numbers) return false;
    }
    this.#said.set(uid, { meaning: desired.meaning, conditions, at: now });
    return true;
  }

  /** Forgets the objects that are not among these. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const map of [this.#said, this.#pending]) {
      for (const uid of map.keys()) if (!uids.has(uid)) map.delete(uid);
    }
  }
}
