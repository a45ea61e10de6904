/**
 * The virtual services of a gateway, as the proxy's namespace sees them.
 *
 * @module
 */
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import { visibilityRank } from "../../mesh/visibility.ts";
import type { Reader } from "../reader/reader.ts";

/**
 * How visible a virtual service is to the proxy: -1 not at all, 0 private to the namespace, 1 exported to the namespace
 * by name, 2 exported to all.
 */
function rank(read: Reader, vs: EffectiveVirtualService): number {
  // Nearly all virtual services are exported to everyone. Only for the others the proxy matters.
  if (vs.exportTo.length === 0 || vs.exportTo.includes("*")) return 2;
  const { namespace, exportTo } = vs;
  return read.derived(
    `visibilityRank/${namespace}/${exportTo.join(",")}`,
    (properties) => visibilityRank({ namespace, exportTo }, properties.namespace),
  );
}

/**
 * The visible virtual services bound to a gateway, in order of precedence: private ones, exported to the namespace,
 * public, and by age within each group, oldest first.
 *
 * @param gateway `namespace/name`.
 */
export function visibleVirtualServices(read: Reader, gateway: string): EffectiveVirtualService[] {
  const groups: [EffectiveVirtualService[], EffectiveVirtualService[], EffectiveVirtualService[]] = [[], [], []];
  for (const vs of read.virtualServicesOf(gateway)) groups[rank(read, vs)]?.push(vs);
  return groups.flat();
}
