/**
 * The hosts that own connections at a listener.
 *
 * Envoy refuses a listener if two chains match the same connections, so each pair of range and server name belongs to
 * the first host that takes the pair.
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

/** The owner of a match. */
export interface ChainMatchOwner {
  readonly hostname: string;
  readonly http: boolean;
  /** The destination of the connections. Absent: requests decide the destination. */
  readonly proxy?: TcpProxyPlan;
}

/** The free part of a match. */
export interface Remainder {
  /** Free matches, which the owner now has: usually the whole match, several matches if only a part was free. */
  readonly free: readonly ChainMatch[];
  /** The first other host that owns a part of the match and sends the connections to another destination. */
  readonly taken?: ChainMatchOwner;
}

/**
 * The match of a chain.
 *
 * @returns Undefined when nothing can match: no server name has a form that Envoy accepts, or no written range is
 * valid.
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

/** A server name is a whole name, optionally with `*.` in front. `*` alone means any. */
function isServerName(name: string): boolean {
  const rest = name.startsWith("*.") ? name.slice(2) : name;
  return name === "*" || rest !== "" && !rest.includes("*");
}

/** The owners of all matches at a listener. */
export class ChainMatchOwners {
  readonly #owners = new Map<string, ChainMatchOwner>();

  /** The owner of all connections without another match. */
  get everything(): ChainMatchOwner | undefined {
    return this.#owners.get(key("", ""));
  }

  /** Frees all connections without another match. */
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

/** Whether both owners treat connections alike. Two hosts do if a rule sends both to one destination. */
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
