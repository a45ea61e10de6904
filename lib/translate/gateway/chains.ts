/**
 * The filter chains of a gateway's port as plain data: match, TLS, and destination of bytes or requests.
 *
 * Envoy refuses a listener if two chains match the same connections, so each server name has one owner. Servers that
 * end TLS come first (in the order of the Gateway objects), then rules of virtual services, by precedence.
 *
 * @module
 */
import type { RouteDestination } from "../../config/kinds/virtual_service/schema.ts";
import { gatewayTcpRules, matchesServer, virtualServicesOfServer } from "../../mesh/gateway_tcp_rules.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import type { FileSecret } from "../message/file_secret.ts";
import { BLACK_HOLE } from "../cluster/static.ts";
import { ruleParts, serverParts } from "../message/parts.ts";
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import type { TcpProxyPlan } from "../filters/network/tcp_proxy.ts";
import { type ChainMatch, chainMatch, ChainMatchOwners } from "../listener/chain_match_owners.ts";
import { routePlan } from "../listener/outbound/tcp_destination.ts";
import type { Reader } from "../reader/reader.ts";
import type { MergedPort, MergedServer } from "./merge.ts";
import { lackingFilter, passedServerNames } from "./passed.ts";
import { type GatewayRefusal, serverRefusal, serverWithoutRule, virtualServiceRefusal } from "./problem.ts";
import { serverNames } from "./server.ts";
import { MESH_PROTOCOLS } from "../service/protocol.ts";
import { downstreamTls } from "../listener/downstream_tls.ts";
import { visibleVirtualServices } from "./virtual_services.ts";
import type { envoy } from "../../../proto/gen/types.ts";

/** Where a chain leads. */
export type ChainTarget =
  | { readonly routeName: string; readonly statPrefix?: string }
  | { readonly proxy: TcpProxyPlan }
  /** The cluster in the client's server name, if the cluster belongs to one of these hosts. */
  | { readonly passed: readonly ServerHost[] };

/** A filter chain. */
export interface GatewayChain {
  /** Sorted; empty: any connection. */
  readonly serverNames: readonly string[];
  /** Dialled addresses that the chain matches. Absent or empty: any. */
  readonly ranges?: readonly string[];
  /** ALPN protocols that the chain matches. Absent: no condition. */
  readonly applicationProtocols?: readonly string[];
  /** Present: TLS ends here. */
  readonly socket?: envoy.config.core.v3.TransportSocket;
  /** Secrets that the socket refers to by name. */
  readonly secrets?: readonly FileSecret[];
  readonly target: ChainTarget;
  /** Key of the object with the destination: a Gateway, or a VirtualService. */
  readonly decidedBy: string;
  /** Keys of all configuration objects behind the chain. */
  readonly causes: readonly string[];
  /** Parts of these objects in the chain. */
  readonly parts: readonly string[];
}

/** The chains of a port, and the problems of omitted servers. */
export interface PortChains {
  readonly chains: readonly GatewayChain[];
  readonly problems: readonly GatewayRefusal[];
}

interface Building {
  readonly read: Reader;
  readonly port: MergedPort;
  readonly owners: ChainMatchOwners;
  readonly chains: GatewayChain[];
  readonly problems: GatewayRefusal[];
}

/** The filter chains of a port. */
export function portChains(read: Reader, port: MergedPort): PortChains {
  const building: Building = { read, port, owners: new ChainMatchOwners(), chains: [], problems: [] };
  if (port.kind === "http") addHttp(building);
  const ends = (server: MergedServer) => server.kind === "https" || server.kind === "tls" || server.kind === "tcp";
  for (const server of port.servers.filter(ends)) addTerminated(building, server);
  for (const server of port.servers) {
    if (server.kind === "passthrough") addPassthrough(building, server);
  }
  addPassed(building, port.servers.filter(({ kind }) => kind === "autoPassthrough"));
  return { chains: building.chains, problems: building.problems };
}

/** All plain HTTP servers of the port share one chain: routes select the host. */
function addHttp({ port, chains }: Building): void {
  const routeName = port.servers[0]?.routeName;
  if (routeName === undefined) return;
  const causes = [...new Set(port.servers.map((server) => server.cause))];
  const parts = serverParts(port.servers);
  chains.push({ serverNames: [], target: { routeName }, decidedBy: causes[0] ?? "", causes, parts });
}

