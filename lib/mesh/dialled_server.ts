/**
 * The dialled server for destinations without addresses of their own: the proxy resolves the server's name for each
 * connection (`DYNAMIC_DNS`).
 *
 *     destination a.example.com, under *.example.com     a.example.com
 *     destination *.example.com                          the server name of the client's TLS
 *     several destinations that differ in this           nothing tells: the name is looked up before one is chosen
 *
 * @module
 */
import { resolutionOf, type Service } from "../registry/types.ts";

/** A server with a name that is resolved for each connection. */
export interface DialledServer {
  /** Absent: the name from the connection itself. */
  readonly host?: string;
  /** The port of the server. */
  readonly port: number;
}

/** Whether the traffic to a port of a service names the dialled server. */
export function isNamed(service: Service, port: number): boolean {
  return resolutionOf(service, service.ports.find((one) => one.port === port)) === "dynamicDns";
}

/** The port of the servers behind a port of a service. */
export function dialledPort({ ports }: Service, port: number): number {
  return ports.find((one) => one.port === port)?.targetPort ?? port;
}

/** A destination, and the service behind the name. */
interface Destined {
  readonly name: string;
  /** The service's host: the name, or the wildcard over the name. */
  readonly host: string;
  readonly service?: Service | undefined;
}

/** The server of a destination. Undefined: the destination has endpoints with addresses. */
export function dialledServer({ name, host, service }: Destined, port: number): DialledServer | undefined {
  if (service === undefined || !isNamed(service, port)) return undefined;
  return { ...(name === host ? {} : { host: name }), port: dialledPort(service, port) };
}

/**
 * The common server of all destinations of a connection. `several`: the servers differ, so connections to resolved
 * destinations fail. Undefined: no destination is resolved.
 */
export function sharedServer(servers: readonly (DialledServer | undefined)[]): DialledServer | "several" | undefined {
  const [first, ...others] = servers;
  if (servers.every((one) => one === undefined)) return undefined;
  const isSame = others.every((one) => one?.host === first?.host && one?.port === first?.port);
  return first !== undefined && isSame ? first : "several";
}
