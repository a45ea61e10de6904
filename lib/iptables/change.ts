/**
 * From the kernel's rules to the wanted rules: the differences for people, and a step per table that removes the
 * differences.
 *
 * A step is a text for `iptables-restore --noflush`. The kernel takes the text as a whole or not at all, so at no
 * moment does a table have half of a step. A step touches our chains and the jumps to our chains, nothing else.
 *
 * @module
 */
import { chains, type Family, tableNames } from "./model/names.ts";
import { normalRule } from "./normal.ts";
import { type Rule, type Ruleset, ruleText, type Table } from "./model/rule.ts";
import { type Listing, type OwnPart, ownPart } from "./state.ts";

/** A step: the table, and the text that changes the table. */
export interface Step {
  readonly table: string;
  readonly text: string;
}

/** The tables of redirection, and the listed tables. */
function tablesOf(listing: Listing): string[] {
  return [...new Set<string>([...tableNames, ...listing.keys()])];
}

/** Differences between the kernel's list and the rules wanted, a line each. None: nothing is to be done. */
export function differences(listing: Listing, wanted: Ruleset): string[] {
  return tablesOf(listing).flatMap((name) => {
    const table = wanted.tables.get(name);
    return tableDifferences(ownPart(listing.get(name)), table, wanted.family).map((text) => `${name}: ${text}`);
  });
}

function tableDifferences(own: OwnPart, wanted: Table | undefined, family: Family): string[] {
  const found: string[] = [];
  for (const [chain, rules] of wanted?.chains ?? []) {
    const listed = own.chains.get(chain);
    if (listed === undefined) found.push(`chain ${chain} is missing`);
    else found.push(...chainDifferences(chain, listed, rules.map((rule) => ruleText(rule, family))));
  }
  for (const chain of own.chains.keys()) {
    if (wanted?.chains.has(chain) !== true) found.push(`chain ${chain} is not wanted`);
  }
  const jumps = own.jumps.map(({ chain, rule }) => `${chain} ${rule}`);
  const hooks = (wanted?.hooks ?? []).map((hook) => `${hook.hook} ${ruleText(hook, family)}`);
  if (!sameJumps(own, wanted, family)) {
    found.push(`ways into our chains are ${listText(jumps)}, wanted ${listText(hooks)}`);
  }
  return found;
}

function chainDifferences(chain: string, listed: readonly string[], wanted: readonly string[]): string[] {
  const at = wanted.findIndex((rule, i) => !sameRule(listed[i] ?? "", rule));
  if (at >= 0) {
    return [`rule ${at + 1} of ${chain} is ${listed[at] ?? "missing"}, wanted ${wanted[at]}`];
  }
  return listed.length > wanted.length ? [`${chain} has ${listed.length - wanted.length} rules too many`] : [];
}

function listText(rules: readonly string[]): string {
  return rules.length === 0 ? "none" : rules.join("; ");
}

/**
 * Whether two texts are the same rule. Most versions of the tools write rules as this module does, so the comparison of
 * the plain texts comes first.
 */
function sameRule(one: string, other: string): boolean {
  return one === other || normalRule(one) === normalRule(other);
}

/** True when the jumps to our chains are the wanted jumps. The order counts only within a chain. */
function sameJumps(own: OwnPart, wanted: Table | undefined, family: Family): boolean {
  const hooks = (wanted?.hooks ?? []).map((hook) => ({ chain: hook.hook as string, rule: ruleText(hook, family) }));
  if (own.jumps.length !== hooks.length) return false;
  const ordered = byChain(hooks);
  return byChain(own.jumps).every(({ chain, rule }, i) =>
    chain === ordered[i]?.chain && sameRule(rule, ordered[i]?.rule ?? "")
  );
}

/** Rules in the order of their chains. The order of the rules in a chain stays. */
function byChain<T extends { readonly chain: string }>(rules: readonly T[]): T[] {
  return rules.toSorted((a, b) => (a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : 0));
}

/**
 * Steps that turn our part of the tables into the wanted rules: a step per different table, or per table if `all`.
 *
 * Tables that begin to take packets come before tables that stop: between two steps a packet may meet both, never none.
 */
export function steps(listing: Listing, wanted: Ruleset, all = false): Step[] {
  const result: Step[] = [];
  for (const name of tablesOf(listing)) {
    const own = ownPart(listing.get(name));
    const table = wanted.tables.get(name);
    const differs = tableDifferences(own, table, wanted.family).length > 0;
    if (differs || (all && table !== undefined)) {
      result.push({ table: name, text: stepText(name, own, table, wanted.family) });
    }
  }
  const takesLess = ({ table }: Step) => {
    const listed = listing.get(table)?.get(chains.inbound)?.length ?? 0;
    return listed > (wanted.tables.get(table)?.chains.get(chains.inbound)?.length ?? 0) ? 1 : 0;
  };
  return result.toSorted((a, b) => takesLess(a) - takesLess(b));
}

function stepText(name: string, own: OwnPart, wanted: Table | undefined, family: Family): string {
  const stale = [...own.chains.keys()].filter((chain) => wanted?.chains.has(chain) !== true);
  const fresh = [...(wanted?.chains.keys() ?? [])].filter((chain) => !own.chains.has(chain));
  // A declaration empties an existing chain. New chains are created with -N, which fails if another run has created the
  // chain in the meantime.
  const lines = [
    `*${name}`,
    ...own.chains.keys().map((chain) => `:${chain} - [0:0]`),
    ...fresh.map((chain) => `-N ${chain}`),
  ];
  if (!sameJumps(own, wanted, family)) {
    for (const { chain, rule } of own.jumps) lines.push(`-D ${chain} ${rule}`);
    for (const hook of wanted?.hooks ?? []) lines.push(`-A ${hook.hook} ${ruleText(hook, family)}`);
  }
  for (const [chain, rules] of wanted?.chains ?? []) {
    for (const rule of rules) lines.push(`-A ${chain} ${ruleText(rule, family)}`);
  }
  for (const chain of stale) lines.push(`-X ${chain}`);
  return [...lines, "COMMIT", ""].join("\n");
}

/** The rules as a text for `iptables-restore --noflush` on tables without our rules. A comment explains each rule. */
export function explainedText(wanted: Ruleset): string {
  const lines: string[] = [];
  const add = (chain: string, rule: Rule, before: { why: string }) => {
    if (rule.why !== before.why) lines.push(`# ${rule.why}`);
    before.why = rule.why;
    lines.push(`-A ${chain} ${ruleText(rule, wanted.family)}`);
  };
  for (const [name, table] of wanted.tables) {
    lines.push(`*${name}`, ...[...table.chains.keys()].map((chain) => `:${chain} - [0:0]`));
    const before = { why: "" };
    for (const hook of table.hooks) add(hook.hook, hook, before);
    for (const [chain, rules] of table.chains) rules.forEach((rule) => add(chain, rule, before));
    lines.push("COMMIT");
  }
  return lines.join("\n") + (lines.length > 0 ? "\n" : "");
}
