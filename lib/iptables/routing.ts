/**
 * The routing of redirection beside rules: for marked packets to this machine, and an address for IPv6.
 *
 * @module
 */
import { type RedirectionConfig, usesTproxy } from "./model/config.ts";
import { type Family, ROUTING_PROTOCOL } from "./model/names.ts";

/** Marked packets use the table. The table delivers every address on this machine. */
export interface Marked {
  readonly mark: number;
  /** The bits of the mark that count. Default: all. */
  readonly mask?: number;
  readonly table: number;
  /** Place of the rule among the kernel's rules. Default: the kernel's choice. */
  readonly priority?: number;
}

/** Routing of an address family. */
export interface Routing {
  readonly family: Family;
  readonly marked: Marked | undefined;
  /** Address to add to the loopback device. */
  readonly address: string | undefined;
}

/**
 * Source address of the inbound proxy's connections, on the loopback device. IPv4 has all of 127.0.0.0/8 there already.
 */
export const loopbackAddress: Readonly<Record<Family, string | undefined>> = { 4: undefined, 6: "::6/128" };

/** The wanted routing of a family. */
export function wantedRouting(config: RedirectionConfig, family: Family): Routing {
  return {
    family,
    marked: usesTproxy(config) ? { mark: config.tproxyMark, table: config.tproxyTable } : undefined,
    address: loopbackAddress[family],
  };
}

/** No routing at all, for clean-up. */
export function noRouting(family: Family): Routing {
  return { family, marked: undefined, address: undefined };
}

/** Output of `ip rule show`, `ip route show table N` and `ip addr show dev lo`. */
export interface ListedRouting {
  readonly rules: string;
  readonly routes: string;
  readonly addresses: string;
}

/** Arguments of `ip` that list a family's routing. Unwanted parts are not listed. */
export function listRouting({ family, marked, address }: Routing): Partial<Record<keyof ListedRouting, string[]>> {
  return {
    ...(marked === undefined ? {} : { rules: listRules(family), routes: listRoutes(family, marked.table) }),
    ...(address === undefined ? {} : { addresses: [`-${family}`, "-o", "addr", "show", "dev", "lo"] }),
  };
}

/** Arguments of `ip` that list rules, with numbers instead of names of tables. */
export function listRules(family: Family): string[] {
  return ["-N", `-${family}`, "rule", "show"];
}

/** Arguments of `ip` that list a table. */
export function listRoutes(family: Family, table: number): string[] {
  return [`-${family}`, "route", "show", "table", String(table)];
}

/** Arguments of `ip` for each missing part, in order. */
export function addRouting({ family, marked, address }: Routing, listed: ListedRouting): string[][] {
  const ours = ["protocol", String(ROUTING_PROTOCOL)];
  const commands: string[][] = [];
  if (address !== undefined && !hasAddress(address, listed)) {
    commands.push([`-${family}`, "addr", "add", address, "dev", "lo"]);
  }
  if (marked === undefined) return commands;
  // The rule is added first and removed last, so that a later run finds rule and route by the rule.
  if (!listedMarks(listed.rules).some((row) => isSame(row, marked))) {
    commands.push([`-${family}`, "rule", "add", ...ruleWords(marked), ...ours]);
  }
  if (!hasRoute(listed)) commands.push([`-${family}`, "route", "add", ...routeWords(marked.table, family), ...ours]);
  return commands;
}

/** A command of {@link addRouting} for tools and kernels that do not keep the origin of a rule. */
export function withoutProtocol(args: readonly string[]): string[] {
  const at = args.indexOf("protocol");
  return at < 0 ? [...args] : args.filter((_, i) => i !== at && i !== at + 1);
}

/** Arguments of `ip` that remove the address, if it exists. */
export function removeAddress({ family, address }: Routing, listed: ListedRouting): string[][] {
  if (address === undefined || !hasAddress(address, listed)) return [];
  return [[`-${family}`, "addr", "del", address, "dev", "lo"]];
}

/** A rule of routing by a mark, as listed. */
export interface ListedMark extends Marked {
  /** The rule has our origin. */
  readonly ours: boolean;
}

/** A line of `ip rule show`: `32765: from all fwmark 0x539 lookup 133 proto 77`. A mark may have a mask. */
const MARKED_RULE = /^(?:\d+:\s+)?from all fwmark 0x([0-9a-f]+)(?:\/0x([0-9a-f]+))? lookup (\d+)(?: proto (\d+))?$/;

/** True for the same mark and table. The priority of a rule does not matter. */
function isSame(one: Marked, other: Marked): boolean {
  return one.mark === other.mark && one.mask === other.mask && one.table === other.table;
}

function listedMarks(rules: string): ListedMark[] {
  const found = rules.split("\n").map((line) => MARKED_RULE.exec(line.trim())).filter((one) => one !== null);
  return found.map(([, mark, mask, table, protocol]) => ({
    mark: parseInt(mark ?? "", 16),
    ...mask === undefined ? {} : { mask: parseInt(mask, 16) },
    table: Number(table),
    ours: Number(protocol) === ROUTING_PROTOCOL,
  }));
}

/**
 * Unwanted routing by marks of an earlier run, in the output of `ip rule show`.
 * @param marks Marks of our chains. Rules without an origin are recognized by these marks.
 */
export function formerMarks(marks: readonly number[], wanted: Routing, rules: string): ListedMark[] {
  return listedMarks(rules).filter((row) =>
    (row.ours || marks.includes(row.mark)) && (wanted.marked === undefined || !isSame(row, wanted.marked))
  );
}

/**
 * Arguments of `ip` that remove earlier routing. The route stays if its table is wanted.
 * @param listed The present rules, and the routes of the table.
 */
export function removeFormer(former: Marked, wanted: Routing, listed: ListedRouting): string[][] {
  const { family } = wanted;
  const commands: string[][] = [];
  if (!listedMarks(listed.rules).some((row) => isSame(row, former))) return commands;
  if (hasRoute(listed) && former.table !== wanted.marked?.table) {
    commands.push([`-${family}`, "route", "del", ...routeWords(former.table, family)]);
  }
  return [...commands, [`-${family}`, "rule", "del", ...ruleWords(former)]];
}

function ruleWords({ mark, mask, table, priority }: Marked): string[] {
  const bits = mask === undefined ? "" : `/0x${mask.toString(16)}`;
  const place = priority === undefined ? [] : ["pref", String(priority)];
  return [
    "fwmark",
    `${mask === undefined ? mark : `0x${mark.toString(16)}`}${bits}`,
    ...place,
    "lookup",
    String(table),
  ];
}

function routeWords(table: number, family: Family): string[] {
  return ["local", family === 4 ? "0.0.0.0/0" : "::/0", "dev", "lo", "table", String(table)];
}

/** True when the listed table delivers every address here. */
export function hasRoute({ routes }: ListedRouting): boolean {
  return /^local (default|0\.0\.0\.0\/0|::\/0) dev lo\b/m.test(routes);
}

function hasAddress(address: string, { addresses }: ListedRouting): boolean {
  return addresses.split(/\s+/).includes(address);
}
