/**
 * The way of traffic through a proxy, as a tree: listeners, filter chains, routes, clusters, endpoints.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { tablesOf } from "../debug/resources.ts";
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest } from "../http/message.ts";
import { clusterStep } from "../simulate/cluster.ts";
import { packedName, stateOf, unpack } from "../simulate/decode.ts";
import { resourcesIn } from "../simulate/decoded.ts";
import { type HostPart, type RouteParts, routeParts } from "../simulate/route_parts.ts";
import type { ProxyResources } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { ROUTE } from "../xds/protocol/types.ts";
import { type Html, markup } from "./html.ts";
import { objectUrl } from "../debug/links.ts";
import { servedHost } from "../translate/destination/names.ts";
import { filterForm, type ListPart, pageLinks } from "./list.ts";
import { counted } from "../debug/words.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
type TcpProxy = envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy;

const NETWORK = "envoy.extensions.filters.network";
const HCM = `${NETWORK}.http_connection_manager.v3.HttpConnectionManager`;
const TCP_PROXY = `${NETWORK}.tcp_proxy.v3.TcpProxy`;

/** The most entries on a page. A proxy may have thousands of each sort. */
const MAX = { listeners: 15, services: 50, chains: 20, hosts: 12, routes: 10, clusters: 5, endpoints: 5 } as const;

