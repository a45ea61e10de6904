/**
 * The entries of a host in the lookup table. The entries depend on the host and the workload alone, so they are kept
 * from table to table: a new table costs only its changes.
 *
 * @module
 */
import { nameToWire } from "../packet/name.ts";
import { MAX_NAME } from "../packet/wire.ts";
import { type HostRecords, hostRecords } from "./addresses.ts";
import { type Locality, type NameInfo, ORCHESTRATOR_REGISTRIES } from "./types.ts";

/** The meaning of a name. */
export interface Known extends HostRecords {
  /** Bytes of the search domain behind the known name, 0 when there is none; the root byte is not counted. */
  readonly aliasTail: number;
}

/** A name of a host. */
export interface HostName {
  /** Lower case, without the final dot. */
  readonly text: string;
  /** Whether the name starts with `*.`. The bytes leave this part out. */
  readonly wild: boolean;
  /** Undefined if the text is not a name. */
  readonly wire: Uint8Array | undefined;
  readonly known: Known;
  /** The name followed by the search domain. Undefined without a search domain, or when the alias would be too long. */
  readonly alias: { readonly text: string; readonly wire: Uint8Array; readonly known: Known } | undefined;
}

/** A host with all its names, the main name first. Without addresses a host has no names. */
export interface Host {
  readonly info: NameInfo;
  readonly names: readonly HostName[];
  /** Texts that are not addresses. */
  readonly refused: readonly string[];
}

/** The search domain at the end of aliases. */
export interface SearchDomain {
  readonly text: string;
  readonly wire: Uint8Array;
}

/** The first search domain, if it is a valid name. */
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

/**
 * All names of a host for a workload, the full host first, without final dots, in lower case.
 *
 * A service of the orchestrator in the workload's own domain also answers to `name.namespace` and `name.namespace.svc`
 * (the domain's first label), to its further hosts, and within its namespace to `name`. In other domains the service
 * does not: names without a domain could mean a service of either cluster.
 */
export function hostNames(host: string, info: NameInfo, locality: Locality): string[] {
  const full = trimmed(host);
  const names = [full];
  const { shortname, namespace } = info;
  const domain = serviceDomain(locality);
  const ofOrchestrator = ORCHESTRATOR_REGISTRIES.has(info.registry ?? "");
  if (!ofOrchestrator || domain === "" || !full.endsWith(`.${domain}`)) return names;
  if (shortname !== undefined && shortname !== "" && namespace !== undefined && namespace !== "") {
    names.push(`${shortname}.${namespace}`);
    if (namespace === locality.namespace) names.push(shortname);
    names.push(`${shortname}.${namespace}.${domain.split(".", 1)[0]}`);
  }
  names.push(...(info.altHosts ?? []));
  return [...new Set(names.map(trimmed))];
}

/** The part of the workload's domain that its services share: `svc.cluster.local`. */
function serviceDomain({ namespace, domain }: Locality): string {
  const whole = trimmed(domain);
  const own = `${namespace.toLowerCase()}.`;
  return namespace !== "" && whole.startsWith(own) ? whole.slice(own.length) : whole;
}

/** Lower case, without the dot at the end. */
function trimmed(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}
