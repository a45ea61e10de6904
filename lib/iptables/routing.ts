/**
 * What redirection needs beside rules: routing of marked packets to this machine, and an address for IPv6.
 *
 * Permissions: none.
 *
 * @module
 */
import { type RedirectionConfig, usesTproxy } from "./config.ts";
import type { Family } from "./names.ts";

/** Routing of one family. */
export interface Routing {
  readonly family: Family;
  /** Packets with the mark are looked up in the table, which delivers every address here. */
  readonly marked: { readonly mark: number; readonly table: number } | undefined;
  /** Address of the loopback device from which the inbound proxy connects. IPv4 has all of 127.0.0.0/8 there already. */
  readonly address: string | undefined;
}

/** What the configuration asks for in a family. */
export function wantedRouting(config: RedirectionConfig, family: Family): Routing {
  return {
    family,
    marked: usesTproxy(config) ? { mark: config.tproxyMark, table: config.tproxyTable } : undefined,
    address: family === 6 ? "::6/128" : undefined,
  };
}

/** What may be there of a former run: with these numbers, whatever is wanted now. */
export function possibleRouting(config: RedirectionConfig, family: Family): Routing {
  return { ...wantedRouting(config, family), marked: { mark: config.tproxyMark, table: config.tproxyTable } };
}

/** Output of `ip rule show`, `ip route show table N` and `ip addr show dev lo`. */
export interface ListedRouting {
  readonly rules: string;
  readonly routes: string;
  readonly addresses: string;
}

/** Arguments of `ip` that list a family's routing, as far as it is asked for. */
export function listRouting({ family, marked, address }: Routing): Partial<Record<keyof ListedRouting, string[]>> {
  return {
    ...(marked === undefined ? {} : {
      rules: [`-${family}`, "rule", "show"],
      routes: [`-${family}`, "route", "show", "table", String(marked.table)],
    }),
    ...(address === undefined ? {} : { addresses: [`-${family}`, "-o", "addr", "show", "dev", "lo"] }),
  };
}

/** Arguments of `ip` for each thing that is missing, in order. */
export function addRouting(wanted: Routing, listed: ListedRouting): string[][] {
  const found = presence(wanted, listed);
  const { family, marked, address } = wanted;
  const commands: string[][] = [];
  if (address !== undefined && !found.address) commands.push([`-${family}`, "addr", "add", address, "dev", "lo"]);
  if (marked === undefined) return commands;
  if (!found.route) commands.push([`-${family}`, "route", "add", ...routeWords(marked.table, family)]);
  if (!found.rule) commands.push([`-${family}`, "rule", "add", ...ruleWords(marked)]);
  return commands;
}

/** Arguments of `ip` for each thing that is there. Clean-up removes these, and only these. */
export function removeRouting(unwanted: Routing, listed: ListedRouting): string[][] {
  const found = presence(unwanted, listed);
  const { family, marked, address } = unwanted;
  const commands: string[][] = [];
  // A routing table may be someone else's: its route is ours only together with the rule that leads there.
  if (marked !== undefined && found.rule) {
    commands.push([`-${family}`, "rule", "del", ...ruleWords(marked)]);
    if (found.route) commands.push([`-${family}`, "route", "del", ...routeWords(marked.table, family)]);
  }
  if (address !== undefined && found.address) commands.push([`-${family}`, "addr", "del", address, "dev", "lo"]);
  return commands;
}

/**
 * Routing of marks, in the output of `ip rule show`, that a former run made and that is not wanted.
 *
 * @param marks Those that our chains had: nobody else's rule is looked at.
 */
export function formerMarks(
  marks: readonly number[],
  wanted: Routing,
  rules: string,
): { mark: number; table: number }[] {
  const found = [...rules.matchAll(/\bfrom all fwmark 0x([0-9a-f]+) lookup (\d+)\b/g)];
  return found.map(([, mark, table]) => ({ mark: parseInt(mark ?? "", 16), table: Number(table) })).filter((row) =>
    marks.includes(row.mark) && (row.mark !== wanted.marked?.mark || row.table !== wanted.marked.table)
  );
}

/** Arguments of `ip` that remove former routing: only together with our route in its table, which stays where it is wanted. */
export function removeFormer(former: Routing, wanted: Routing, listed: ListedRouting): string[][] {
  const commands = presence(former, listed).route ? removeRouting(former, listed) : [];
  return commands.filter(([, kind]) => kind !== "route" || former.marked?.table !== wanted.marked?.table);
}

function ruleWords({ mark, table }: { mark: number; table: number }): string[] {
  return ["fwmark", String(mark), "lookup", String(table)];
}

function routeWords(table: number, family: Family): string[] {
  return ["local", family === 4 ? "0.0.0.0/0" : "::/0", "dev", "lo", "table", String(table)];
}

function presence({ marked, address }: Routing, listed: ListedRouting) {
  const rule = new RegExp(`\\bfrom all fwmark 0x${marked?.mark.toString(16)} lookup ${marked?.table}\\b`);
  return {
    rule: rule.test(listed.rules),
    route: /^local (default|0\.0\.0\.0\/0|::\/0) dev lo\b/m.test(listed.routes),
    address: address !== undefined && listed.addresses.split(/\s+/).includes(address),
  };
}