/** The part; query `q` is looked for in names of listeners, and in names and domains of virtual hosts. */
export function treePart(request: HttpRequest, connection: XdsConnection, _view: DebugView): Html {
  const decoded = decodedProxy(connection);
  const { resources } = decoded;
  const wanted = (request.query.get("q") ?? "").trim().toLowerCase();
  // Entries with the text in their name come first.
  const rank = (name: string) => wanted !== "" && name.toLowerCase().includes(wanted) ? 0 : 1;
  const names = [...resources.listeners.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const tree = new TreeOfProxy(decoded, wanted);
  const pages = Math.max(1, Math.ceil(names.length / MAX.listeners));
  const page = Math.min(Math.max(1, Math.floor(Number(request.query.get("page"))) || 1), pages);
  const shown = names.slice((page - 1) * MAX.listeners, page * MAX.listeners);
  const part: ListPart<string> = { items: shown, page, pages, total: names.length };
  return markup`${filterForm(request, [], ["proxyID", "view"])}${
    shown.map((name) => tree.listener(resources.listeners.get(name)!))
  }${pageLinks(part, request)}`;
}

/** Makes the parts of a tree. Branches with the text are open. */
class TreeOfProxy {
  readonly #resources: ProxyResources;
  readonly #decoded: DecodedProxy;
  readonly #wanted: string;
  /** Names of the virtual hosts sent as resources of their own, sorted. */
  #apart: readonly string[] | undefined;

  constructor(decoded: DecodedProxy, wanted: string) {
    this.#decoded = decoded;
    this.#resources = decoded.resources;
    this.#wanted = wanted;
  }

  listener(listener: Listener): Html {
    const { name = "", address, filter_chains = [], default_filter_chain } = listener;
    const socket = address?.socket_address;
    const where = socket ? `${socket.address}:${socket.port_value ?? 0}` : address?.pipe?.path ?? "";
    const chains = [...filter_chains, ...default_filter_chain ? [default_filter_chain] : []];
    const open = this.#wanted !== "" && name.toLowerCase().includes(this.#wanted);
    const causes = this.#resources.causesOf?.("listeners", name) ?? [];
    return branch(
      markup`<b>${name}</b> <span class="mono">${where}</span> ${counted(chains.length, "filter chain")}${
        links(causes)
      }`,
      this.#chains(chains),
      open || this.#wanted !== "",
    );
  }

  /** Chains; those of a waypoint by their service. */
  #chains(chains: readonly FilterChain[]): Html {
    const byHost = Map.groupBy(chains, ({ name = "" }) => servedHost(name));
    const others = byHost.get(undefined) ?? [];
    const rank = (host: string) => this.#isWanted(host) ? 0 : 1;
    const served = [...byHost].flatMap(([host, own]) => host === undefined ? [] : [{ host, own }])
      .sort((a, b) => rank(a.host) - rank(b.host) || (a.host < b.host ? -1 : 1));
    const services = served.slice(0, MAX.services).map(({ host, own }) =>
      branch(
        markup`service <b>${host}</b> ${counted(own.length, "filter chain")}`,
        this.#some(own),
        this.#wanted !== "" && this.#isWanted(host),
      )
    );
    return markup`${services}${rest(served.length, MAX.services)}${this.#some(others)}`;
  }

  #some(chains: readonly FilterChain[]): Html {
    return markup`${chains.slice(0, MAX.chains).map((chain) => this.#chain(chain))}${rest(chains.length, MAX.chains)}`;
  }

  #chain({ name = "", filter_chain_match: match, filters = [] }: FilterChain): Html {
    const conditions = [
      match?.destination_port && `port ${match.destination_port.value}`,
      match?.server_names && `server name ${match.server_names.join(", ")}`,
      match?.transport_protocol,
      match?.application_protocols?.join(", "),
      match?.prefix_ranges?.map(({ address_prefix, prefix_len }) => `${address_prefix}/${prefix_len?.value ?? 0}`).join(
        ", ",
      ),
    ].filter((one) => one);
    const names = filters.map((filter) => filter.name ?? packedName(filter.typed_config));
    const inside = filters.map((filter) => {
      const http = unpack<HttpConnectionManager>(filter.typed_config, HCM);
      if (http !== undefined) return this.#routes(http);
      const named = stateOf(filter, "envoy.tcp_proxy.cluster");
      if (named !== undefined) return this.#clusters([{ name: named, weight: 1 }]);
      const tcp = unpack<TcpProxy>(filter.typed_config, TCP_PROXY);
      return tcp !== undefined && this.#clusters(tcpClusters(tcp));
    });
    const head = markup`chain ${name} <span class="dim">${conditions.join("; ") || "everything else"}</span> ${
      names.join(" → ")
    }`;
    return branch(head, markup`${inside}`, this.#wanted !== "");
  }

  #routes({ rds, route_config }: HttpConnectionManager): Html {
    const name = rds?.route_config_name ?? route_config?.name ?? "";
    const found = route_config === undefined ? this.#decoded.routes(name) : inlineParts(route_config);
    if (found === undefined) return markup`<p class="bad">route configuration ${name} is missing: 404</p>`;
    const own = found.hosts.filter((host) => this.#isWanted(host.name, host.domains));
    const prefix = `${name}/`;
    const apart = found.head.vhds === undefined
      ? []
      : this.#hostsApart().filter((key) => key.startsWith(prefix) && this.#isWanted(key));
    // Only the shown virtual hosts are decoded.
    const hosts = [
      ...own.slice(0, MAX.hosts).map((host) => host.message()),
      ...apart.slice(0, MAX.hosts).map((key) => this.#resources.virtualHosts.get(key)!),
    ];
    const total = own.length + apart.length;
    return branch(
      markup`routes <b>${name}</b> ${counted(total, "virtual host")}${this.#wanted !== "" && " with that name"}`,
      markup`${hosts.slice(0, MAX.hosts).map((host) => this.#host(name, host))}${rest(total, MAX.hosts)}`,
      this.#wanted !== "" && total > 0,
    );
  }

  #hostsApart(): readonly string[] {
    return this.#apart ??= [...this.#resources.virtualHosts.keys()].sort();
  }

  #isWanted(name = "", domains: readonly string[] = []): boolean {
    return this.#wanted === "" || [name, ...domains].some((text) => text.toLowerCase().includes(this.#wanted));
  }

  #host(configuration: string, { name = "", domains = [], routes = [] }: VirtualHost): Html {
    const causes = this.#resources.causesOf?.("virtualHosts", `${configuration}/${name}`) ?? [];
    const shown = domains.slice(0, 3).join(", ") + (domains.length > 3 ? ` and ${domains.length - 3} more` : "");
    return branch(
      markup`${name} <span class="dim">${shown}</span>${links(causes)}`,
      markup`${routes.slice(0, MAX.routes).map((route) => this.#route(route))}${rest(routes.length, MAX.routes)}`,
      false,
    );
  }

  #route(route: Route): Html {
    const { match, name = "", redirect, direct_response, route: action } = route;
    const path = match?.prefix ?? match?.path_separated_prefix ?? match?.path ?? match?.safe_regex?.regex ?? "";
    const headers = (match?.headers ?? []).map((header) => header.name).join(", ");
    const head = markup`${name} <span class="mono">${path}</span>${
      headers !== "" && markup` <span class="dim">headers ${headers}</span>`
    }`;
    if (redirect) return branch(head, markup`<p>redirect</p>`, false);
    if (direct_response) return branch(head, markup`<p>answers ${direct_response.status ?? 200}</p>`, false);
    const weighted = (action?.weighted_clusters?.clusters ?? [])
      .map(({ name = "", weight }) => ({ name, weight: weight?.value ?? 0 }));
    const one = action?.cluster ?? action?.cluster_header;
    return branch(head, this.#clusters(one === undefined ? weighted : [{ name: one, weight: 1 }]), false);
  }

  #clusters(clusters: readonly { readonly name: string; readonly weight: number }[]): Html {
    const total = clusters.reduce((sum, { weight }) => sum + weight, 0);
    const shown = clusters.slice(0, MAX.clusters).map((one) => {
      const { type, transport, endpoints } = clusterStep(this.#resources, one, { ip: "", port: 0 });
      const share = clusters.length > 1 && total > 0 ? ` ${Math.round((one.weight / total) * 100)} %` : "";
      const list = endpoints.slice(0, MAX.endpoints).map(({ address, port, locality, healthy }) =>
        markup`<li class="mono">${address}:${port} <span class="${healthy ? "good" : "bad"}">${
          healthy ? "healthy" : "unhealthy"
        }</span> ${locality}</li>`
      );
      return branch(
        markup`cluster ${one.name}${share} <span class="dim">${type}, ${transport}, ${
          type === "ORIGINAL_DST" ? "the address that was dialled" : counted(endpoints.length, "endpoint")
        }</span>${links(this.#resources.causesOf?.("clusters", one.name) ?? [])}`,
        markup`<ul>${type !== "ORIGINAL_DST" && list}</ul>${rest(endpoints.length, MAX.endpoints)}`,
        false,
      );
    });
    return markup`${shown}${rest(clusters.length, MAX.clusters)}`;
  }
}

