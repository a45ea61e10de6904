/**
 * The lookup table of questions, built from a name table for a workload.
 *
 * A question's name matches exactly, by a wildcard (the wildcard with most labels wins), or as either of the two
 * followed by the first search domain. The last is an alias: resolvers try `name.search-domain` first, and an answer
 * `alias -> name` with the addresses of the name ends their search at once. An alias never hides a known name.
 *
 * @module
 */
import type { Question } from "../packet/question.ts";
import { HEADER } from "../packet/wire.ts";
import { type Host, type HostName, type Known, prepareHost, sameInfo, searchDomain } from "./host.ts";
import { NameIndex } from "./index.ts";
import type { Locality, NameTable, TableFinding } from "./types.ts";

/** Finds the meaning of a question's name. */
export class LookupTable {
  readonly #exact: NameIndex;
  readonly #exactKnown: readonly Known[];
  /** Names behind the `*.` of wildcards. */
  readonly #wild: NameIndex;
  readonly #wildKnown: readonly Known[];
  /** Names known, aliases not counted. */
  readonly size: number;
  /** The left-out entries of the name table, with reasons. */
  readonly findings: readonly TableFinding[];

  /** The table's input, for building the next table. */
  readonly hosts: ReadonlyMap<string, Host>;
  readonly locality: Locality;

  constructor(exact: Named, wild: Named, parts: Pick<LookupTable, "size" | "findings" | "hosts" | "locality">) {
    this.#exact = new NameIndex(exact.names);
    this.#exactKnown = exact.known;
    this.#wild = new NameIndex(wild.names);
    this.#wildKnown = wild.known;
    this.size = parts.size;
    this.findings = parts.findings;
    this.hosts = parts.hosts;
    this.locality = parts.locality;
  }

  /** The meaning of the name in a question from `packet`. Undefined: the name is unknown here. */
  find(packet: Uint8Array, question: Question): Known | undefined {
    if (question.labels === 0) return undefined;
    const number = this.#exact.find(question.labelHash[0]!, packet, HEADER, question.nameEnd);
    if (number >= 0) return this.#exactKnown[number];
    if (this.#wild.size === 0) return undefined;
    for (let label = 1; label < question.labels; label++) {
      const start = question.labelStart[label]!;
      const wild = this.#wild.find(question.labelHash[label]!, packet, start, question.nameEnd);
      if (wild >= 0) return this.#wildKnown[wild];
    }
    return undefined;
  }
}

/** Names with their hosts, by index. */
interface Named {
  readonly names: Uint8Array[];
  readonly known: Known[];
}

/** A name that a host claims, and whether the name is the host's own. */
interface NameCandidate {
  readonly host: string;
  readonly itself: boolean;
  readonly name: HostName;
}

/**
 * Builds the table. If two hosts claim a name, the host with this name takes precedence over a host with this alias,
 * then the host that sorts first. The order of the name table never matters.
 * @param previous The previous table. Its unchanged hosts are reused.
 */
export function buildLookupTable(table: NameTable, locality: Locality, previous?: LookupTable): LookupTable {
  const before = previous !== undefined && sameLocality(previous.locality, locality) ? previous.hosts : undefined;
  const search = searchDomain(locality);
  const hosts = new Map<string, Host>();
  const candidates = new Map<string, NameCandidate>();
  const findings: TableFinding[] = [];
  for (const host of Object.keys(table).sort()) {
    const info = table[host]!;
    const known = before?.get(host);
    const prepared = known !== undefined && sameInfo(known.info, info)
      ? known
      : prepareHost(host, info, locality, search);
    hosts.set(host, prepared);
    for (const ip of prepared.refused) {
      findings.push({ host, message: `ips: got ${JSON.stringify(ip)}, expected an address` });
    }
    prepared.names.forEach((name, place) => {
      const other = candidates.get(name.text);
      // Hosts come sorted: of equal candidates the first stays.
      if (other === undefined || (place === 0 && !other.itself)) {
        candidates.set(name.text, { host, itself: place === 0, name });
      }
    });
  }
  return tableOf(candidates, { findings, hosts, locality });
}

function sameLocality(a: Locality, b: Locality): boolean {
  return a.namespace === b.namespace && a.domain === b.domain && a.search[0] === b.search[0];
}

function tableOf(
  candidates: ReadonlyMap<string, NameCandidate>,
  parts: { findings: TableFinding[]; hosts: ReadonlyMap<string, Host>; locality: Locality },
): LookupTable {
  const exact: Named = { names: [], known: [] };
  const wild: Named = { names: [], known: [] };
  let size = 0;
  for (const { host, name: { text, wild: isWild, wire, known, alias } } of candidates.values()) {
    if (wire === undefined) {
      parts.findings.push({ host, message: `got the name ${JSON.stringify(text)}, expected a DNS name` });
      continue;
    }
    const into = isWild ? wild : exact;
    into.names.push(wire);
    into.known.push(known);
    size++;
    if (alias === undefined || candidates.has(alias.text)) continue;
    into.names.push(alias.wire);
    into.known.push(alias.known);
  }
  return new LookupTable(exact, wild, { ...parts, size });
}
