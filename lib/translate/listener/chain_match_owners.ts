/**
 * The hosts that own the connections at a listener.
 *
 * Envoy refuses a listener in which two chains match the same connections, so each pair of range and server name
 * belongs to the first host that asks for it.
 *
 * @module
 */
import { ALL_ADDRESSES, canonicalRange } from "./address.ts";
import type { TcpProxyPlan } from "../filters/network/tcp_proxy.ts";
import type { TcpChain } from "./contribution.ts";

/** The match of a chain, in canonical form. Empty lists: any. */
export interface ChainMatch {
  readonly ranges: readonly string[];
  readonly serverNames: readonly string[];
}

/** The host that owns a match. */
export interface ChainMatchOwner {
  readonly hostname: string;
  readonly http: boolean;
  /** Where its connections go; absent: that is decided by their requests. */
  readonly proxy?: TcpProxyPlan;
}

/** The free part of a match. */
export interface Remainder {
  /** The free matches, now the owner's: usually the match itself; several where only a part of it was free. */
  readonly free: readonly ChainMatch[];
  /** The first of the other hosts that have a part of it, and lead its connections to another place. */
  readonly taken?: ChainMatchOwner;
}

/**
 * The match of a chain.
 *
 * @returns Undefined when nothing can match it: names of a form that Envoy does not know, or no valid range among those
 * that are written.
 */
export function chainMatch(chain: Pick<TcpChain, "sni" | "cidrs">): ChainMatch | undefined {
  const ranges = unique(chain.cidrs.map(canonicalRange).filter((range) => range !== undefined));
  const serverNames = unique(chain.sni.filter(isServerName));
  if (chain.cidrs.length > 0 && ranges.length === 0) return undefined;
  if (chain.sni.length > 0 && serverNames.length === 0) return undefined;
  return {
    ranges: ranges.includes(ALL_ADDRESSES) ? [] : ranges,
    serverNames: serverNames.includes("*") ? [] : serverNames,
  };
}

/** A whole name, or one with `*.` in front; `*` alone is any. */
function isServerName(name: string): boolean {
  const rest = name.startsWith("*.") ? name.slice(2) : name;
  return name === "*" || rest !== "" && !rest.includes("*");
}

/** The owners of all matches at one listener. */
export class ChainMatchOwners {
  readonly #owners = new Map<string, ChainMatchOwner>();

  /** The owner of all connections that no other match takes. */
  get everything(): ChainMatchOwner | undefined {
    return this.#owners.get(key("", ""));
  }

  /** Frees the connections that no other match takes. */
  releaseEverything(): void {
    this.#owners.delete(key("", ""));
  }

  /** Gives an owner the free part of a match. */
  take(match: ChainMatch, owner: ChainMatchOwner): Remainder {
    const names = match.serverNames.length > 0 ? match.serverNames : [""];
    const freeByNames = new Map<string, { ranges: string[]; serverNames: string[] }>();
    let taken: ChainMatchOwner | undefined;
    for (const range of match.ranges.length > 0 ? match.ranges : [""]) {
      const free: string[] = [];
      for (const name of names) {
        const other = this.#owners.get(key(range, name));
        if (other) {
          if (other.hostname !== owner.hostname && !servesAlike(other, owner)) taken ??= other;
          continue;
        }
        this.#owners.set(key(range, name), owner);
        free.push(name);
      }
      if (free.length === 0) continue;
      const group = freeByNames.get(free.join(" "));
      if (group) group.ranges.push(range);
      else freeByNames.set(free.join(" "), { ranges: [range], serverNames: free });
    }
    const free = [...freeByNames.values()].map(({ ranges, serverNames }) => ({
      ranges: ranges.filter(notEmpty),
      serverNames: serverNames.filter(notEmpty),
    }));
    return taken ? { free, taken } : { free };
  }
}

/** Whether connections end alike with either owner, as those of two hosts do that one rule leads to one place. */
function servesAlike({ proxy: a }: ChainMatchOwner, { proxy: b }: ChainMatchOwner): boolean {
  return a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

function key(range: string, serverName: string): string {
  return `${range}|${serverName}`;
}

function notEmpty(text: string): boolean {
  return text !== "";
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)].sort();
}
