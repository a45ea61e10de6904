/**
 * The kernel's rules: the output of `iptables-save` as data, and our part of the rules.
 *
 * @module
 */
import { ownChains } from "./model/names.ts";
import { ruleWords } from "./normal.ts";

/** A table as listed: rules by chain, each without its chain, in order. */
export type ListedTable = ReadonlyMap<string, readonly string[]>;

/** All tables of a family in a back end. */
export type Listing = ReadonlyMap<string, ListedTable>;

/** Reads the output of `iptables-save`. Comments, counters and policies are left out. */
export function parseListing(text: string): Listing {
  const tables = new Map<string, Map<string, string[]>>();
  let table = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [, name] = /^\*\s*(\S+)/.exec(line) ?? [];
    const [, declared] = /^:(\S+)/.exec(line) ?? [];
    const [, chain, rule] = /^(?:\[\d+:\d+\] )?-A (\S+)(?: (.*))?$/.exec(line) ?? [];
    if (name !== undefined) tables.set(name, table = new Map());
    else if (declared !== undefined) table.set(declared, []);
    else if (chain !== undefined) {
      const text = (rule ?? "").trimEnd();
      const rules = table.get(chain);
      if (rules === undefined) table.set(chain, [text]);
      else rules.push(text);
    }
  }
  return tables;
}

/**
 * Existing tables that `iptables-save` leaves out, because other tools put entries into the tables that `iptables-save`
 * cannot print.
 */
export function unlistedTables(text: string): string[] {
  return text.split("\n").flatMap((line) => /^# Table `([^\s']+)' is incompatible/.exec(line)?.slice(1) ?? []);
}

/** The target chain of a rule, if the chain is ours. */
function ownTarget(rule: string): string | undefined {
  const words = ruleWords(rule);
  const at = words.findLastIndex((word) => ["-j", "--jump", "-g", "--goto"].includes(word));
  const target = words[at + 1];
  return at >= 0 && target !== undefined && ownChains.has(target) ? target : undefined;
}

/** Our own part of a table. */
export interface OwnPart {
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Rules in other chains that jump to our chains, in order. */
  readonly jumps: readonly { readonly chain: string; readonly rule: string }[];
}

/** Finds our part of a table. */
export function ownPart(table: ListedTable | undefined): OwnPart {
  const all = [...(table ?? [])];
  return {
    chains: new Map(all.filter(([chain]) => ownChains.has(chain))),
    jumps: all.filter(([chain]) => !ownChains.has(chain)).flatMap(([chain, rules]) =>
      rules.filter((rule) => ownTarget(rule) !== undefined).map((rule) => ({ chain, rule }))
    ),
  };
}

/** Marks that our chains give to packets for routing to the proxy: the marks of the run that made the chains. */
export function routedMarks(listing: Listing): number[] {
  const rules = [...listing.values()].flatMap((table) => [...ownPart(table).chains.values()].flat());
  return [
    ...new Set(rules.flatMap((rule) => {
      const mark = /(?:--tproxy-mark|CONNMARK --set-xmark) (0x[0-9a-f]+|\d+)/.exec(rule)?.[1];
      return mark === undefined ? [] : [Number(mark)];
    })),
  ];
}

/** True when any table has something of ours. */
export function hasOwnPart(listing: Listing): boolean {
  return [...listing.values()].some((table) => {
    const { chains, jumps } = ownPart(table);
    return chains.size > 0 || jumps.length > 0;
  });
}

/** Number of rules, and of chains beyond the kernel's own, that are not ours. */
export function foreignCount(listing: Listing): number {
  let count = 0;
  for (const table of listing.values()) {
    for (const [chain, rules] of table) {
      if (ownChains.has(chain)) continue;
      if (!/^[A-Z]+$/.test(chain)) count++;
      count += rules.filter((rule) => ownTarget(rule) === undefined).length;
    }
  }
  return count;
}
