/**
 * The bound of answers about hosts outside of the mesh, for all sidecars of a server.
 *
 * Each such host gets a virtual host of its own, which no other sidecar may need. A sidecar alone is bounded, but a
 * workload may have hundreds of sidecars. When all sidecars together have too many such virtual hosts, a sidecar that
 * asks for more gets the whole route configuration, which all sidecars share. The sidecar then asks no more, and its
 * virtual hosts are forgotten.
 *
 * @module
 */

/** Most virtual hosts of unknown hosts in all. */
const MAX_UNKNOWN = 100_000;

/** Virtual hosts that a route configuration may always have, so that other sidecars do not change its answers. */
const FREE = 16;

export class UnknownHosts {
  readonly #max: number;
  #all = 0;

  /** @param max Default: 100,000. */
  constructor(max = MAX_UNKNOWN) {
    this.#max = max;
  }

  /** Virtual hosts of unknown hosts at present. */
  get size(): number {
    return this.#all;
  }

  /**
   * A route configuration has another number of such virtual hosts.
   *
   * @returns false: there are too many; the number stays as before
   */
  change(before: number, now: number): boolean {
    if (now > before && now > FREE && this.#all - before + now > this.#max) return false;
    this.#all += now - before;
    return true;
  }
}
