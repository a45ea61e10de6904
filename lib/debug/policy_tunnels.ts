/**
 * What node tunnels have of an authorization policy.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { AUTHORIZATION } from "../xds/protocol/types.ts";
import { ConnectedTunnels, type TunnelAcks } from "./tunnel_acks.ts";
import type { DebugView } from "./view.ts";
import { counted } from "./words.ts";

/** The tunnels that should have a policy. Undefined: tunnels get nothing of the object, or none is connected. */
export function tunnelsOfPolicy(
  object: ConfigObject | undefined,
  { tunnels, xds }: Pick<DebugView, "tunnels" | "xds">,
): TunnelAcks | undefined {
  if (object?.kind !== "AuthorizationPolicy") return undefined;
  for (const set of tunnels?.sets(AUTHORIZATION) ?? []) {
    for (const resource of set) {
      if (!resource.causes.includes(object.key)) continue;
      const acks = new ConnectedTunnels({ xds }).of(resource);
      return acks.wanted === 0 ? undefined : acks;
    }
  }
  return undefined;
}

/** Why tunnels do not have a policy yet, in sentences. */
export function tunnelReasons({ wanted, rejected, waiting }: TunnelAcks, most: number): string[] {
  const all = counted(wanted, "node tunnel");
  return [
    ...rejected.slice(0, most).map(({ tunnel, reason }) => `the node tunnel of ${tunnel} has rejected it: ${reason}`),
    ...waiting.length > 0 ? [`${waiting.length} of ${all} have not acknowledged it`] : [],
  ];
}
