/**
 * The ports of a proxy and its agent. Each port may have one user only, or one of the two programs cannot start.
 *
 * @module
 */
import type { ProxySettings } from "../mesh/types.ts";

/** The settings of ports; 0: unused. */
export interface OwnPorts {
  readonly proxy: Pick<ProxySettings, "statusPort" | "proxyAdminPort">;
  readonly settings: {
    readonly PROXY_METRICS_PORT: number;
    readonly PROXY_STATUS_PORT: number;
    readonly PROXY_XDS_DEBUG_VIA_AGENT_PORT: number;
  };
}

/** Redirected traffic arrives at these ports of an injected proxy, whatever the settings say. */
const REDIRECTED = [["outbound traffic", 15001], ["inbound traffic", 15006], ["tunnels", 15008]] as const;

/** A port and what listens there, in words. */
export type UsedPort = readonly [user: string, port: number];

/** The ports of a proxy and its agent; a port 0 is unused. */
export function usedPorts({ proxy, settings }: OwnPorts): readonly UsedPort[] {
  return [
    ...REDIRECTED,
    ["proxyAdminPort", proxy.proxyAdminPort],
    ["variable PROXY_METRICS_PORT", settings.PROXY_METRICS_PORT],
    ["variable PROXY_STATUS_PORT", settings.PROXY_STATUS_PORT],
    ["variable PROXY_XDS_DEBUG_VIA_AGENT_PORT", settings.PROXY_XDS_DEBUG_VIA_AGENT_PORT],
    ["statusPort", proxy.statusPort],
  ];
}

/** Ports with two users, a line each. None: the proxy and its agent can start. */
export function portClashes(own: OwnPorts): string[] {
  const all = usedPorts(own);
  return all.flatMap(([name, port], at) => {
    const other = all.slice(0, at).find(([, one]) => one === port && port !== 0);
    return other === undefined ? [] : [`${name}: got ${port}, expected another port: ${other[0]} is there`];
  });
}
