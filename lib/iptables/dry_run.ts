/**
 * What would be done, as text: each family's rules in the format of `iptables-restore`, with why each is there.
 *
 * Permissions: none.
 *
 * @module
 */
import { explainedText } from "./change.ts";
import type { RedirectionConfig } from "./config.ts";
import { families } from "./names.ts";
import { addRouting, wantedRouting } from "./routing.ts";
import { buildRules } from "./rules/build.ts";

/** The text. Lines that are no rules are comments, so each part can be given to the tool that it names. */
export function dryRunText(config: RedirectionConfig): string {
  const nothing = { rules: "", routes: "", addresses: "" };
  return families.map((family) => {
    const tool = family === 4 ? "iptables-restore" : "ip6tables-restore";
    const routing = addRouting(wantedRouting(config, family), nothing).map((args) => `# ip ${args.join(" ")}\n`);
    return `# IPv${family}: ${tool} --noflush\n${routing.join("")}${explainedText(buildRules(config, family))}`;
  }).join("\n");
}
