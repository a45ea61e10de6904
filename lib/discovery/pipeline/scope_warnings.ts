/**
 * Warnings about entries of `serviceScopeConfigs` without effect.
 *
 * @module
 */
import type { ServiceScopeConfig } from "../../config/mesh/types.ts";
import { type Finding, warningOf } from "../../finding/finding.ts";
import { isMatched, type ScopedService } from "../../mesh/service_scope.ts";
import type { Labels } from "../../registry/labels.ts";
import type { Service } from "../../registry/types.ts";

/** What decides about scopes. */
export interface ScopeParts {
  readonly configs: readonly ServiceScopeConfig[];
  /** Whether the server reaches other networks (`AMBIENT_ENABLE_MULTI_NETWORK`). */
  readonly multiNetwork: boolean;
  /** Labels of namespaces. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly services: () => Iterable<Pick<Service, "namespace" | "labels" | "provider">>;
}

/** A warning for each entry that decides about no Service, or one warning if nothing reads the entries. */
export function scopeWarnings({ configs, multiNetwork, namespaces, services }: ScopeParts): Finding[] {
  if (configs.length === 0) return [];
  if (!multiNetwork) {
    const needed = "AMBIENT_ENABLE_MULTI_NETWORK=true and PILOT_ENABLE_AMBIENT=true";
    return [warningOf("scope-without-effect", [], `serviceScopeConfigs is without effect, expected ${needed}`)];
  }
  const { deciding, matching } = decided(configs, namespaces, services());
  return configs.flatMap((config, index) => {
    if (deciding.has(config)) return [];
    const why = matching.has(config)
      ? "earlier entries decide about all of its Services, expected a Service that no earlier entry selects"
      : "selects no Service, expected selectors that the labels of a Service and of its namespace meet";
    return [warningOf("scope-without-effect", [], `serviceScopeConfigs[${index}] ${why}`)];
  });
}

/** The entries that decide about a Service, and the entries whose selectors match one. */
function decided(
  configs: readonly ServiceScopeConfig[],
  namespaces: ReadonlyMap<string, Labels>,
  services: ReturnType<ScopeParts["services"]>,
) {
  const [deciding, matching] = [new Set<ServiceScopeConfig>(), new Set<ServiceScopeConfig>()];
  for (const { namespace, labels, provider } of services) {
    if (provider !== "Orch") continue;
    const service: ScopedService = { labels, namespaceLabels: namespaces.get(namespace) };
    const found = configs.filter((config) => isMatched(config, service));
    if (found[0] !== undefined) deciding.add(found[0]);
    for (const config of found) matching.add(config);
    if (deciding.size === configs.length) break;
  }
  return { deciding, matching };
}
