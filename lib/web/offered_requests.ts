/**
 * The requests that a proxy can take: its listeners, and the addresses of the hosts behind the chosen listener. Only the
 * chosen listener is decoded; a proxy may have thousands.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { tablesOf } from "../debug/resources.ts";
import { nodeName } from "../debug/proxies.ts";
import { unpack } from "../simulate/decode.ts";
import { resourcesIn } from "../simulate/decoded.ts";
import { routeParts } from "../simulate/route_parts.ts";
import type { SimulatedRequest, SocketAddress } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { LISTENER, ROUTE, VIRTUAL_HOST } from "../xds/protocol/types.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

const HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** Most listeners, and most addresses, in the form. Other names can be typed. */
const MAX_LISTENERS = 200;
const MAX_URLS = 100;

/** The listeners that take connections of other listeners come first. */
const VIRTUAL = ["virtualOutbound", "virtualInbound"];

/** A list of names, as far as a form shows it. */
export interface OfferedNames {
  readonly names: readonly string[];
  /** The number of names left out. */
  readonly left: number;
}

/** What a request to a chosen listener needs. */
export interface AskedListener {
  readonly name: string;
  readonly direction: SimulatedRequest["direction"];
  /** The dialled address; undefined: the host of the request decides. */
  readonly address?: SocketAddress;
  /** The port of requests without a port; undefined: the usual port of the scheme. */
  readonly port?: number;
  /** URLs of the hosts behind the listener. */
  readonly urls: OfferedNames;
}

/** The listeners of a proxy, by name. */
export function offeredListeners(connection: XdsConnection): OfferedNames {
  // A comparison with options of its own would make a collator each time.
  const byNumbers = new Intl.Collator("en", { numeric: true });
  const rank = (name: string) => VIRTUAL.includes(name) ? 0 : name.startsWith("0.0.0.0_") ? 1 : 2;
  const all = [...tablesOf(connection)(LISTENER).names()]
    .sort((a, b) => rank(a) - rank(b) || byNumbers.compare(a, b));
  return firstOf(all, MAX_LISTENERS);
}

function firstOf(names: readonly string[], most: number): OfferedNames {
  return { names: names.slice(0, most), left: Math.max(0, names.length - most) };
}

/** A listener of the proxy; undefined: the proxy has no listener of this name. */
export function askedListener(name: string, connection: XdsConnection): AskedListener | undefined {
  const tables = tablesOf(connection);
  const listener = resourcesIn(tables).listeners.get(name);
  if (listener === undefined) return undefined;
  const direction = directionOf(name, listener);
  const { address: ip = "", port_value: port = 0 } = listener.address?.socket_address ?? {};
  const own = nodeName(connection).address;
  const isAny = ip === "0.0.0.0" || ip === "::";
  const urls = new UrlsOfListener(connection, { direction, port, ip: isAny ? own : ip, isAny }).of(listener);
  if (VIRTUAL.includes(name)) return { name, direction, urls };
  // Whatever is dialled through the listener of a port, the port is the same.
  if (direction === "outbound" && isAny) return { name, direction, port, urls };
  return { name, direction, address: { ip: isAny ? own : ip, port }, port, urls };
}

/** Redirected connections reach a listener that is not bound by the listener that takes them. */
function directionOf(name: string, { bind_to_port }: Listener): SimulatedRequest["direction"] {
  if (name === "virtualInbound") return "inbound";
  const isRedirected = bind_to_port !== undefined && bind_to_port.value !== true;
  return name === "virtualOutbound" || isRedirected ? "outbound" : "direct";
}

/** Where a listener listens. */
interface ListenerPlace extends SocketAddress {
  readonly direction: SimulatedRequest["direction"];
  /** The listener takes all addresses; the address is the proxy's own. */
  readonly isAny: boolean;
}

/** Makes the URLs of the hosts and ports behind a listener. */
class UrlsOfListener {
  readonly #connection: XdsConnection;
  readonly #at: ListenerPlace;
  readonly #urls = new Set<string>();

  constructor(connection: XdsConnection, at: ListenerPlace) {
    this.#connection = connection;
    this.#at = at;
  }

  of({ filter_chains = [], default_filter_chain, name }: Listener): OfferedNames {
    if (name !== "virtualOutbound") {
      for (const chain of [...filter_chains, ...default_filter_chain ? [default_filter_chain] : []]) this.#chain(chain);
    }
    return firstOf([...this.#urls].sort(), MAX_URLS);
  }

  #chain({ filter_chain_match: match, filters = [], transport_socket }: FilterChain): void {
    const port = match?.destination_port?.value ?? this.#at.port;
    const isInbound = this.#at.direction === "inbound";
    // The port of the virtual listener itself is no port of the workload.
    if (isInbound && (match?.destination_port === undefined || port === this.#at.port)) return;
    const isTls = !isInbound && (transport_socket !== undefined || (match?.server_names ?? []).length > 0);
    const http = filters.map((filter) => unpack<HttpConnectionManager>(filter.typed_config, HCM))
      .find((one) => one !== undefined);
    const hosts = isInbound ? [] : http === undefined ? match?.server_names ?? [] : this.#hosts(http);
    const scheme = http === undefined ? isTls ? "tls" : "tcp" : isTls ? "https" : "http";
    const named = hosts.filter((host) => !host.includes("*"));
    for (const host of named) this.#urls.add(urlText(scheme, host, port));
    // A listener of all addresses passes bytes without a name on to the dialled address, whatever it is.
    const hasAddress = isInbound || http === undefined && !this.#at.isAny;
    if (named.length === 0 && hasAddress) this.#urls.add(urlText(scheme, this.#at.ip, port));
  }

  /** A name of each virtual host. */
  #hosts({ rds, route_config }: HttpConnectionManager): string[] {
    const tables = tablesOf(this.#connection);
    if (route_config !== undefined) {
      return (route_config.virtual_hosts ?? []).flatMap(({ domains }) => domains?.[0] ?? []);
    }
    const name = rds?.route_config_name ?? "";
    const routes = tables(ROUTE).get(name);
    if (routes === undefined) return [];
    const { head, hosts } = routeParts(routes.value);
    const own = hosts.flatMap(({ domains }) => domains[0] ?? []);
    if (head.vhds === undefined) return own;
    const prefix = `${name}/`;
    const apart = [...tables(VIRTUAL_HOST).names()].filter((key) => key.startsWith(prefix));
    return [...own, ...apart.map((key) => key.slice(prefix.length))];
  }
}

const USUAL_PORTS = { http: 80, https: 443, tls: 443, tcp: -1 } as const;

/** @param host with or without a port */
function urlText(scheme: keyof typeof USUAL_PORTS, host: string, port: number): string {
  const colon = host.lastIndexOf(":");
  const isAddress = colon !== host.indexOf(":");
  const bare = colon > 0 && !isAddress ? host.slice(0, colon) : host;
  const shown = isAddress ? `[${bare}]` : bare;
  return `${scheme}://${shown}${port === USUAL_PORTS[scheme] ? "" : `:${port}`}/`;
}
