/**
 * Names of outbound clusters: `outbound|port|subset|host`. Dashboards and patches know this form from Istio.
 *
 * @module
 */

/** Name of the cluster of a service port, or of a subset on the port. */
export function outboundClusterName(port: number, subset: string, host: string): string {
  return `outbound|${port}|${subset}|${host}`;
}

/** Parts of an outbound cluster's name. */
export interface OutboundName {
  readonly port: number;
  /** Empty: the default cluster. */
  readonly subset: string;
  readonly host: string;
}

/** The parts of a cluster name. Undefined when the name is not of an outbound cluster. */
export function parseOutboundClusterName(name: string): OutboundName | undefined {
  const parts = name.split("|");
  const [direction, port, subset, host] = parts;
  if (parts.length !== 4 || direction !== "outbound" || subset === undefined || !host) return undefined;
  if (port === undefined || !/^\d{1,5}$/.test(port)) return undefined;
  return { port: Number(port), subset, host };
}
