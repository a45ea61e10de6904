/**
 * Isolation of listeners: of the listeners with one port and protocol, a request belongs only to the listener with the
 * most specific hostname, also if that listener has no route for the request.
 *
 * The server name of the TLS handshake gives each connection to one HTTPS listener. HTTP/2 clients reuse a connection for
 * all hosts of a certificate, so a request for another listener may come over the connection. The answer to such a request
 * is 421, and the client then opens another connection.
 *
 * @module
 */
import { ANY_HOST, coversHost, namesOver } from "./hostnames.ts";
import type { GatewayView, ListenerView } from "./types.ts";

/** The hostnames of the listeners among which the hostname of a request, or the server name of a connection, decides. */
interface PortHosts {
  readonly hosts: ReadonlySet<string>;
  /** The hostnames that no other hostname of the port covers. */
  readonly widest: readonly string[];
  /** By hostname: the next narrower hostnames of the port, without the hostnames below these. */
  readonly narrower: ReadonlyMap<string, readonly string[]>;
}

/** The hostnames of the listeners of a Gateway, by their groups: collected once for all listeners. */
const known = new WeakMap<readonly ListenerView[], ReadonlyMap<string, PortHosts>>();

/**
 * The hostnames that requests at a listener may still have: without the hostnames that belong to a more specific listener
 * of the same port and protocol. At a listener that passes TLS on, they are server names, and HTTPS listeners of the port
 * own server names too.
 *
 * @param hostnames Hostnames of a route on the listener.
 * @param view The view with the listener.
 */
export function isolatedHostnames(
  listener: ListenerView,
  hostnames: readonly string[],
  view: Pick<GatewayView, "listeners">,
): string[] {
  const own = hostOf(listener);
  const { hosts } = portHosts(listener.protocol === "TLS" ? serverNamesOf(listener) : portOf(listener), view);
  return hostnames.filter((hostname) => {
    const owner = hosts.has(hostname) ? hostname : wider(hostname, hosts) ?? own;
    return owner === own || !coversHost(own, owner);
  });
}

/**
 * Whether the proxies need a virtual host for a listener's hostname even without a route. Such a host answers 404. Without
 * it, the routes of a wider hostname would answer requests that belong to this listener.
 */
export function needsOwnHost(listener: ListenerView, view: Pick<GatewayView, "listeners">): boolean {
  const own = hostOf(listener);
  if (own === ANY_HOST) return false;
  return wider(own, portHosts(portOf(listener), view).hosts) !== undefined ||
    misdirectedHosts(listener, view).includes(ANY_HOST);
}

/**
 * Up to this number of hostnames, a request for another listener gets 421 and a request for an unknown host gets 404. With
 * more hostnames both get 421: each of n listeners would have to list the hostnames of the n others.
 */
const MOST_WIDEST = 256;

/**
 * The hostnames whose requests belong to other HTTPS listeners of the port. A hostname stands for all narrower hostnames,
 * except for the hostname of the listener itself. With too many hostnames the answer is every host.
 */
export function misdirectedHosts(listener: ListenerView, view: Pick<GatewayView, "listeners">): readonly string[] {
  if (listener.protocol !== "HTTPS") return [];
  const own = hostOf(listener);
  const { hosts, widest, narrower } = portHosts(portOf(listener), view);
  if (hosts.size === 1) return [];
  const others = widest.length > MOST_WIDEST ? [ANY_HOST] : widest.filter((host) => host !== own);
  return [...others, ...narrower.get(own) ?? []].sort();
}

function portHosts(group: string, { listeners }: Pick<GatewayView, "listeners">): PortHosts {
  let ports = known.get(listeners);
  if (ports === undefined) {
    const serving = listeners.filter(({ serves }) => serves);
    const secure = serving.filter(({ protocol }) => protocol === "HTTPS" || protocol === "TLS");
    const groups = [...Map.groupBy(serving, portOf), ...Map.groupBy(secure, serverNamesOf)];
    ports = new Map(groups.map(([name, group]) => [name, collected(group.map(hostOf))]));
    known.set(listeners, ports);
  }
  return ports.get(group) ?? NO_HOSTS;
}

const NO_HOSTS: PortHosts = { hosts: new Set(), widest: [], narrower: new Map() };

function collected(names: readonly string[]): PortHosts {
  const hosts = new Set(names);
  const byWider = Map.groupBy(hosts, (host) => wider(host, hosts) ?? "");
  return { hosts, widest: byWider.get("") ?? [], narrower: byWider };
}

/** The most specific hostname that is wider than a host and covers the host. */
function wider(host: string, hosts: ReadonlySet<string>): string | undefined {
  for (const name of namesOver(host)) if (hosts.has(name)) return name;
  return undefined;
}

function portOf({ protocol, spec: { port } }: ListenerView): string {
  return `${protocol} ${port}`;
}

/** The group of the listeners that a server name chooses from. */
function serverNamesOf({ spec: { port } }: ListenerView): string {
  return `server names ${port}`;
}

function hostOf({ spec: { hostname } }: ListenerView): string {
  return hostname || ANY_HOST;
}
