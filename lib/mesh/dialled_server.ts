/**
 * The server that a proxy dials for connections whose destinations have no addresses of their own: the proxy resolves the
 * name of the server when a connection comes (`DYNAMIC_DNS`).
 *
 *     destination a.example.com, under *.example.com     a.example.com
 *     destination *.example.com                          the server name of the client's TLS
 *     several destinations that differ in this           nothing tells: the name is looked up before one is chosen
 *
 * @module
 */
import { resolutionOf, type Service } from "../registry/types.ts";

/** A server whose name is resolved for each connection. */
export interface DialledServer {
  /** Absent: the name that the connection itself names. */
  readonly host?: string;
  /** The port of the server. */
  readonly port: number;
}

/** Whether the traffic to a port of a service names the server that is dialled. */
export function isNamed(service: Service, port: number): boolean {
  return resolutionOf(service, service.ports.find((one) => one.port === port)) === "dynamicDns";
}

/** The port of the servers behind a port of a service. */
export function dialledPort({ ports }: Service, port: number): number {
  return ports.find((one) => one.port === port)?.targetPort ?? port;
}

/** A destination, and the service that its name leads to. */
interface Destined {
  readonly name: string;
  /** The service's host: the name, or the wildcard that covers the name. */
  readonly host: string;
  readonly service?: Service | undefined;
}

/** The server of one destination; undefined: endpoints with addresses. */
export function dialledServer({ name, host, service }: Destined, port: number): DialledServer | undefined {
  if (service === undefined || !isNamed(service, port)) return undefined;
  return { ...(name === host ? {} : { host: name }), port: dialledPort(service, port) };
}

/**
 * The one server of all destinations that share connections. `several`: they differ, so that connections to those that
 * are resolved fail; undefined: none is resolved.
 */
export function sharedServer(servers: readonly (DialledServer | undefined)[]): DialledServer | "several" | undefined {
  const [first, ...others] = servers;
  if (servers.every((one) => one === undefined)) return undefined;
  const isSame = others.every((one) => one?.host === first?.host && one?.port === first?.port);
  return first !== undefined && isSame ? first : "several";
}
