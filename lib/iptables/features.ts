/**
 * The kernel features that rules need: matches and targets, a text for trials of the features, and their kernel
 * modules.
 *
 * @module
 */
import type { Family } from "./model/names.ts";
import { type Rule, type Ruleset, ruleText } from "./model/rule.ts";

/** A feature of a kernel. */
export interface Feature {
  readonly table: string;
  /** Name of the match or target in the kernel's tools. `table` means the whole table. */
  readonly name: string;
  /** A rule with this feature. */
  readonly rule: string | undefined;
}

/** Back end of the kernel's tools. */
export type FeatureKind = "nft" | "legacy";

/** Features of rules, each once per table, with a rule that needs the feature. */
export function featuresOf({ family, tables }: Ruleset): Feature[] {
  return [...tables].flatMap(([table, { chains, hooks }]) => {
    const found = new Map<string, Feature>([["table", { table, name: "table", rule: undefined }]]);
    for (const rule of [...hooks, ...[...chains.values()].flat()]) {
      for (const name of namesOf(rule)) {
        if (!found.has(name)) found.set(name, { table, name, rule: textWithoutJump(rule, family) });
      }
    }
    return [...found.values()];
  });
}

function namesOf({ match: m, target }: Rule): string[] {
  const names: string[] = [];
  if (m.uid !== undefined || m.gid !== undefined) names.push("owner");
  if ((m.notDestinationPorts?.length ?? 0) > 1) names.push("multiport");
  if (m.state !== undefined) names.push("conntrack");
  if (m.mark !== undefined || m.notMark !== undefined) names.push("mark");
  if (m.connmark !== undefined) names.push("connmark");
  if (target.kind === "redirect") names.push("REDIRECT");
  if (target.kind === "tproxy") names.push("TPROXY");
  if (target.kind === "mark") names.push("MARK");
  if (["save mark", "restore mark", "set connmark"].includes(target.kind)) names.push("CONNMARK");
  if (target.kind === "zone") names.push("CT");
  return names;
}

/** A jump would need its target chain. */
function textWithoutJump(rule: Rule, family: Family): string {
  return ruleText(rule.target.kind === "jump" ? { ...rule, target: { kind: "return" } } : rule, family);
}

/**
 * Text for `iptables-restore --noflush` that tries out features: in a chain without a jump to it, removed again at
 * once. No packet ever meets the chain.
 */
export function trialText(features: readonly Feature[], chain: string): string {
  return [...Map.groupBy(features, ({ table }) => table)].flatMap(([table, used]) => [
    ...[`*${table}`, `:${chain} - [0:0]`],
    ...used.flatMap(({ rule }) => (rule === undefined ? [] : [`-A ${chain} ${rule}`])),
    ...["COMMIT", `*${table}`, `-F ${chain}`, `-X ${chain}`, "COMMIT", ""],
  ]).join("\n");
}

/** Kernel modules of a feature. With nft, some matches and targets go through nft_compat and the same modules. */
export function modulesOf({ table, name }: Feature, kind: FeatureKind, family: Family): string {
  if (name === "table") {
    if (kind === "legacy") return `${family === 4 ? "iptable" : "ip6table"}_${table}`;
    return table === "nat" ? "nf_tables and nft_chain_nat" : "nf_tables";
  }
  const module = modules[name] ?? `xt_${name}`;
  return kind === "legacy" ? module : `nft_compat and ${module}`;
}

const modules: Readonly<Record<string, string>> = {
  MARK: "xt_mark",
  CONNMARK: "xt_connmark",
  CT: "xt_CT",
  TPROXY: "xt_TPROXY",
  REDIRECT: "xt_REDIRECT",
};
