/**
 * The ports that a proxy and its agent listen at: each needs one for itself, or one of the two cannot start.
 *
 * @module
 */
import type { ProxySettings } from "../mesh/types.ts";

/** The settings that name ports; 0: nobody listens there. */
export interface OwnPorts {
  readonly proxy: Pick<ProxySettings, "statusPort" | "proxyAdminPort">;
  readonly settings: {
    readonly PROXY_METRICS_PORT: number;
    readonly PROXY_STATUS_PORT: number;
    readonly PROXY_XDS_DEBUG_VIA_AGENT_PORT: number;
  };
}

/** Redirected traffic arrives at these ports of an injected proxy, whatever else is set. */
const REDIRECTED = [["outbound traffic", 15001], ["inbound traffic", 15006], ["tunnels", 15008]] as const;

/** Ports that are named twice, a line each. None: the proxy and its agent can start. */
export function portClashes({ proxy, settings }: OwnPorts): string[] {
  const all = [
    ...REDIRECTED,
    ["proxyAdminPort", proxy.proxyAdminPort],
    ["variable PROXY_METRICS_PORT", settings.PROXY_METRICS_PORT],
    ["variable PROXY_STATUS_PORT", settings.PROXY_STATUS_PORT],
    ["variable PROXY_XDS_DEBUG_VIA_AGENT_PORT", settings.PROXY_XDS_DEBUG_VIA_AGENT_PORT],
    ["statusPort", proxy.statusPort],
  ] as const;
  return all.flatMap(([name, port], at) => {
    const other = all.slice(0, at).find(([, one]) => one === port && port !== 0);
    return other === undefined ? [] : [`${name}: got ${port}, expected another port: ${other[0]} is there`];
  });
}
