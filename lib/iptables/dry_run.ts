/**
 * The text of a dry run: each family's rules in the format of `iptables-restore`, with a reason for each rule, or the
 * commands that remove the rules.
 *
 * @module
 */
import { explainedText, steps } from "./change.ts";
import type { RedirectionConfig } from "./model/config.ts";
import { families, type Family } from "./model/names.ts";
import { addRouting, type ListedRouting, removeAddress, removeFormer, type Routing, wantedRouting } from "./routing.ts";
import { buildRules, noRules } from "./rules/build.ts";
import { parseListing } from "./state.ts";

/** The text. Lines without a rule are comments, so each part can be passed to its tool. */
export function dryRunText(config: RedirectionConfig): string {
  const nothing = { rules: "", routes: "", addresses: "" };
  return families.map((family) => {
    const routing = addRouting(wantedRouting(config, family), nothing);
    return `${header(family)}${comments(routing)}${explainedText(buildRules(config, family))}`;
  }).join("\n");
}

/**
 * The text of a clean-up, if the rules of this configuration are in place. A real clean-up removes the rules that it
 * finds in the kernel. A dry run does not look at the kernel.
 */
export function cleanUpText(config: RedirectionConfig): string {
  return families.map((family) => {
    const listing = parseListing(explainedText(buildRules(config, family)));
    const removed = steps(listing, noRules(family)).map(({ text }) => text).join("");
    return `${header(family)}${removed}${comments(routingRemoved(wantedRouting(config, family)))}`;
  }).join("\n");
}

function routingRemoved(routing: Routing): string[][] {
  const { family, marked, address } = routing;
  const listed: ListedRouting = {
    rules: marked === undefined ? "" : `from all fwmark 0x${marked.mark.toString(16)} lookup ${marked.table}`,
    routes: "local default dev lo",
    addresses: address ?? "",
  };
  const former = marked === undefined ? [] : removeFormer(marked, { family, marked: undefined, address }, listed);
  return [...removeAddress(routing, listed), ...former];
}

function header(family: Family): string {
  return `# IPv${family}: ${family === 4 ? "iptables-restore" : "ip6tables-restore"} --noflush\n`;
}

function comments(commands: readonly string[][]): string {
  return commands.map((args) => `# ip ${args.join(" ")}\n`).join("");
}
