/**
 * The order in which name servers are asked: by chance, to spread the load, but those that lately gave no answer last.
 *
 * @module
 */
import type { NameServer } from "./transport.ts";

/** How long a server that gave no answer stays behind the others. */
export const AVOID_MS = 10_000;

/** Remembers which servers gave no answer. */
export class ServerOrder {
  readonly #avoidUntil = new Map<NameServer, number>();

  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The servers in the order in which to ask them now. */
  order(servers: readonly NameServer[], now: number): NameServer[] {
    const shuffled = servers.map((server) => ({ server, place: this.#random() }));
    if (shuffled.length === 1) return [...servers];
    const avoided = ({ server }: { server: NameServer }) => (this.#avoidUntil.get(server) ?? 0) > now ? 1 : 0;
    return shuffled.sort((a, b) => avoided(a) - avoided(b) || a.place - b.place).map(({ server }) => server);
  }

  /** A server gave no answer in time, or none that says anything. */
  silent(server: NameServer, now: number): void {
    this.#avoidUntil.set(server, now + AVOID_MS);
  }

  /** A server answered. */
  answered(server: NameServer): void {
    this.#avoidUntil.delete(server);
  }

  /** Forgets servers that are no longer used. */
  retain(servers: readonly NameServer[]): void {
    for (const server of this.#avoidUntil.keys()) if (!servers.includes(server)) this.#avoidUntil.delete(server);
  }
}
