/**
 * The entries of one host in the lookup table. They depend on the host and the workload alone, so it is kept from one
 * table to the next: a new table costs what changed.
 *
 * @module
 */
import { nameToWire } from "../packet/name.ts";
import { MAX_NAME } from "../packet/wire.ts";
import { type HostRecords, hostRecords } from "./addresses.ts";
import type { Locality, NameInfo } from "./types.ts";
import { hostNames, trimmed } from "./variants.ts";

/** The meaning of a name. */
export interface Known extends HostRecords {
  /** Bytes of the search domain behind the known name, 0 when there is none; the root byte is not counted. */
  readonly aliasTail: number;
}

/** One name of a host. */
export interface HostName {
  /** Lower case, without the dot at its end. */
  readonly text: string;
  /** Whether it starts with `*.`, which its bytes leave out. */
  readonly wild: boolean;
  /** Undefined when the text is no name. */
  readonly wire: Uint8Array | undefined;
  readonly known: Known;
  /** The name followed by the search domain; undefined without one, or when that would be too long to be asked for. */
  readonly alias: { readonly text: string; readonly wire: Uint8Array; readonly known: Known } | undefined;
}

/** A host with all its names, the one that it is called first; none when it has no addresses. */
export interface Host {
  readonly info: NameInfo;
  readonly names: readonly HostName[];
  /** Texts that are no addresses. */
  readonly refused: readonly string[];
}

/** The search domain that aliases end in. */
export interface SearchDomain {
  readonly text: string;
  readonly wire: Uint8Array;
}

/** The first search domain, when there is one that is a name. */
export function searchDomain({ search }: Locality): SearchDomain | undefined {
  const text = trimmed(search[0] ?? "");
  const wire = nameToWire(text);
  return text === "" || wire === undefined ? undefined : { text, wire };
}

export function prepareHost(host: string, info: NameInfo, locality: Locality, search: SearchDomain | undefined): Host {
  const { records, refused } = hostRecords(info.ips);
  if (records.v4 === undefined && records.v6 === undefined) return { info, names: [], refused };
  const known: Known = { ...records, aliasTail: 0 };
  const aliasKnown: Known = { ...records, aliasTail: search === undefined ? 0 : search.wire.length - 1 };
  const names = hostNames(host, info, locality).map((text): HostName => {
    const wild = text.startsWith("*.");
    const whole = nameToWire(wild ? text.slice(2) : text);
    const wire = whole?.length === 1 ? undefined : whole;
    return { text, wild, wire, known, alias: aliasOf(text, wire, search, aliasKnown) };
  });
  return { info, names, refused };
}

function aliasOf(
  text: string,
  wire: Uint8Array | undefined,
  search: SearchDomain | undefined,
  known: Known,
): HostName["alias"] {
  if (wire === undefined || search === undefined) return undefined;
  const length = wire.length - 1 + search.wire.length;
  if (length > MAX_NAME) return undefined;
  const both = new Uint8Array(length);
  both.set(wire);
  both.set(search.wire, wire.length - 1);
  return { text: `${text}.${search.text}`, wire: both, known };
}

/** Whether two descriptions of a host say the same. */
export function sameInfo(a: NameInfo, b: NameInfo): boolean {
  return a === b ||
    (a.registry === b.registry && a.shortname === b.shortname && a.namespace === b.namespace &&
      sameTexts(a.ips, b.ips) && sameTexts(a.altHosts ?? [], b.altHosts ?? []));
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
