/**
 * The scope of a service (`serviceScopeConfigs` of the mesh configuration): whether other networks may reach the service.
 *
 * @module
 */
import { meetsLabelSelector } from "../config/mesh/label_selector.ts";
import type { LabelSelector, ServiceScopeConfig } from "../config/mesh/types.ts";
import type { Labels } from "../registry/labels.ts";

/** `GLOBAL`: other networks reach the service, through the gateways between networks. `LOCAL`: no other network does. */
export type ServiceScope = NonNullable<ServiceScopeConfig["scope"]>;

/** The parts of a Service that decide about its scope. */
export interface ScopedService {
  /** The labels of the Service. */
  readonly labels: Labels;
  /** The labels of its namespace; undefined: the namespace has no object. */
  readonly namespaceLabels: Labels | undefined;
}

/**
 * The scope of a Service of the orchestrator: the scope of the first entry whose selectors match. A Service that no
 * entry matches is local. Hosts of ServiceEntries have no scope, and are local.
 */
export function scopeOfService(configs: readonly ServiceScopeConfig[], service: ScopedService): ServiceScope {
  return configs.find((config) => isMatched(config, service))?.scope ?? "LOCAL";
}

/** Whether an entry decides about a Service. A missing selector matches everything. */
export function isMatched(config: ServiceScopeConfig, { labels, namespaceLabels }: ScopedService): boolean {
  const { namespaceSelector, servicesSelector, scope = "LOCAL" } = config;
  if (servicesSelector !== undefined && !meetsLabelSelector(servicesSelector, labels)) return false;
  return namespaceSelector === undefined || meetsNamespace(namespaceSelector, namespaceLabels, scope);
}

/** The labels of a namespace without an object are unknown: a service there must not become global by a guess. */
function meetsNamespace(selector: LabelSelector, labels: Labels | undefined, scope: ServiceScope): boolean {
  return labels === undefined ? scope === "LOCAL" : meetsLabelSelector(selector, labels);
}
