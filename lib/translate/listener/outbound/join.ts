/**
 * How contributions of several hosts share a listener, or do not.
 *
 * | joins       | an HTTP listener                   | a TCP listener                | one that sniffs            |
 * |-------------|------------------------------------|-------------------------------|----------------------------|
 * | HTTP        | shares it: routes select the host  | gets an HTTP side, if sniffed | shares its HTTP side       |
 * | TCP         | its chains beside HTTP             | its chains, where free        | its chains, where free     |
 * | sniffed     | HTTP only where bytes say so       | gets an HTTP side             | shares its HTTP side alone |
 *
 * A contribution without a place is a conflict: reported, never silently lost.
 *
 * @module
 */
import { type ChainMatch, chainMatch, ChainMatchOwners } from "../chain_match_owners.ts";
import type { ConflictReason, ListenerConflict } from "../conflict.ts";
import type { ListenerContribution, TcpChain } from "../contribution.ts";
import { serverSpeaksFirst } from "../../service/protocol.ts";

/** The HTTP side of a listener. */
export interface HttpSide {
  readonly routeName: string;
  /** Only connections whose first bytes are HTTP. False: all connections. */
  readonly sniffed: boolean;
  readonly grpcWeb: boolean;
}

/** A chain with its match. */
export interface PlacedChain {
  readonly chain: TcpChain;
  readonly match: ChainMatch;
}

/** The joined contributions of a listener. */
export interface JoinedListener {
  /** The contribution that made the listener and sets binds and port. */
  readonly first: ListenerContribution;
  readonly http?: HttpSide;
  readonly chains: readonly PlacedChain[];
  readonly conflicts: readonly ListenerConflict[];
  /** Keys of all configuration objects that changed the listener. */
  readonly causes: readonly string[];
}

interface Join {
  readonly first: ListenerContribution;
  http: HttpSide | undefined;
  readonly chains: PlacedChain[];
  readonly owners: ChainMatchOwners;
  readonly conflicts: ListenerConflict[];
  readonly causes: Set<string>;
}

/**
 * Joins contributions in the given order.
 *
 * @param contributions At least one, all with the same key, sorted by `compareContributions`.
 */
export function joinContributions(contributions: readonly ListenerContribution[]): JoinedListener | undefined {
  const [first] = contributions;
  if (first === undefined) return undefined;
  const join: Join = {
    first,
    http: undefined,
    chains: [],
    owners: new ChainMatchOwners(),
    conflicts: [],
    causes: new Set(),
  };
  for (const contribution of contributions) joinContribution(join, contribution);
  const { http, chains, conflicts, causes } = join;
  return { first, chains, conflicts, causes: [...causes], ...(http ? { http } : {}) };
}

function joinContribution(join: Join, contribution: ListenerContribution): void {
  // An egress listener's own port deliberately excludes hosts of later egress listeners.
  if (join.first.ownPort && !contribution.ownPort) return;
  const added = serverSpeaksFirstConflict(join, contribution)
    ? refuse(join, contribution, "serverSpeaksFirst")
    : joinByKind(join, contribution);
  if (added) { for (const cause of contribution.causes) join.causes.add(cause); }
  if (join.http && contribution.protocol === "GRPC-Web") join.http = { ...join.http, grpcWeb: true };
}

function serverSpeaksFirstConflict(join: Join, contribution: ListenerContribution): boolean {
  if (contribution === join.first || join.first.protocol === contribution.protocol) return false;
  return serverSpeaksFirst(join.first.protocol) || serverSpeaksFirst(contribution.protocol);
}

/** Whether the contribution changed the listener. */
function joinByKind(join: Join, contribution: ListenerContribution): boolean {
  switch (contribution.kind) {
    case "http":
      return join.http === undefined && addHttp(join, contribution);
    case "tcp":
      return addChains(join, contribution, contribution.chains);
    case "auto":
      return joinAuto(join, contribution);
  }
}

function joinAuto(join: Join, contribution: ListenerContribution): boolean {
  const empty = join.http === undefined && join.chains.length === 0;
  if (empty || join.http === undefined) {
    const chains = addChains(join, contribution, contribution.chains);
    return addHttp(join, contribution) || chains;
  }
  if (!join.http.sniffed && join.chains.length === 0) {
    join.owners.releaseEverything();
    join.http = { ...join.http, sniffed: true };
    return addChains(join, contribution, contribution.chains);
  }
  const everything = join.owners.everything;
  if (everything?.hostname === contribution.hostname) return false;
  return refuse(join, contribution, "autoOverAuto", everything?.hostname);
}

function addHttp(join: Join, contribution: ListenerContribution): boolean {
  const { routeName = "", sniffed = false } = contribution;
  const taken = sniffed ? undefined : join.owners.everything;
  if (taken) return refuse(join, contribution, "httpOverTcp", taken.hostname);
  if (!sniffed) join.owners.take({ ranges: [], serverNames: [] }, { hostname: contribution.hostname, http: true });
  join.http = { routeName, sniffed, grpcWeb: false };
  return true;
}

function addChains(join: Join, contribution: ListenerContribution, chains: readonly TcpChain[]): boolean {
  const before = join.chains.length;
  for (const chain of chains) addChain(join, contribution, chain);
  return join.chains.length > before;
}

function addChain(join: Join, contribution: ListenerContribution, chain: TcpChain): void {
  const match = chainMatch(chain);
  if (match === undefined) {
    refuse(join, contribution, "unsupportedServerName");
    return;
  }
  const owner = { hostname: contribution.hostname, http: false, proxy: chain.proxy };
  let { free, taken } = join.owners.take(match, owner);
  if (taken && free.length === 0 && chain.fallbackSni) {
    const named = chainMatch({ sni: chain.fallbackSni, cidrs: chain.cidrs });
    if (named) ({ free, taken } = join.owners.take(named, owner));
  }
  for (const place of free) join.chains.push({ chain, match: place });
  if (taken) refuse(join, contribution, taken.http ? "tcpOverHttp" : "tcpOverTcp", taken.hostname);
}

function refuse(
  join: Join,
  contribution: ListenerContribution,
  reason: ConflictReason,
  accepted = join.first.hostname,
): false {
  join.conflicts.push({
    listener: contribution.key,
    reason,
    accepted,
    rejected: contribution.hostname,
    rejectedProtocol: contribution.protocol,
    causes: contribution.causes,
  });
  return false;
}
