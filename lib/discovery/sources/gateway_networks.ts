/**
 * Gateways of the Gateway API as entrances to networks, followed change by change.
 *
 * @module
 */
import type { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";
import { type GatewayEntrance, gatewayEntrances } from "../../gateway_api/derive/entrances.ts";
import type { ReportedNetworks } from "../../registry/reported_networks.ts";

/**
 * Reports the entrances of all Gateways, and of each change. The cost of a change is the changed Gateways, and the
 * Gateways that are entrances.
 */
export function followGatewayNetworks(
  verdicts: Pick<GatewayApiVerdicts, "gateway" | "onChange">,
  networks: Pick<ReportedNetworks, "setGateways">,
): void {
  const known = new Map<string, readonly GatewayEntrance[]>();
  verdicts.onChange((keys) => {
    let isChanged = false;
    for (const key of keys) {
      // The verdicts of a ListenerSet change with those of its Gateway.
      if (!key.startsWith("ApiGateway/")) continue;
      const view = verdicts.gateway(key)?.view;
      const entrances = view === undefined ? [] : gatewayEntrances(view);
      if (entrances.length === 0 && !known.has(key)) continue;
      isChanged = true;
      if (entrances.length === 0) known.delete(key);
      else known.set(key, entrances);
    }
    if (isChanged) networks.setGateways([...known].sort(byKey).flatMap(([, entrances]) => entrances));
  });
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
