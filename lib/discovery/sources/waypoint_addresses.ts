/**
 * The addresses of waypoints from the status of their Gateways, for gateways that use waypoints. A status is not part of
 * the meaning of an object, so the pipeline does not get a new status by the objects.
 *
 * @module
 */
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import { type WaypointAddress, waypointAddress } from "../../mesh/waypoints/address.ts";

/** Reports the addresses of all Gateways with an address, and each change. Unchanged addresses stay the same object. */
export function followWaypointAddresses(
  store: Pick<ConfigStore, "list" | "subscribe">,
  pipeline: { waypointAddressesChanged(all: ReadonlyMap<string, WaypointAddress>): void },
): void {
  const known = new Map<string, WaypointAddress>();
  /** @returns Whether the address is another one. */
  const put = ({ meta: { namespace, name } }: ConfigObject, address: WaypointAddress | undefined): boolean => {
    const waypoint = `${namespace}/${name}`;
    if (JSON.stringify(known.get(waypoint)) === JSON.stringify(address)) return false;
    if (address === undefined) known.delete(waypoint);
    else known.set(waypoint, address);
    return true;
  };
  const take = (removed: readonly ConfigObject[], present: readonly ConfigObject[]) => {
    let isChanged = false;
    for (const gateway of removed) if (gateway.kind === "ApiGateway") isChanged = put(gateway, undefined) || isChanged;
    for (const gateway of present) {
      if (gateway.kind === "ApiGateway") isChanged = put(gateway, waypointAddress(gateway.status)) || isChanged;
    }
    if (isChanged) pipeline.waypointAddressesChanged(new Map(known));
  };
  take([], store.list("ApiGateway"));
  store.subscribe(({ added, updated, refreshed, removed }) =>
    take(removed, [...added, ...[...updated, ...refreshed].map((one) => one.new)])
  );
}
