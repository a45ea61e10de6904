/**
 * Host names of networks' gateways, such as the names of load balancers in some clouds (`RESOLVE_HOSTNAME_GATEWAYS`).
 * The server resolves the names, because EDS endpoints are addresses.
 *
 * Permissions: net (the name servers of this machine).
 *
 * @module
 */
import dns from "node:dns/promises";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import type { GatewayNames } from "../pipeline/networks.ts";

/** An answer of name servers. */
export interface NameAnswer {
  readonly addresses: readonly string[];
  /** Seconds for which the answer may be kept. */
  readonly ttl: number;
}

/** Asks for a name. Rejects when every name server failed to answer. "No such name" is an answer. */
export type NameQuestion = (name: string) => Promise<NameAnswer>;

/** Bounds of the time to keep an answer, seconds: a push follows each change, and no answer may last forever. */
const [SHORTEST, LONGEST] = [30, 3600];

/** Most names to resolve, in the order of their appearance. Each name is asked for again and again. */
const MOST_NAMES = 1000;

/**
 * Longest wait for the first answers, milliseconds: a name server that is away must not keep the server from starting.
 */
const FIRST_MS = 5000;

/** How the names are resolved. */
export interface ResolvedNamesParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Asks for a name. Default: the name servers of this machine. */
  readonly ask?: NameQuestion;
}

interface FollowedName {
  addresses: readonly string[];
  again: Cancel | undefined;
  isFollowed: boolean;
  /** The last question got no answer. */
  isTroubled: boolean;
}

/** Resolves the names of networks' gateways, and goes on asking until {@linkcode ResolvedNames.stop}. */
export class ResolvedNames implements GatewayNames {
  /** Called whenever a name has other addresses. */
  changed: () => void = () => {};
  readonly #parts: ResolvedNamesParts;
  readonly #ask: NameQuestion;
  readonly #names = new Map<string, FollowedName>();
  readonly #first = new Set<Promise<void>>();

  constructor(parts: ResolvedNamesParts) {
    this.#parts = parts;
    this.#ask = parts.ask ?? askNameServers;
  }

  follow(names: ReadonlySet<string>): (name: string) => readonly string[] {
    for (const name of this.#names.keys()) if (!names.has(name)) this.#forget(name);
    for (const name of names) {
      if (this.#names.has(name)) continue;
      if (this.#names.size >= MOST_NAMES) {
        this.#parts.log.warn("too many names of networks' gateways; the others are not resolved", { most: MOST_NAMES });
        break;
      }
      const followed = { addresses: [], again: undefined, isFollowed: true, isTroubled: false };
      this.#names.set(name, followed);
      const first = this.#resolve(name, followed).finally(() => this.#first.delete(first));
      this.#first.add(first);
    }
    return (name) => this.#names.get(name)?.addresses ?? [];
  }

  /** Resolves when each name was asked for once, and after `within` milliseconds (default: 5 s) at the latest. */
  async settled(within = FIRST_MS): Promise<void> {
    const late = new AbortController();
    const all = Promise.all(this.#first).finally(() => late.abort());
    await Promise.race([all, this.#parts.clock.sleep(within, late.signal).catch(() => {})]);
  }

  stop(): void {
    for (const name of this.#names.keys()) this.#forget(name);
  }

  #forget(name: string): void {
    const followed = this.#names.get(name);
    if (followed === undefined) return;
    followed.isFollowed = false;
    followed.again?.();
    this.#names.delete(name);
  }

  async #resolve(name: string, followed: FollowedName): Promise<void> {
    let ttl = SHORTEST;
    let addresses = followed.addresses;
    try {
      const answer = await this.#ask(name);
      addresses = answer.addresses.toSorted();
      followed.isTroubled = false;
      ttl = Math.min(Math.max(answer.ttl, SHORTEST), LONGEST);
    } catch (error) {
      const text = "the name of a network's gateway was not resolved; its last addresses stay";
      if (!followed.isTroubled) this.#parts.log.warn(text, { name, error });
      followed.isTroubled = true;
    }
    if (!followed.isFollowed) return;
    followed.again = this.#parts.clock.after(ttl * 1000, () => void this.#resolve(name, followed));
    if (addresses.join() === followed.addresses.join()) return;
    followed.addresses = addresses;
    this.changed();
  }
}

/** Error codes for an answer without addresses. */
const NOTHING = new Set(["ENOTFOUND", "ENODATA"]);

async function askNameServers(name: string): Promise<NameAnswer> {
  const options = { ttl: true } as const;
  const both = await Promise.allSettled([dns.resolve4(name, options), dns.resolve6(name, options)]);
  const failed = both.filter((one) => one.status === "rejected").map(({ reason }) => reason);
  if (failed.length === both.length && !failed.some(({ code }) => NOTHING.has(code))) throw failed[0];
  const records = both.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  return {
    addresses: [...new Set(records.map(({ address }) => address))],
    ttl: records.reduce((least, { ttl }) => Math.min(least, ttl), records.length === 0 ? SHORTEST : LONGEST),
  };
}
