/**
 * ServiceEntries of which no proxy has anything.
 *
 * @module
 */
import { effectiveExportTo, fullHost } from "../mesh/names.ts";
import type { ServiceEntrySpec } from "../config/kinds/kinds.ts";
import { takesHbone } from "../registry/labels.ts";
import { isVisible } from "../mesh/visibility.ts";
import { type Judge, named } from "./judge.ts";

/** Whether others of the host may have something of an entry: workloads that it selects, and names of servers. */
function sharesWithOthers({ endpoints = [], subjectAltNames = [], workloadSelector }: ServiceEntrySpec): boolean {
  return workloadSelector !== undefined || subjectAltNames.length > 0 ||
    endpoints.some(({ serviceAccount, labels }) => serviceAccount !== undefined || takesHbone(labels ?? {}));
}

/** See the module. */
export const judgeServiceEntry: Judge<"ServiceEntry"> = ({ key, meta: { namespace }, spec }, world) => {
  const { mesh, views, inForce } = world;
  if (inForce.has(key) || sharesWithOthers(spec)) return [];
  world.noteDead();
  const exportTo = effectiveExportTo(spec.exportTo, namespace, mesh.config.defaultServiceExportTo);
  const hosts = (spec.hosts ?? []).map((host) => fullHost(host, namespace, mesh.domainSuffix));
  const winners = new Set<string>();
  for (const proxy of views) {
    if (!isVisible({ namespace, exportTo }, proxy.namespace)) continue;
    for (const host of hosts) {
      const service = proxy.scope.service(host);
      // Entries of one namespace are one service. One without resources keeps its host from other services all the same.
      if (service?.namespace === namespace) return [];
      if (service !== undefined) winners.add(service.cause);
    }
  }
  const [winner] = winners;
  if (winner === undefined) return [];
  return [{
    field: "spec.hosts",
    value: spec.hosts,
    expected: `a host that no other service has (${named(winner)} has it)`,
    others: [winner],
  }];
};
