/**
 * Destination rules by namespace and host.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import {
  destinationRuleHost,
  type DestinationRuleOptions,
  type MergedDestinationRule,
  mergeDestinationRules,
} from "./destination_rule.ts";
import { isWildcard, wildcardsOver } from "./host_match.ts";
import type { EffectiveDestinationRule } from "./types.ts";
import { isVisible } from "./visibility.ts";

type Rule = ConfigObject<"DestinationRule">;

interface HostRules {
  readonly rules: readonly Rule[];
  /** Merged at first use. */
  merged?: readonly MergedDestinationRule[];
}

interface NamespaceRules {
  readonly byHost: Map<string, HostRules>;
  /** How many of the hosts are wildcards: without any, only the exact host is looked up. */
  wildcards: number;
}

/** Settings that the lookup needs. */
export interface DestinationRuleIndexOptions extends DestinationRuleOptions {
  readonly rootNamespace: string;
  /** The mesh-wide default for rules that say nothing. */
  readonly defaultExportTo: readonly string[];
}

/** All destination rules of the mesh. */
export class DestinationRuleIndex {
  #options: DestinationRuleIndexOptions;
  #byNamespace = new Map<string, NamespaceRules>();

  constructor(options: DestinationRuleIndexOptions) {
    this.#options = options;
  }

  /**
   * Replaces some rules by others.
   *
   * @returns The hosts (some may be wildcards) whose rule may now be another.
   */
  update(removed: Iterable<Rule>, added: Iterable<Rule>): Set<string> {
    const hosts = new Set<string>();
    for (const rule of removed) hosts.add(this.#change(rule, (list) => list.filter((x) => x.key !== rule.key)));
    for (const rule of added) {
      hosts.add(this.#change(rule, (list) => [...list.filter((x) => x.key !== rule.key), rule].sort(oldest)));
    }
    return hosts;
  }

  #change(rule: Rule, change: (list: readonly Rule[]) => readonly Rule[]): string {
    const host = destinationRuleHost(rule, this.#options);
    const namespace = rule.meta.namespace;
    let own = this.#byNamespace.get(namespace);
    if (!own) this.#byNamespace.set(namespace, own = { byHost: new Map(), wildcards: 0 });
    const before = own.byHost.get(host);
    const rules = change(before?.rules ?? []);
    if (rules.length > 0) own.byHost.set(host, { rules });
    else own.byHost.delete(host);
    if (isWildcard(host)) own.wildcards += Number(rules.length > 0) - Number(before !== undefined);
    if (own.byHost.size === 0) this.#byNamespace.delete(namespace);
    return host;
  }

  /**
   * The rules in force for a service, as a client namespace sees it: of its own namespace, else exported by the
   * service's namespace, else exported by the root namespace; in each the most specific host. More than one only where
   * rules select client workloads: the caller takes the first whose selector matches.
   */
  inForce(host: string, client: string, serviceNamespace: string): readonly EffectiveDestinationRule[] {
    const { rootNamespace } = this.#options;
    if (client !== rootNamespace) {
      const own = this.#lookup(client, host, client);
      if (own.length > 0) return own;
    }
    if (serviceNamespace !== client || client === rootNamespace) {
      const exported = this.#lookup(serviceNamespace, host, client);
      if (exported.length > 0) return exported;
    }
    if (rootNamespace === serviceNamespace) return none;
    return this.#lookup(rootNamespace, host, client);
  }

  /** Subsets that were left out because an earlier rule for the host has one of that name; each name once. */
  *duplicateSubsets(): Iterable<{
    readonly host: string;
    readonly subset: string;
    readonly causes: readonly string[];
  }> {
    for (const { byHost } of this.#byNamespace.values()) {
      for (const [host, entry] of byHost) {
        if (entry.rules.length < 2) continue;
        const merged = entry.merged ??= mergeDestinationRules(entry.rules, this.#options);
        const names = new Set(merged.flatMap((rule) => rule.duplicateSubsets));
        const causes = entry.rules.map((rule) => rule.key);
        for (const subset of names) yield { host, subset, causes };
      }
    }
  }

  #lookup(namespace: string, host: string, client: string): readonly EffectiveDestinationRule[] {
    const rules = this.#byNamespace.get(namespace);
    if (!rules) return none;
    const exact = this.#visible(rules.byHost.get(host), namespace, client);
    if (exact.length > 0 || rules.wildcards === 0) return exact;
    for (const pattern of wildcardsOver(host)) {
      const found = this.#visible(rules.byHost.get(pattern), namespace, client);
      if (found.length > 0) return found;
    }
    return none;
  }

  #visible(entry: HostRules | undefined, namespace: string, client: string) {
    if (!entry) return none;
    const merged = entry.merged ??= mergeDestinationRules(entry.rules, this.#options);
    const seen = merged.filter((rule) => {
      const exportTo = rule.spec.exportTo ?? this.#options.defaultExportTo;
      return isVisible({ namespace, exportTo }, client);
    });
    return seen.length === merged.length ? merged : seen;
  }
}

const none: readonly EffectiveDestinationRule[] = [];

function oldest(a: Rule, b: Rule): number {
  return a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}
