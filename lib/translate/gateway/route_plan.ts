/**
 * The plan of a gateway's route configurations: the virtual hosts, each with its servers and virtual services. The plan
 * is cheap to make, and a changed virtual service rebuilds only its own virtual hosts.
 *
 *     server hosts  ∩  virtual service hosts ─> entry (domains, virtual services in order) ─> virtual host
 *
 * @module
 */
import { sameItems } from "../../incremental/same_items.ts";
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import { matchesServer } from "../../mesh/gateway_tcp_rules.ts";
import type { Reader } from "../reader/reader.ts";
import type { MergedGateways, MergedServer } from "./merge.ts";
import { HostIndex, redirectsToHttps } from "./server.ts";
import { visibleVirtualServices } from "./virtual_services.ts";

/** A virtual service at a gateway, as a source of routes for a virtual host. */
export interface RouteSource {
  readonly virtualService: EffectiveVirtualService;
  /** `namespace/name`. */
  readonly gateway: string;
  /** Port of the server in the Gateway object. */
  readonly port: number;
  /** Whether requests arrive over TLS that the gateway ends. */
  readonly tls: boolean;
}

/** A virtual host to build. */
export interface PlannedVirtualHost {
  readonly routeConfiguration: string;
  /** `host:port`, unique in the route configuration. */
  readonly name: string;
  readonly domains: readonly string[];
  /** Redirects every unencrypted request to HTTPS. */
  readonly requireTls: boolean;
  /** Requests belong to other servers, with connections of their own: 421. */
  readonly isMisdirected: boolean;
  /** In order of precedence; empty: nothing but the redirect, or 421. */
  readonly sources: readonly RouteSource[];
  /** Keys of the Gateway objects with servers for these domains. */
  readonly gatewayCauses: readonly string[];
  /** Servers for these domains, spelled as by {@linkcode serverName}. */
  readonly servers: readonly string[];
  /** Service ports by which clients reach the virtual host, for patches. Absent: not asked for, or none. */
  readonly servicePorts?: readonly number[];
}

/** A route configuration. */
export interface RoutePlan {
  readonly name: string;
  /** Port of the first server in the Gateway object. */
  readonly port: number;
  /** Whether answers announce HTTP/3. */
  readonly offersHttp3: boolean;
  /** Sorted by name. */
  readonly entries: readonly PlannedVirtualHost[];
  /** Keys of the Gateway objects. */
  readonly causes: readonly string[];
  /** All servers of the route configuration, spelled as by {@linkcode serverName}. */
  readonly servers: readonly string[];
  /** See {@linkcode PlannedVirtualHost.servicePorts}. */
  readonly servicePorts?: readonly number[];
}

/** A server by Gateway and port name: `edge/gw http`. */
export function serverName({ gateway, spec }: Pick<MergedServer, "gateway" | "spec">): string {
  return `${gateway} ${spec.port.name}`;
}

/** The plans of all route configurations of the merged gateways, by name. */
export function gatewayRoutePlans(read: Reader, merged: MergedGateways): Map<string, RoutePlan> {
  const bound = new Map<string, readonly EffectiveVirtualService[]>();
  const virtualServices = (gateway: string) => {
    const known = bound.get(gateway) ?? visibleVirtualServices(read, gateway);
    bound.set(gateway, known);
    return known;
  };
  const plans = new Map<string, RoutePlan>();
  for (const [name, servers] of merged.routes) plans.set(name, routePlan(read, name, servers, virtualServices));
  return plans;
}

/** Whether two entries make the same virtual host, as far as the entry alone decides. */
export function samePlan(a: PlannedVirtualHost, b: PlannedVirtualHost): boolean {
  return a.routeConfiguration === b.routeConfiguration && a.name === b.name && a.requireTls === b.requireTls &&
    a.isMisdirected === b.isMisdirected && sameItems(a.domains, b.domains) &&
    sameItems(a.gatewayCauses, b.gatewayCauses) &&
    sameItems(a.servicePorts ?? [], b.servicePorts ?? []) && sameItems(a.servers, b.servers) &&
    a.sources.length === b.sources.length && a.sources.every((source, i) => sameSource(source, b.sources[i]));
}

function sameSource(a: RouteSource, b: RouteSource | undefined): boolean {
  return a.virtualService === b?.virtualService && a.gateway === b.gateway && a.port === b.port && a.tls === b.tls;
}

/** A virtual host while sources are being collected. */
interface VirtualHostDraft {
  readonly host: string;
  /** Port of the first server with the host. */
  readonly port: number;
  requireTls: boolean;
  readonly sources: RouteSource[];
  readonly causes: Set<string>;
  readonly servers: Set<string>;
}

function routePlan(
  read: Reader,
  name: string,
  servers: readonly MergedServer[],
  virtualServices: (gateway: string) => readonly EffectiveVirtualService[],
): RoutePlan {
  const drafts = new Map<string, VirtualHostDraft>();
  for (const server of servers) addServer(drafts, server, virtualServices(server.gateway));
  const misdirected = servers.flatMap((server) => misdirectedEntry(name, server) ?? []);
  // A host of another server is not served here, whatever virtual service has the host.
  for (const { domains } of misdirected) for (const host of domains) drafts.delete(host);
  // Sessions are kept per service of each host, so hosts stay apart if sessions are on.
  const { enableRouteCollapse, enablePersistentSessionFilter } = read.settings;
  const groups = enableRouteCollapse && !enablePersistentSessionFilter
    ? collapse(drafts)
    : [...drafts.values()].map((draft) => [draft]);
  const entries = [...groups.map((group) => entry(name, group)), ...misdirected];
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  const causes = [...new Set(servers.map((server) => server.cause))];
  const [first] = servers;
  return {
    ...{ name, port: first?.spec.port.number ?? 0, offersHttp3: first?.http3Port !== undefined, entries, causes },
    servers: [...new Set(servers.map(serverName))],
  };
}

