/**
 * The bound of answers about hosts outside of the mesh, for all sidecars of a server.
 *
 * Each such host gets a virtual host of its own, which no other sidecar may need. A sidecar alone is bounded, but a
 * workload may have hundreds of sidecars. When all sidecars together have too many such virtual hosts, the namespace
 * with the most loses some: a sidecar of the namespace gets the whole route configuration, which all sidecars share. The
 * sidecar then asks no more, and its virtual hosts are forgotten. So a workload that calls very many hosts makes no
 * sidecar of another namespace larger.
 *
 * @module
 */

/** Most virtual hosts of unknown hosts in all. */
const MAX_UNKNOWN = 100_000;

/** Virtual hosts that a route configuration may always have, so that other sidecars do not change its answers. */
export const FREE_UNKNOWN = 16;

/** A sidecar with virtual hosts of unknown hosts. */
export interface UnknownHolder {
  /** The proven namespace. Empty: nothing is proven; such sidecars count as one namespace. */
  readonly namespace: string;
  /** Virtual hosts of the sidecar's route configuration with the most, if they are more than {@linkcode FREE_UNKNOWN}. */
  readonly unknown: number;
  /** The sidecar gets that route configuration whole. @returns the number of forgotten virtual hosts */
  giveUp(): number;
}

/** The sidecars of a namespace with their number of virtual hosts. */
interface UnknownShare {
  all: number;
  readonly holders: Map<UnknownHolder, number>;
}

export class UnknownHosts {
  readonly #max: number;
  readonly #shares = new Map<string, UnknownShare>();
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
   * A route configuration of a sidecar has another number of such virtual hosts.
   *
   * @returns false: there are too many; the number stays as before
   */
  change(holder: UnknownHolder, before: number, now: number): boolean {
    if (now > before && now > FREE_UNKNOWN && !this.#makeRoom(holder, now - before)) return false;
    this.#add(holder, now - before);
    return true;
  }

  /** @returns false: no other namespace has more than the namespace of the holder */
  #makeRoom({ namespace }: UnknownHolder, more: number): boolean {
    while (this.#all + more > this.#max) {
      let largest = namespace;
      let most = (this.#shares.get(namespace)?.all ?? 0) + more;
      for (const [name, { all }] of this.#shares) if (all > most) [largest, most] = [name, all];
      const found = largest === namespace ? undefined : this.#largestOf(largest);
      if (found === undefined) return false;
      this.#add(found, -found.giveUp());
    }
    return true;
  }

  /** The sidecar of a namespace with the most virtual hosts that may be forgotten. */
  #largestOf(namespace: string): UnknownHolder | undefined {
    let found: UnknownHolder | undefined;
    for (const one of this.#shares.get(namespace)!.holders.keys()) if (one.unknown > (found?.unknown ?? 0)) found = one;
    return found;
  }

  #add(holder: UnknownHolder, more: number): void {
    if (more === 0) return;
    this.#all += more;
    const share = this.#shares.getOrInsertComputed(holder.namespace, () => ({ all: 0, holders: new Map() }));
    share.all += more;
    const own = (share.holders.get(holder) ?? 0) + more;
    if (own > 0) share.holders.set(holder, own);
    else share.holders.delete(holder);
    if (share.holders.size === 0) this.#shares.delete(holder.namespace);
  }
}
