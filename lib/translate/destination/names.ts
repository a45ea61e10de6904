/**
 * Names of outbound clusters: `outbound|port|subset|host`, Istio's form, which dashboards and patches know.
 *
 * @module
 */

/** Name of the cluster of a service port, or of one subset of it. */
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

/** Reads a cluster name; undefined when it is not the name of an outbound cluster. */
export function parseOutboundClusterName(name: string): OutboundName | undefined {
  const parts = name.split("|");
  const [direction, port, subset, host] = parts;
  if (parts.length !== 4 || direction !== "outbound" || subset === undefined || !host) return undefined;
  if (port === undefined || !/^\d{1,5}$/.test(port)) return undefined;
  return { port: Number(port), subset, host };
}
