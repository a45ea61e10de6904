/**
 * The text of a dry run: each family's rules in the format of `iptables-restore`, with the reason for each; or the
 * commands that remove them again.
 *
 * @module
 */
import { explainedText, steps } from "./change.ts";
import type { RedirectionConfig } from "./model/config.ts";
import { families, type Family } from "./model/names.ts";
import { addRouting, type ListedRouting, removeAddress, removeFormer, type Routing, wantedRouting } from "./routing.ts";
import { buildRules, noRules } from "./rules/build.ts";
import { parseListing } from "./state.ts";

/** The text. Lines that are no rules are comments, so each part can be given to the tool that it names. */
export function dryRunText(config: RedirectionConfig): string {
  const nothing = { rules: "", routes: "", addresses: "" };
  return families.map((family) => {
    const routing = addRouting(wantedRouting(config, family), nothing);
    return `${header(family)}${comments(routing)}${explainedText(buildRules(config, family))}`;
  }).join("\n");
}

/**
 * The text of a clean-up where rules of this configuration are in place. A clean-up itself removes the rules that it
 * finds in the kernel; a dry run does not look there.
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
