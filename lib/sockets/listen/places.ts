/**
 * The limit of a server's open connections. Each connection takes a place, also during the handshake.
 *
 * @module
 */

/** Places for connections. Listeners of one server may share the places. */
export class ConnectionPlaces {
  /** Number of taken places. */
  taken = 0;

  /** @param limit places in all; default 10,000 */
  constructor(readonly limit = 10_000) {}

  /** Takes a place; false when none is free. */
  take(): boolean {
    if (this.taken >= this.limit) return false;
    this.taken++;
    return true;
  }

  /** Gives a place back. */
  leave(): void {
    this.taken--;
  }
}
