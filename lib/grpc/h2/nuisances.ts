/**
 * Counts frames that are legal, or nearly so, but cost the server more than the client: control frames, resets, errors
 * of streams.
 *
 * @module
 */
import { ErrorCode } from "./constants.ts";
import { ConnectionError } from "./frames.ts";

/** Nuisances that a client may cause at once. */
const PATIENCE = 1000;
/** Nuisances forgiven each second. */
const FORGIVEN = 100;

/** The nuisances of one connection. */
export class Nuisances {
  #count = 0;
  #at: number;

  readonly #now: () => number;

  /** @param now clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /**
   * Counts a nuisance.
   *
   * @throws ConnectionError ENHANCE_YOUR_CALM for too many nuisances
   */
  add(): void {
    const now = this.#now();
    this.#count = Math.max(0, this.#count - (now - this.#at) * FORGIVEN / 1000) + 1;
    this.#at = now;
    if (this.#count > PATIENCE) throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, "too many control frames");
  }
}
