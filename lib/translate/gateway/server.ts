/**
 * A server of a Gateway object: kind of traffic, hosts and names.
 *
 * @module
 */
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import type { GatewayServerSpec } from "../../config/kinds/gateway/schema.ts";
import type { ConfigObject } from "../../config/types.ts";
import { wildcardsOver } from "../../mesh/host_match.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import { listenerKind } from "../service/protocol.ts";

/**
 * The treatment of a server's connections.
 *
 * - `http`: plain HTTP, routed by requests (also if all requests are redirected to HTTPS).
 * - `https`: TLS ends here, then routed by requests.
 * - `tcp`: bytes, to the single destination of the port.
 * - `tls`: TLS ends here, then bytes to a destination by server name.
 * - `passthrough`: TLS is passed on unchanged, to a destination by server name.
 * - `autoPassthrough`: mutual TLS is passed on to the cluster in the server name (from other networks).
 * - `udp`: datagrams, to the single destination of the port. Only derived servers carry datagrams.
 */
export type ServerKind = "http" | "https" | "tcp" | "tls" | "passthrough" | "autoPassthrough" | "udp";

/** A server with its Gateway object. */
export interface GatewayServer {
  /** `namespace/name` of the Gateway object, to which virtual services bind. */
  readonly gateway: string;
  /** Key of the Gateway object. */
  readonly cause: string;
  /** Position in the object. */
  readonly index: number;
  readonly kind: ServerKind;
  /** As written. Virtual services match `port.number`, and the proxy may listen on another port. */
  readonly spec: GatewayServerSpec;
  readonly hosts: readonly ServerHost[];
}

/**
 * The kind of a server.
 *
 * @returns Undefined for HTTPS or TLS without `tls` settings. Validation refuses such a server.
 */
export function serverKind(server: GatewayServerSpec): ServerKind | undefined {
  const protocol = parseProtocol(server.port.protocol);
  if (carriesDatagrams(server)) return "udp";
  if (listenerKind(protocol) === "http") return "http";
  const tls = server.tls;
  if (tls === undefined) return protocol === "HTTPS" || protocol === "TLS" ? undefined : "tcp";
  if (tls.mode === "PASSTHROUGH") return "passthrough";
  if (tls.mode === "AUTO_PASSTHROUGH") return "autoPassthrough";
  return protocol === "HTTPS" ? "https" : "tls";
}

/** Whether a server carries datagrams. A server of a user's Gateway carries bytes of TCP, whatever protocol is written. */
export function carriesDatagrams({ internal, port }: GatewayServerSpec): boolean {
  return internal !== undefined && parseProtocol(port.protocol) === "UDP";
}

/** The server names of TLS clients for the server: sorted, each once. */
export function serverNames(server: GatewayServer): string[] {
  return [...new Set(server.hosts.map(({ host }) => host))].sort();
}

/** Whether all unencrypted requests are redirected to HTTPS. */
export function redirectsToHttps(server: GatewayServer): boolean {
  return server.kind === "http" && server.spec.tls?.httpsRedirect === true;
}

/**
 * Name of the route configuration of an HTTP server. All plain servers of a port (and bind) share a route
 * configuration, and each server that ends TLS has a separate one.
 *
 * @param port The proxy's listening port.
 * @returns Undefined when the server carries bytes.
 */
export function routeConfigurationName(
  server: Pick<GatewayServer, "kind" | "spec">,
  object: ConfigObject<"Gateway">,
  port: number,
): string | undefined {
  const { spec, kind } = server;
  const bind = spec.bind ? `.${spec.bind}` : "";
  if (kind === "http") return `http.${port}${bind}`;
  if (kind !== "https") return undefined;
  const { name, namespace } = object.meta;
  return `https.${spec.port.number}.${spec.port.name}.${name}.${namespace}${bind}`;
}

/** The hosts of a server, indexed: a lookup for a virtual service need not visit every host. */
export class HostIndex {
  /** The namespaces of virtual services that may be bound to each host. */
  readonly #hosts = new Map<string, Set<string>>();

  constructor(hosts: readonly ServerHost[]) {
    for (const { namespace, host } of hosts) {
      const namespaces = this.#hosts.get(host);
      if (namespaces) namespaces.add(namespace);
      else this.#hosts.set(host, new Set([namespace]));
    }
  }

  /**
   * The common hosts of a virtual service and the server, in the narrower form: `a.example.com` of `*.example.com` and
   * `a.example.com`, whichever side has the wildcard.
   *
   * @param host Host of the virtual service.
   * @param namespace Namespace of the virtual service.
   */
  common(host: string, namespace: string): string[] {
    const found: string[] = [];
    // Most servers accept every host or name hosts exactly, so other wildcards come last.
    const covered = this.#has(host, namespace) || this.#has("*", namespace) ||
      wildcardsOver(host).some((pattern) => this.#has(pattern, namespace));
    if (covered) found.push(host);
    if (!host.startsWith("*")) return found;
    const suffix = host.slice(1);
    for (const own of this.#hosts.keys()) {
      if (own !== host && own.endsWith(suffix) && this.#has(own, namespace)) found.push(own);
    }
    return found;
  }

  #has(host: string, namespace: string): boolean {
    const namespaces = this.#hosts.get(host);
    return namespaces !== undefined && (namespaces.has("*") || namespaces.has(namespace));
  }
}