/** A server where TLS ends (or there is none), before requests or bytes. */
function addTerminated(building: Building, server: MergedServer): void {
  const { read, port, owners, chains, problems } = building;
  const carrier = port.http3 ? "quic" : "tcp";
  const content = server.routeName === undefined ? "bytes" : "http";
  const secured = server.spec.tls && server.kind !== "tcp"
    ? downstreamTls(read, server.spec.tls, { content, carrier, internal: server.spec.internal })
    : undefined;
  if (secured && "refusal" in secured) {
    // The problem is reported for the TCP port.
    if (!port.http3) problems.push(serverRefusal(server, port.port, secured.refusal, secured.why));
    return;
  }
  const ignored = secured?.ignoredCipherSuites ?? [];
  if (ignored.length > 0 && !port.http3) {
    const why = `unknown cipher suites are ignored: ${ignored.join(", ")}`;
    problems.push(serverRefusal(server, port.port, "ignoredCipherSuites", why));
  }
  for (const { target, causes, parts, subnets, sni } of terminatedTargets(building, server)) {
    const names = sni ?? (server.kind === "tcp" ? [] : serverNames(server));
    const match = chainMatch({ sni: names, cidrs: subnets ?? [] });
    for (const free of match ? owners.take(match, { hostname: server.gateway, http: false }).free : []) {
      chains.push({
        ...free,
        // Nobody needs a handshake before a connection is closed.
        ...(secured && !isClosed(target) ? { socket: secured.socket, secrets: secured.secrets } : {}),
        target,
        decidedBy: causes[0] ?? server.cause,
        causes: [server.cause, ...causes],
        parts: [...serverParts([server]), ...parts],
      });
    }
  }
}

/** Whether all connections of a chain are closed. */
function isClosed(target: ChainTarget): boolean {
  return "proxy" in target && target.proxy.clusters.every(({ name }) => name === BLACK_HOLE);
}

/** Where a server leads at which TLS ends, or that has no TLS. */
function terminatedTargets(building: Building, server: MergedServer): FoundTarget[] {
  if (server.routeName !== undefined) return [httpsTarget(server, server.routeName)];
  const byName = server.spec.internal?.routesByServerName ? serverNameTargets(building, server) : [];
  return [...byName, ...bytesTargets(building, server, byName.length === 0)];
}

interface FoundTarget {
  readonly target: ChainTarget;
  readonly causes: readonly string[];
  /** Parts of virtual services. */
  readonly parts: readonly string[];
  /** Subnets that the rule matches. Absent: all addresses. */
  readonly subnets?: readonly string[];
  /** Server names that the rule matches. Absent: all names of the server. */
  readonly sni?: readonly string[];
}

function httpsTarget({ spec }: MergedServer, routeName: string): FoundTarget {
  return { target: { routeName, ...(spec.name ? { statPrefix: spec.name } : {}) }, causes: [], parts: [] };
}

/**
 * The `tcp` rules for the server, in order, up to the first rule for all connections. The analysis reports the other
 * rules.
 *
 * @param isSole Whether nothing else serves the server's connections.
 */
function bytesTargets({ read, port, problems }: Building, server: MergedServer, isSole: boolean): FoundTarget[] {
  const { used } = gatewayTcpRules(virtualServicesOf(read, server), (match) => matches(match, server));
  const found = used.flatMap(({ virtualService, index, route, subnets }) => {
    const target = toDestinations(read, virtualService, route, server);
    // A Unix socket has no dialled address.
    const parts = ruleParts(virtualService, "tcp", [{ rule: index }]);
    return target ? [{ ...target, parts, subnets: port.port > 0 ? subnets : [] }] : [];
  });
  if (found.length > 0 || !isSole) return found;
  const why = "no bound virtual service has a tcp rule for this port";
  problems.push(...serverWithoutRule(server, port.port, why));
  return [];
}

/** A match of a `tls` rule, with the rule's destinations. */
interface TlsRuleTarget extends FoundTarget {
  readonly virtualService: EffectiveVirtualService;
  /** Position of the rule. */
  readonly index: number;
  readonly sni: readonly string[];
  readonly subnets: readonly string[];
}

