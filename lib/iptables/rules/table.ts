/**
 * Collects rules into a table, in the order of a packet's way.
 *
 * @module
 */
import type { ChainName, Hook } from "../model/names.ts";
import type { Rule, RuleMatch, RuleTarget, Table } from "../model/rule.ts";

/** Target that ends our part: the packet goes on as without redirection. */
export const leave: RuleTarget = { kind: "return" };

/** A jump to a chain of ours. */
export function to(chain: ChainName): RuleTarget {
  return { kind: "jump", to: chain };
}

/** A table in the making. */
export class TableBuilder {
  readonly #hooks: (Rule & { readonly hook: Hook })[] = [];
  readonly #chains = new Map<ChainName, Rule[]>();

  /** Adds a way in. */
  hook(hook: Hook, match: RuleMatch, target: RuleTarget, why: string): void {
    this.#hooks.push({ hook, match, target, why });
  }

  /** Adds a rule at the end of a chain. */
  add(chain: ChainName, match: RuleMatch, target: RuleTarget, why: string): void {
    const rules = this.#chains.get(chain);
    if (rules === undefined) this.#chains.set(chain, [{ match, target, why }]);
    else rules.push({ match, target, why });
  }

  /** The table. A jump to an empty chain is left out, and so is a chain without a jump to it. */
  table(): Table {
    const leadsSomewhere = ({ target }: Rule) => target.kind !== "jump" || this.#chains.has(target.to);
    const hooks = this.#hooks.filter(leadsSomewhere);
    const reached = new Set<ChainName>();
    const follow = (rules: readonly Rule[]) => {
      for (const { target } of rules) {
        if (target.kind !== "jump" || reached.has(target.to)) continue;
        reached.add(target.to);
        follow(this.#chains.get(target.to) ?? []);
      }
    };
    follow(hooks);
    const kept = [...this.#chains].filter(([chain]) => reached.has(chain));
    return { hooks, chains: new Map(kept.map(([chain, rules]) => [chain, rules.filter(leadsSomewhere)])) };
  }
}
