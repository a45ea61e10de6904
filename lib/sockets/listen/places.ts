/**
 * Connections that a server has open at once, those in the midst of a handshake included: each takes a place.
 *
 * @module
 */

/** Places for connections. Listeners of one server may share them. */
export class ConnectionPlaces {
  /** Places that are taken. */
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
