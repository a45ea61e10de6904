/**
 * The route configurations of a sidecar to which the virtual hosts of a port belong.
 *
 *     HTTP port 8080              "8080"                  one for all services of that port
 *     sniffed port 8080           "8080" and "host:8080"  its own listener knows the host already
 *     HTTP port, by address       "8080" and "host:8080"  the same
 *     egress listener, port 9080  "9080"                  only what that listener sees
 *     egress listener, Unix       "unix:///path"          all ports, selected by the port in the Host header
 *     egress listener, HTTP_PROXY "3128"                  the same
 *     HTTP proxy of the sidecar   "http_proxy"            the same
 *
 * @module
 */
import type { EgressListener } from "../../mesh/types.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import { listenerKind } from "../service/protocol.ts";
import type { Reader } from "../reader/reader.ts";

/** Route configuration of the sidecar's own HTTP proxy port. */
export const HTTP_PROXY_ROUTES = "http_proxy";

/** A place for a virtual host. */
export interface RoutePlacement {
  readonly routeConfiguration: string;
  /**
   * - `port`: the listener is for one port, and the port in a Host header is ignored.
   * - `any`: the listener is for a single host and port, so any Host header is accepted.
   * - `allPorts`: the Host header includes the port.
   */
  readonly domains: "port" | "any" | "allPorts";
}

/** A port of a host. */
export interface PlacedPort {
  readonly port: number;
  /** The host has a listener of its own: at its addresses, or for a protocol that the first bytes tell. */
  readonly ownListener: boolean;
  /** Host whose listener recognizes the protocol. Absent: the host itself. */
  readonly sniffedBy?: string | undefined;
}

/** The places for a port of a host. */
export function placements(
  read: Reader,
  host: string,
  { port, ownListener, sniffedBy = host }: PlacedPort,
): RoutePlacement[] {
  const egress = read.egressListeners();
  const catchAll = egress.find((listener) => !listener.port);
  const sees = (listener: EgressListener | undefined) => listener !== undefined && read.egressSees(listener, host);
  const found: RoutePlacement[] = [];
  const owner = egress.find((listener) => listener.port?.number === port) ?? catchAll;
  if (owner && !forAllPorts(owner) && carriesHttp(owner) && sees(owner)) {
    found.push({ routeConfiguration: `${port}`, domains: "port" });
    if (ownListener) found.push({ routeConfiguration: `${sniffedBy}:${port}`, domains: "any" });
  }
  for (const listener of egress) {
    if (forAllPorts(listener) && sees(listener)) {
      found.push({ routeConfiguration: egressRoutes(listener), domains: "allPorts" });
    }
  }
  if (read.derived("hasHttpProxy", (t) => t.httpProxyPort > 0) && sees(catchAll)) {
    found.push({ routeConfiguration: HTTP_PROXY_ROUTES, domains: "allPorts" });
  }
  return found;
}

/** Whether a route configuration serves many ports, so the port in a Host header counts. */
export function tellsPortsApart(read: Reader, routeConfiguration: string): boolean {
  if (routeConfiguration === HTTP_PROXY_ROUTES || routeConfiguration.startsWith("unix:")) return true;
  return read.egressListeners().some((listener) =>
    forAllPorts(listener) && egressRoutes(listener) === routeConfiguration
  );
}

/** Whether a route configuration belongs to a host's own listener, `host:port`. */
export function isOfOneHost(routeConfiguration: string): boolean {
  return !routeConfiguration.startsWith("unix:") && routeConfiguration.includes(":");
}

function forAllPorts({ port }: EgressListener): boolean {
  return port !== undefined && (port.number === 0 || parseProtocol(port.protocol) === "HTTP_PROXY");
}

function egressRoutes({ port, bind }: EgressListener): string {
  return port?.number ? `${port.number}` : bind ?? "";
}

function carriesHttp({ port }: EgressListener): boolean {
  const kind = port ? listenerKind(parseProtocol(port.protocol)) : "http";
  return kind === "http" || kind === "auto";
}