function addServer(
  drafts: Map<string, VirtualHostDraft>,
  server: MergedServer,
  virtualServices: readonly EffectiveVirtualService[],
): void {
  const hosts = new HostIndex(server.hosts);
  const port = server.spec.port.number;
  const redirect = redirectsToHttps(server);
  const name = serverName(server);
  const draft = (host: string): VirtualHostDraft => {
    const found = drafts.get(host) ??
      { host, port, requireTls: false, sources: [], causes: new Set(), servers: new Set() };
    drafts.set(host, found);
    found.causes.add(server.cause);
    found.servers.add(name);
    if (redirect) found.requireTls = true;
    return found;
  };
  for (const virtualService of virtualServices) {
    if (!hasHttpRules(virtualService, server.gateway, port)) continue;
    const source: RouteSource = { virtualService, gateway: server.gateway, port, tls: server.kind === "https" };
    for (const own of virtualService.hosts) {
      for (const host of hosts.common(own, virtualService.namespace)) {
        const { sources } = draft(host);
        // A host counts once, even if two hosts of the virtual service cover the host, or two servers of an object have
        // the host.
        if (!sources.some((known) => makesSameRoutes(known, source))) sources.push(source);
      }
    }
  }
  if (redirect) { for (const { host } of server.hosts) draft(host); }
}

/**
 * Whether a source adds no routes to a known source. A virtual service of several gateways on one port has its routes
 * once.
 */
function makesSameRoutes(known: RouteSource, next: RouteSource): boolean {
  if (known.virtualService !== next.virtualService) return false;
  if (known.gateway === next.gateway) return true;
  return known.port === next.port && known.tls === next.tls && !namesGateways(next.virtualService);
}

/** Whether a rule is limited to some of the gateways. */
function namesGateways({ spec }: EffectiveVirtualService): boolean {
  return (spec.http ?? []).some(({ match = [] }) => match.some(({ gateways = [] }) => gateways.length > 0));
}

/** Whether a virtual service has rules for requests at the gateway and port. */
function hasHttpRules(vs: EffectiveVirtualService, gateway: string, port: number): boolean {
  return (vs.spec.http ?? []).some((rule) =>
    !rule.match?.length || rule.match.some((match) => matchesServer(match, gateway, port))
  );
}

/** Hosts with the same routes share a virtual host: a virtual service with 100 hosts is sent once, not 100 times. */
function collapse(drafts: ReadonlyMap<string, VirtualHostDraft>): VirtualHostDraft[][] {
  const ids = new Map<EffectiveVirtualService, number>();
  const id = (vs: EffectiveVirtualService) => {
    const known = ids.get(vs) ?? ids.size;
    ids.set(vs, known);
    return known;
  };
  const groups = new Map<string, VirtualHostDraft[]>();
  for (const draft of drafts.values()) {
    let key = draft.requireTls ? "tls" : "";
    for (const s of draft.sources) key += `;${id(s.virtualService)}|${s.gateway}|${s.port}|${s.tls}`;
    const group = groups.get(key);
    if (group) group.push(draft);
    else groups.set(key, [draft]);
  }
  const collapsed = [...groups.values()];
  for (const group of collapsed) group.sort((a, b) => moreSpecificFirst(a.host, b.host));
  return collapsed;
}

/** Exact hosts before wildcards, longer before shorter, then by alphabet: the first names the virtual host. */
function moreSpecificFirst(a: string, b: string): number {
  return Number(a.startsWith("*")) - Number(b.startsWith("*")) || b.length - a.length || (a < b ? -1 : 1);
}

function entry(routeConfiguration: string, group: readonly VirtualHostDraft[]): PlannedVirtualHost {
  const [first] = group;
  return {
    routeConfiguration,
    name: `${first?.host}:${first?.port}`,
    domains: group.map((draft) => draft.host),
    requireTls: first?.requireTls ?? false,
    isMisdirected: false,
    sources: first?.sources ?? [],
    gatewayCauses: [...new Set(group.flatMap((draft) => [...draft.causes]))],
    servers: [...new Set(group.flatMap((draft) => [...draft.servers]))],
  };
}

/** The virtual host of requests that belong to other servers; undefined: no other server has requests. */
function misdirectedEntry(routeConfiguration: string, server: MergedServer): PlannedVirtualHost | undefined {
  const { misdirectedHosts: domains = [] } = server.spec.internal ?? {};
  // Only a server that ends TLS has a route configuration of its own.
  if (domains.length === 0 || server.kind !== "https") return undefined;
  return {
    routeConfiguration,
    name: `misdirected:${server.spec.port.number}`,
    ...{ domains, requireTls: false, isMisdirected: true, sources: [] },
    ...{ gatewayCauses: [server.cause], servers: [serverName(server)] },
  };
}