/** The matches of all `tls` rules for the server, in order of precedence. */
function serverNameTargets({ read, port }: Building, server: MergedServer): TlsRuleTarget[] {
  return virtualServicesOf(read, server).flatMap((virtualService) =>
    (virtualService.spec.tls ?? []).flatMap((rule, index) =>
      (rule.match ?? []).flatMap((match, at) => {
        if (!matches(match, server)) return [];
        const to = toDestinations(read, virtualService, rule.route, server);
        if (!to) return [];
        const parts = ruleParts(virtualService, "tls", [{ rule: index, match: at }]);
        const subnets = port.port > 0 ? match.destinationSubnets ?? [] : [];
        return [{ ...to, parts, virtualService, index, sni: match.sniHosts.map(lower), subnets }];
      })
    )
  );
}

/** Each `tls` rule of the server's virtual services becomes a chain for the server names that are still free. */
function addPassthrough(building: Building, server: MergedServer): void {
  const { port, problems } = building;
  const found = serverNameTargets(building, server);
  for (const target of found) {
    const match = chainMatch({ sni: target.sni, cidrs: target.subnets });
    addRule(building, server, target.virtualService, target.index, match, target);
  }
  if (found.length > 0) return;
  const why = "no bound virtual service has a tls rule for this port";
  problems.push(...serverWithoutRule(server, port.port, why));
}

/** All servers that pass connections on by server name share one chain, which matches on the clients' protocols. */
function addPassed({ read, port, chains, problems }: Building, servers: readonly MergedServer[]): void {
  const [first] = servers;
  if (first === undefined) return;
  const lacking = lackingFilter(read);
  if (lacking !== undefined) {
    const why = `left out, the proxy's build lacks ${lacking}`;
    for (const server of servers) problems.push(serverRefusal(server, port.port, "autoPassthrough", why));
    return;
  }
  const hosts = servers.flatMap((server) => server.hosts);
  chains.push({
    serverNames: passedServerNames(hosts),
    applicationProtocols: MESH_PROTOCOLS,
    target: { passed: hosts },
    decidedBy: first.cause,
    causes: [...new Set(servers.map(({ cause }) => cause))],
    parts: serverParts(servers),
  });
}

function addRule(
  { owners, chains, problems, port }: Building,
  server: MergedServer,
  vs: EffectiveVirtualService,
  rule: number,
  match: ChainMatch | undefined,
  found: FoundTarget,
): void {
  const owner = { hostname: `VirtualService ${vs.namespace}/${vs.name} tls[${rule}]`, http: false };
  const { free, taken } = match ? owners.take(match, owner) : { free: [], taken: undefined };
  for (const match of free) {
    const causes = [server.cause, ...found.causes];
    const parts = [...serverParts([server]), ...found.parts];
    chains.push({ ...match, target: found.target, decidedBy: found.causes[0] ?? server.cause, causes, parts });
  }
  if (taken) {
    const why = `${taken.hostname} already has some of the server names at Gateway ${server.gateway}`;
    problems.push(virtualServiceRefusal(vs, rule, port.port, "duplicateHosts", why));
  }
}

/** The virtual services with a host of the server. */
function virtualServicesOf(read: Reader, server: MergedServer): EffectiveVirtualService[] {
  return virtualServicesOfServer(visibleVirtualServices(read, server.gateway), server.hosts);
}

function matches(
  match: { readonly port?: number; readonly gateways?: readonly string[] },
  server: MergedServer,
): boolean {
  return matchesServer(match, server.gateway, server.spec.port.number);
}

function toDestinations(
  read: Reader,
  vs: EffectiveVirtualService,
  routes: readonly RouteDestination[] | undefined,
  server: MergedServer,
): Omit<FoundTarget, "parts"> | undefined {
  const port = {
    port: server.spec.port.number,
    name: server.spec.port.name,
    protocol: parseProtocol(server.spec.port.protocol),
  };
  const proxy = routePlan(read, routes ?? [], port, `${vs.name}.${vs.namespace}`);
  return proxy && { target: { proxy }, causes: vs.causes };
}

function lower(host: string): string {
  return host.toLowerCase();
}