/** A route configuration inside a listener, in the same form as the others. It is decoded with the listener. */
function inlineParts(head: envoy.config.route.v3.RouteConfiguration) {
  const hosts = (head.virtual_hosts ?? []).map((host): HostPart => ({
    name: host.name ?? "",
    domains: host.domains ?? [],
    message: () => host,
  }));
  return { head, hosts };
}

function tcpClusters({ cluster, weighted_clusters }: TcpProxy): { readonly name: string; readonly weight: number }[] {
  if (cluster !== undefined) return [{ name: cluster, weight: 1 }];
  return (weighted_clusters?.clusters ?? []).map(({ name = "", weight = 0 }) => ({ name, weight }));
}

function branch(head: Html, inside: Html, open: boolean): Html {
  return open
    ? markup`<details open><summary>${head}</summary>${inside}</details>`
    : markup`<details><summary>${head}</summary>${inside}</details>`;
}

function rest(total: number, shown: number): Html | false {
  return total > shown && markup`<p class="dim">and ${total - shown} more: filter for a name</p>`;
}

/** Objects behind a part; of many the first. */
function links(causes: readonly string[]): Html | false {
  const [first, second, ...more] = causes;
  return first !== undefined &&
    markup` ← <a href="${objectUrl(first)}">${first}</a>${
      second !== undefined && markup`, <a href="${objectUrl(second)}">${second}</a>`
    }${more.length > 0 && ` and ${more.length} more`}`;
}

/** The resources of a proxy, and its route configurations in parts. */
interface DecodedProxy {
  readonly resources: ProxyResources;
  /** A route configuration by its name. */
  routes(name: string): RouteParts | undefined;
}

/** All resources that the proxy should have. */
function decodedProxy(connection: XdsConnection): DecodedProxy {
  const tables = tablesOf(connection);
  const routes = tables(ROUTE);
  const parts = (name: string) => {
    const encoded = routes.get(name);
    return encoded === undefined ? undefined : routeParts(encoded.value);
  };
  return { resources: resourcesIn(tables), routes: parts };
}
