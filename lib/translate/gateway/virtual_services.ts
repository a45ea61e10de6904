/**
 * The virtual services of a gateway, as the proxy's namespace sees them.
 *
 * @module
 */
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import { visibilityRank } from "../../mesh/visibility.ts";
import type { Reader } from "../reader/reader.ts";

/** How visible to the proxy: -1 not at all, 0 private to its namespace, 1 exported to it by name, 2 exported to all. */
function rank(read: Reader, vs: EffectiveVirtualService): number {
  // Nearly all are exported to everyone; only the others depend on the proxy.
  if (vs.exportTo.length === 0 || vs.exportTo.includes("*")) return 2;
  const { namespace, exportTo } = vs;
  return read.derived(
    `visibilityRank/${namespace}/${exportTo.join(",")}`,
    (properties) => visibilityRank({ namespace, exportTo }, properties.namespace),
  );
}

/**
 * The virtual services bound to a gateway that the proxy sees, in order of precedence: private ones first, then those
 * exported to its namespace, then public ones; oldest first among each.
 *
 * @param gateway `namespace/name`.
 */
export function visibleVirtualServices(read: Reader, gateway: string): EffectiveVirtualService[] {
  const groups: [EffectiveVirtualService[], EffectiveVirtualService[], EffectiveVirtualService[]] = [[], [], []];
  for (const vs of read.virtualServicesOf(gateway)) groups[rank(read, vs)]?.push(vs);
  return groups.flat();
}
