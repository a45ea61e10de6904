/**
 * Names of outbound clusters: `outbound|port|subset|host`, and at the waypoint of a service
 * `inbound-vip|port|http/subset|host`. Dashboards and patches know these forms from Istio.
 *
 * @module
 */

/** Name of the cluster of a service port, or of a subset on the port. */
export function outboundClusterName(port: number, subset: string, host: string): string {
  return `outbound|${port}|${subset}|${host}`;
}

/** Name of a cluster at the waypoint of a service: the name of the port's chain, with the subset if there is one. */
export function servedClusterName(port: number, form: "http" | "tcp", subset: string, host: string): string {
  return `inbound-vip|${port}|${form}${subset === "" ? "" : `/${subset}`}|${host}`;
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
  const [direction, port, middle, host] = parts;
  if (parts.length !== 4 || middle === undefined || !host) return undefined;
  if (direction !== "outbound" && direction !== "inbound-vip") return undefined;
  if (port === undefined || !/^\d{1,5}$/.test(port)) return undefined;
  return { port: Number(port), subset: direction === "outbound" ? middle : subsetOfForm(middle), host };
}

/** The host of a chain at the waypoint of a service. Undefined: the chain is not a service's. */
export function servedHost(chain: string): string | undefined {
  const [direction, , , host] = chain.split("|");
  return direction === "inbound-vip" && host ? host : undefined;
}

/** `http/v1` is the subset `v1`. */
function subsetOfForm(form: string): string {
  const slash = form.indexOf("/");
  return slash < 0 ? "" : form.slice(slash + 1);
}
