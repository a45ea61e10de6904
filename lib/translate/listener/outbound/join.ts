/**
 * How parts of several hosts share one listener, or do not.
 *
 * | joins       | an HTTP listener                   | a TCP listener                | one that sniffs            |
 * |-------------|------------------------------------|-------------------------------|----------------------------|
 * | HTTP        | shares it: routes tell hosts apart | gets an HTTP side, if sniffed | shares its HTTP side       |
 * | TCP         | its chains beside HTTP             | its chains, where free        | its chains, where free     |
 * | sniffed     | HTTP only where bytes say so       | gets an HTTP side             | shares its HTTP side alone |
 *
 * Whatever finds no place is a conflict: reported, never silently lost.
 *
 * @module
 */
import { type ChainMatch, chainMatch, Claims } from "./claims.ts";
import type { ConflictReason, ListenerConflict, ListenerPart, TcpChain } from "../part.ts";
import { serverSpeaksFirst } from "../../port_protocol.ts";

/** The HTTP side of a listener. */
export interface HttpSide {
  readonly routeName: string;
  /** Only connections whose first bytes are HTTP; false: all. */
  readonly sniffed: boolean;
  readonly grpcWeb: boolean;
}

/** A chain that has its place. */
export interface PlacedChain {
  readonly chain: TcpChain;
  readonly match: ChainMatch;
}

/** What the parts of one listener come to. */
export interface JoinedListener {
  /** The part that made the listener: its binds and port hold. */
  readonly first: ListenerPart;
  readonly http?: HttpSide;
  readonly chains: readonly PlacedChain[];
  readonly conflicts: readonly ListenerConflict[];
  /** Keys of the config objects of all that changed the listener. */
  readonly causes: readonly string[];
}

interface Join {
  readonly first: ListenerPart;
  http: HttpSide | undefined;
  readonly chains: PlacedChain[];
  readonly claims: Claims;
  readonly conflicts: ListenerConflict[];
  readonly causes: Set<string>;
}

/**
 * Joins parts in the given order.
 *
 * @param parts At least one, all of one key, sorted by `compareParts`.
 */
export function joinParts(parts: readonly ListenerPart[]): JoinedListener | undefined {
  const [first] = parts;
  if (first === undefined) return undefined;
  const join: Join = { first, http: undefined, chains: [], claims: new Claims(), conflicts: [], causes: new Set() };
  for (const part of parts) joinPart(join, part);
  const { http, chains, conflicts, causes } = join;
  return { first, chains, conflicts, causes: [...causes], ...(http ? { http } : {}) };
}

function joinPart(join: Join, part: ListenerPart): void {
  // A port that an egress listener has for itself: hosts of later ones were left out on purpose.
  if (join.first.ownPort && !part.ownPort) return;
  const added = serverSpeaksFirstConflict(join, part)
    ? refuse(join, part, "serverSpeaksFirst")
    : joinByKind(join, part);
  if (added) { for (const cause of part.causes) join.causes.add(cause); }
  if (join.http && part.protocol === "GRPC-Web") join.http = { ...join.http, grpcWeb: true };
}

function serverSpeaksFirstConflict(join: Join, part: ListenerPart): boolean {
  if (part === join.first || join.first.protocol === part.protocol) return false;
  return serverSpeaksFirst(join.first.protocol) || serverSpeaksFirst(part.protocol);
}

/** Whether the part changed the listener. */
function joinByKind(join: Join, part: ListenerPart): boolean {
  switch (part.kind) {
    case "http":
      return join.http === undefined && addHttp(join, part);
    case "tcp":
      return addChains(join, part, part.chains);
    case "auto":
      return joinAuto(join, part);
  }
}

function joinAuto(join: Join, part: ListenerPart): boolean {
  const empty = join.http === undefined && join.chains.length === 0;
  if (empty || join.http === undefined) {
    const chains = addChains(join, part, part.chains);
    return addHttp(join, part) || chains;
  }
  if (!join.http.sniffed && join.chains.length === 0) {
    join.claims.releaseEverything();
    join.http = { ...join.http, sniffed: true };
    return addChains(join, part, part.chains);
  }
  const everything = join.claims.everything;
  if (everything?.hostname === part.hostname) return false;
  return refuse(join, part, "autoOverAuto", everything?.hostname);
}

function addHttp(join: Join, part: ListenerPart): boolean {
  const { routeName = "", sniffed = false } = part;
  const taken = sniffed ? undefined : join.claims.everything;
  if (taken) return refuse(join, part, "httpOverTcp", taken.hostname);
  if (!sniffed) join.claims.claim({ ranges: [], serverNames: [] }, { hostname: part.hostname, http: true });
  join.http = { routeName, sniffed, grpcWeb: false };
  return true;
}

function addChains(join: Join, part: ListenerPart, chains: readonly TcpChain[]): boolean {
  const before = join.chains.length;
  for (const chain of chains) addChain(join, part, chain);
  return join.chains.length > before;
}

function addChain(join: Join, part: ListenerPart, chain: TcpChain): void {
  const match = chainMatch(chain);
  if (match === undefined) {
    refuse(join, part, "unsupportedServerName");
    return;
  }
  const owner = { hostname: part.hostname, http: false };
  let { free, taken } = join.claims.claim(match, owner);
  if (taken && free.length === 0 && chain.fallbackSni) {
    const named = chainMatch({ sni: chain.fallbackSni, cidrs: chain.cidrs });
    if (named) ({ free, taken } = join.claims.claim(named, owner));
  }
  for (const place of free) join.chains.push({ chain, match: place });
  if (taken) refuse(join, part, taken.http ? "tcpOverHttp" : "tcpOverTcp", taken.hostname);
}

function refuse(join: Join, part: ListenerPart, reason: ConflictReason, accepted = join.first.hostname): false {
  join.conflicts.push({
    listener: part.key,
    reason,
    accepted,
    rejected: part.hostname,
    rejectedProtocol: part.protocol,
    causes: part.causes,
  });
  return false;
}
