/**
 * The table that questions are looked up in, built from a name table for one workload.
 *
 * A name is known by itself, by a wildcard (the one with most labels wins), or as one of these followed by the first
 * search domain. The last is an alias: resolvers try `name.search-domain` first, and an answer `alias -> name` with the
 * addresses of the name ends their search at once. An alias never hides a known name.
 *
 * Permissions: none.
 *
 * @module
 */
import { nameToWire } from "../packet/name.ts";
import type { Question } from "../packet/question.ts";
import { HEADER, MAX_NAME } from "../packet/wire.ts";
import { type HostRecords, hostRecords } from "./addresses.ts";
import { NameIndex } from "./index.ts";
import type { Locality, NameTable, TableFinding } from "./types.ts";
import { hostNames, trimmed } from "./variants.ts";

/** What a name stands for. */
export interface Known extends HostRecords {
  /** Bytes of the search domain behind the known name, 0 when there is none; the root byte is not counted. */
  readonly aliasTail: number;
}

/** Finds what a question's name stands for. */
export class LookupTable {
  readonly #exact: NameIndex;
  readonly #exactKnown: readonly Known[];
  /** Names behind the `*.` of wildcards. */
  readonly #wild: NameIndex;
  readonly #wildKnown: readonly Known[];
  /** Names known, aliases not counted. */
  readonly size: number;
  /** What was left out of the name table, and why. */
  readonly findings: readonly TableFinding[];

  constructor(exact: Named, wild: Named, size: number, findings: readonly TableFinding[]) {
    this.#exact = new NameIndex(exact.names);
    this.#exactKnown = exact.known;
    this.#wild = new NameIndex(wild.names);
    this.#wildKnown = wild.known;
    this.size = size;
    this.findings = findings;
  }

  /** What the name of a question that was read from `packet` stands for; undefined when it is not known here. */
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

/** Names with what they stand for, by place. */
interface Named {
  readonly names: Uint8Array[];
  readonly known: Known[];
}

/** A name that a host claims, and whether the host is called so itself. */
interface Claim {
  readonly host: string;
  readonly itself: boolean;
  readonly records: HostRecords;
}

/**
 * Builds the table. Of two hosts that claim a name, the one that is called so wins over the one that is also called so,
 * then the one that sorts first: the order of the name table never matters.
 */
export function buildLookupTable(table: NameTable, locality: Locality): LookupTable {
  const claims = new Map<string, Claim>();
  const findings: TableFinding[] = [];
  for (const host of Object.keys(table).sort()) {
    const info = table[host]!;
    const { records, refused } = hostRecords(info.ips);
    for (const ip of refused) findings.push({ host, message: `ips: got ${JSON.stringify(ip)}, expected an address` });
    if (records.v4 === undefined && records.v6 === undefined) continue;
    hostNames(host, info, locality).forEach((name, place) => {
      const before = claims.get(name);
      // Hosts come sorted: of equal claims the first stays.
      if (before === undefined || (place === 0 && !before.itself)) {
        claims.set(name, { host, itself: place === 0, records });
      }
    });
  }
  return tableOf(claims, findings, searchDomain(locality));
}

/** Wire form of the first search domain, when there is one that is a name. */
function searchDomain({ search }: Locality): { text: string; wire: Uint8Array } | undefined {
  const text = trimmed(search[0] ?? "");
  const wire = nameToWire(text);
  return text === "" || wire === undefined ? undefined : { text, wire };
}

function tableOf(
  claims: ReadonlyMap<string, Claim>,
  findings: TableFinding[],
  search: ReturnType<typeof searchDomain>,
): LookupTable {
  const exact: Named = { names: [], known: [] };
  const wild: Named = { names: [], known: [] };
  let size = 0;
  for (const [name, { host, records }] of claims) {
    const isWild = name.startsWith("*.");
    const wire = nameToWire(isWild ? name.slice(2) : name);
    if (wire === undefined || wire.length === 1) {
      findings.push({ host, message: `got the name ${JSON.stringify(name)}, expected a DNS name` });
      continue;
    }
    const { names, known } = isWild ? wild : exact;
    names.push(wire);
    known.push({ ...records, aliasTail: 0 });
    size++;
    if (search === undefined || claims.has(`${name}.${search.text}`)) continue;
    const alias = joined(wire, search.wire);
    // One that is too long to be a name is never asked for.
    if (alias.length > MAX_NAME) continue;
    names.push(alias);
    known.push({ ...records, aliasTail: search.wire.length - 1 });
  }
  return new LookupTable(exact, wild, size, findings);
}

function joined(name: Uint8Array, domain: Uint8Array): Uint8Array {
  const both = new Uint8Array(name.length - 1 + domain.length);
  both.set(name);
  both.set(domain, name.length - 1);
  return both;
}
