/**
 * Names of rules in RBAC filters.
 *
 * @module
 */

/** `ns[shop]-policy[cart]-rule[0]`, with the texts before and behind it for external authorizers. */
const RULE =
  /^(?:istio-ext-authz-)?ns\[([^\]]*)\]-policy\[([^\]]*)\]-rule\[(\d+)\](?:-deny-due-to-bad-CUSTOM-action)?$/;

/** A rule in the words of configuration: `AuthorizationPolicy shop/cart rules[0]`; a name of another form as it is. */
export function ruleText(name: string): string {
  const found = RULE.exec(name);
  return found ? `AuthorizationPolicy ${found[1]}/${found[2]} rules[${found[3]}]` : `rule ${JSON.stringify(name)}`;
}
