/**
 * Names of rules in RBAC filters.
 *
 * @module
 */

/** `ns[shop]-policy[cart]-rule[0]`, with the texts before and behind it for external authorizers. */
const RULE = /^ns\[([^\]]*)\]-policy\[([^\]]*)\]-rule\[(\d+)\]$/;
const BEFORE = "istio-ext-authz-";
const BEHIND = "-deny-due-to-bad-CUSTOM-action";

/** A rule in the words of configuration: `AuthorizationPolicy shop/cart rules[0]`; a name of another form as it is. */
export function ruleText(name: string): string {
  const from = name.startsWith(BEFORE) ? BEFORE.length : 0;
  const found = RULE.exec(name.slice(from, name.endsWith(BEHIND) ? -BEHIND.length : undefined));
  return found ? `AuthorizationPolicy ${found[1]}/${found[2]} rules[${found[3]}]` : `rule ${JSON.stringify(name)}`;
}
