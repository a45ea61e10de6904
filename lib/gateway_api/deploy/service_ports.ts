/**
 * Ports of the Service in front of a Gateway's proxies.
 *
 * @module
 */
import { withoutEnd } from "../../kernel/text/edges.ts";
import type { JsonTree } from "../../injection/merge.ts";
import type { DeployedListener } from "./types.ts";

/** Port on which balancers ask for the health of the proxy. */
const STATUS = { name: "status-port", port: 15021, protocol: "TCP", appProtocol: "tcp" } as const;

/** Longest name of a port. */
const MAX_NAME = 63;

/** One port of the Service. */
export interface GatewayServicePort extends JsonTree {
  readonly name: string;
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
  readonly appProtocol: string;
}

/**
 * The ports of the Service: the status port, then one port for each distinct port and transport protocol of listeners, in
 * their order. A port has the name and the protocol of its first listener.
 */
export function servicePorts(listeners: readonly DeployedListener[]): readonly GatewayServicePort[] {
  const ports = new Map<string, GatewayServicePort>();
  const names = new Set<string>();
  const add = (port: GatewayServicePort) => {
    ports.set(`${port.protocol}/${port.port}`, port);
    names.add(port.name);
  };
  const isTaken = listeners.some(({ port, protocol }) => port === STATUS.port && transportOf(protocol) === "TCP");
  if (!isTaken) add(STATUS);
  for (const { name, port, protocol } of listeners) {
    const transport = transportOf(protocol);
    if (ports.has(`${transport}/${port}`)) continue;
    const own = portName(name);
    const free = own !== "" && !names.has(own) ? own : `${transport.toLowerCase()}-${port}`;
    add({ name: free, port, protocol: transport, appProtocol: protocol.toLowerCase() });
  }
  return [...ports.values()];
}

function transportOf(protocol: string): "TCP" | "UDP" {
  return protocol.toUpperCase() === "UDP" ? "UDP" : "TCP";
}

/** A listener's name as a DNS label; empty: nothing of the name is left. */
function portName(name: string): string {
  return withoutEnd(name.replaceAll(".", "-").slice(0, MAX_NAME), "-");
}
