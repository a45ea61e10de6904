/**
 * The contributions of a host to the outbound listeners of a sidecar.
 *
 *     egress listener with its own port ─> that port, at its bind
 *     catch-all ─> each port of the service:
 *                    HTTP        one listener per port, all addresses, routes by port;
 *                                by address: also at each address of the service
 *                    TCP, TLS    at each address of the service; a CIDR, or none: at all addresses, by match
 *                    sniffed     like TCP, with an HTTP side
 *                    headless    TCP and sniffed: at the address of each endpoint
 *
 * @module
 */
import { covers, wildcardsOver } from "../../../mesh/host_match.ts";
import { wildcardServiceOver } from "../../../mesh/named_service.ts";
import type { EgressListener } from "../../../mesh/types.ts";
import { isIp, isUnixSocket } from "../../../registry/address.ts";
import { parseProtocol } from "../../../registry/protocol.ts";
import { portCauses, type Protocol, resolutionOf, type Service, type ServicePort } from "../../../registry/types.ts";
import type { Reader } from "../../reader/reader.ts";
import { isNamed } from "../../../mesh/dialled_server.ts";
import { listenerName, localhosts, wildcards } from "../address.ts";
import type { ListenerContribution, TcpChain } from "../contribution.ts";
import { mayUse } from "../../endpoint/select.ts";
import { isTls, type ListenerKind, listenerKind } from "../../service/protocol.ts";
import { boundAddresses, isDialledByAddress, isRange } from "../../service/address.ts";
import { servicePlan } from "./tcp_destination.ts";
import { type RoutedChains, tcpChains, tlsChains } from "./tcp_route.ts";

/** A port of a host at an egress listener: the subject of all functions below. */
interface Port {
  readonly read: Reader;
  /** Host of the service, or a host under the service's wildcard with a virtual service. */
  readonly host: string;
  readonly service: Service;
  readonly egress: EgressListener;
  /** The port to listen on; 0: a Unix socket. */
  readonly number: number;
  readonly name: string;
  readonly protocol: Protocol;
  readonly kind: ListenerKind;
  /** Port of the service that receives plain TCP. */
  readonly servicePort: number;
  readonly bindToPort: boolean;
}

/**
 * A host's contributions to outbound listeners. Empty when the host is not visible to the proxy.
 *
 * @param host A service's host, or a host under a wildcard service. For such a host, the TLS rules of its virtual
 * service take connections with the host as server name.
 */
export function listenerContributions(read: Reader, host: string): ListenerContribution[] {
  const service = read.service(host) ?? wildcardService(read, host);
  // An alias is served by the listeners of its target.
  if (service === undefined || service.externalName !== undefined || service.routesOnly) return [];
  const contributions: ListenerContribution[] = [];
  for (const egress of read.egressListeners()) {
    if (!read.egressSees(egress, host)) continue;
    for (const port of listenedPorts(read, host, service, egress)) contributions.push(...portContributions(port));
  }
  return service.hostname === host
    ? contributions
    : contributions.filter((contribution) => contribution.chains.length > 0);
}

/** The wildcard service for a host of a virtual service with TLS rules. */
function wildcardService(read: Reader, host: string): Service | undefined {
  if (!read.virtualService(host, "tls")?.hosts.includes(host)) return undefined;
  for (const pattern of wildcardsOver(host)) {
    const service = read.service(pattern);
    if (service) return service;
  }
  return undefined;
}

function listenedPorts(read: Reader, host: string, service: Service, egress: EgressListener): Port[] {
  const bindToPort = egress.captureMode === "NONE" || isUnixSocket(egress.bind ?? "") ||
    read.derived("interceptionNone", (t) => t.interceptionMode === "NONE");
  const ports = egress.port ? ownPorts(service, egress.port) : service.ports.map(asListened);
  return ports.flatMap((port) => {
    const kind = listenerKind(port.protocol);
    if (!kind || host !== service.hostname && !isTls(port.protocol)) return [];
    return [{ read, host, service, egress, bindToPort, kind, ...port }];
  });
}

type ListenedPort = Pick<Port, "number" | "name" | "protocol" | "servicePort">;

function asListened(port: ServicePort): ListenedPort {
  return { number: port.port, name: port.name, protocol: port.protocol, servicePort: port.port };
}

/** An egress listener's own port serves only services with the same port. An HTTP proxy or a Unix socket serves all. */
function ownPorts(service: Service, port: NonNullable<EgressListener["port"]>): ListenedPort[] {
  const protocol = parseProtocol(port.protocol);
  const own = { number: port.number, name: port.name, protocol };
  if (port.number !== 0 && protocol !== "HTTP_PROXY") {
    return service.ports.some((p) => p.port === port.number) ? [{ ...own, servicePort: port.number }] : [];
  }
  const only = service.ports.length === 1 ? service.ports[0]?.port : undefined;
  return [{ ...own, servicePort: only ?? port.number }];
}

function portContributions(port: Port): ListenerContribution[] {
  const { read, egress, service } = port;
  if (egress.bind !== undefined) return [sharedContribution(port, [egress.bind], [])];
  if (port.bindToPort) return [sharedContribution(port, localhosts(read), [])];
  if (port.kind === "http") return [sharedContribution(port, wildcards(read), []), ...httpByAddress(port)];
  const addresses = boundAddresses(read, service);
  if (addresses.length === 0) return addresslessContributions(port);
  const ranges = addresses.filter(isRange);
  const own = ownBinds(service, addresses.filter((address) => !isRange(address)));
  return [
    ...own.map((binds) => ownContribution(port, binds)),
    ...(ranges.length > 0 ? [sharedContribution(port, wildcards(read), ranges)] : []),
  ];
}

/** The HTTP listener at the addresses of a service, whose requests are all for the service. */
function httpByAddress(port: Port): ListenerContribution[] {
  const { read, service } = port;
  if (!isDialledByAddress(read, service)) return [];
  const binds = boundAddresses(read, service).filter((address) => !isRange(address));
  return binds.length > 0 ? [ownContribution(port, binds)] : [];
}

/** An orchestrator's service has a listener with all addresses. A service entry has a listener per address. */
function ownBinds(service: Service, addresses: readonly string[]): readonly (readonly string[])[] {
  if (addresses.length === 0) return [];
  return service.provider === "Orch" ? [addresses] : addresses.map((address) => [address]);
}

/**
 * Contributions of a service without an address. If the proxy passes connections on to the dialled address, each
 * endpoint has a listener, so two such services may share a port. Otherwise a listener on all addresses is used.
 */
function addresslessContributions(port: Port): ListenerContribution[] {
  const { read, service } = port;
  const servicePort = service.ports.find((p) => p.port === port.servicePort);
  if (resolutionOf(service, servicePort) !== "passthrough") return [sharedContribution(port, wildcards(read), [])];
  const endpoints = read.endpoints(service.hostname)
    .filter((e) => e.portName === servicePort?.name && mayUse(read, e));
  // An orchestrator's service without endpoints is down. A plain service entry passes on all connections to the port.
  if (endpoints.length === 0 && service.provider === "External") return [sharedContribution(port, wildcards(read), [])];
  const addresses = [...new Set(endpoints.map((e) => e.address))].filter(isIp).sort();
  return addresses.map((address) => ownContribution(port, [address]));
}

/** Only at addresses of the service: every connection is for the service. */
function ownContribution(port: Port, binds: readonly string[]): ListenerContribution {
  const chains = port.kind === "http" ? [] : chainsOf(port, [], { byName: false, shared: false });
  return contribution(port, binds, chains, `${port.service.hostname}:${port.number}`);
}

/** At addresses shared with other hosts, which therefore share routes. */
function sharedContribution(port: Port, binds: readonly string[], ranges: readonly string[]): ListenerContribution {
  // Whoever writes a Sidecar with an address chooses the services at the address.
  const belonging = { byName: needsName(port, binds, ranges), shared: port.egress.bind === undefined };
  const chains = port.kind === "http" ? [] : chainsOf(port, ranges, belonging);
  return contribution(port, binds, chains, port.number === 0 ? binds[0] ?? "" : String(port.number));
}

function contribution(
  port: Port,
  binds: readonly string[],
  chains: readonly TcpChain[],
  routeName: string,
): ListenerContribution {
  const { read, host, service, egress, kind } = port;
  const bind = binds[0] ?? "";
  const everywhere = bind === wildcards(read)[0];
  const http = kind === "tcp"
    ? {}
    : { routeName, sniffed: kind === "auto" || everywhere && port.protocol !== "HTTP_PROXY" };
  return {
    key: listenerName(bind, port.number),
    binds,
    port: port.number,
    bindToPort: port.bindToPort,
    kind,
    protocol: port.protocol,
    hostname: host,
    servicePort: port.servicePort,
    ...http,
    chains,
    egress: egress.index,
    ownPort: egress.port !== undefined,
    created: service.creationTimestamp,
    causes: [
      ...portCauses(service, service.ports.find((one) => one.port === port.servicePort)),
      ...kind === "http" ? [] : ruleCauses(port, chains),
    ],
  };
}

function ruleCauses(port: Port, chains: readonly TcpChain[]): readonly string[] {
  const { read, host, service } = port;
  const routed = chains.some((chain) => chain.virtualService !== undefined);
  return [
    ...routed ? read.virtualService(host, ruleProtocol(port), port.number)?.causes ?? [] : [],
    ...read.destinationRule(service.hostname)?.causes ?? [],
  ];
}

/** The kind of rules for connections without HTTP. */
function ruleProtocol({ protocol }: Port): "tls" | "tcp" {
  return isTls(protocol) ? "tls" : "tcp";
}

/** How connections at an address belong to a service. */
interface Belonging {
  /** TLS connections belong to the service only if they name the service. */
  readonly byName: boolean;
  /** Other services have the address too. */
  readonly shared: boolean;
}

function chainsOf(port: Port, ranges: readonly string[], { byName, shared }: Belonging): TcpChain[] {
  const { read, host, service, protocol } = port;
  const rules = read.virtualService(host, ruleProtocol(port), port.number);
  const context = { port: { port: port.number, name: port.name, protocol }, cidrs: ranges };
  const tls = isTls(protocol);
  const all = rules === undefined ? NO_CHAINS : tls ? tlsChains(read, rules, context) : tcpChains(read, rules, context);
  const routed = shared && tls && rules?.serviceNamespace !== undefined ? withinService(read, service, all) : all;
  // The wildcard's own rules are among the wildcard's chains.
  if (host !== service.hostname && !rules?.hosts.includes(host)) return [];
  if (host !== service.hostname) return routed.chains.flatMap((chain) => under(host, chain));
  if (routed.complete) return routed.chains;
  const proxy = servicePlan(read, service, { port: port.servicePort, name: port.name, protocol });
  // Each range has a separate chain, so a range owned by another host does not affect the others.
  const targets = ranges.length > 0 ? ranges.map((range) => [range]) : [[]];
  const match = tls ? serviceSni(service, byName) : { sni: [] };
  return [...routed.chains, ...targets.map((cidrs) => ({ ...match, cidrs, proxy }))];
}

const NO_CHAINS: RoutedChains = { chains: [], complete: false };

/**
 * The chains for connections that name the service. Routes at a service may have any server names, and at addresses that
 * the service shares with others such a name may mean the service of somebody else.
 */
function withinService(read: Reader, { hostname, namespace }: Service, { chains }: RoutedChains): RoutedChains {
  const isOwn = (name: string) => {
    const named = read.service(name) ?? wildcardServiceOver(name, (host) => read.service(host))?.service;
    return named?.namespace === namespace;
  };
  const own = chains.flatMap((chain) => {
    const sni = chain.sni.flatMap((name) =>
      covers(name, hostname) ? [hostname] : covers(hostname, name) && isOwn(name) ? [name] : []
    );
    return sni.length > 0 ? [{ ...chain, sni: [...new Set(sni)] }] : [];
  });
  return { chains: own, complete: own.length > 0 };
}

/** Restricts a chain to connections with the host as server name. */
function under(host: string, chain: TcpChain): TcpChain[] {
  const sni = chain.sni.filter((name) => covers(host, name));
  return sni.length > 0 ? [{ ...chain, sni }] : [];
}

/** A service may match all connections. If another service already does, the service still matches by name. */
function serviceSni(service: Service, byName: boolean): Pick<TcpChain, "sni" | "fallbackSni"> {
  return byName ? { sni: [service.hostname] } : { sni: [], fallbackSni: [service.hostname] };
}

/**
 * Whether only the server name distinguishes services: in a range, at all addresses, and if names are resolved. At a
 * shared single address (loopback), a service gets all connections, because it is usually the only service there. A
 * service with only ranges needs a name.
 */
function needsName(port: Port, binds: readonly string[], ranges: readonly string[]): boolean {
  // Otherwise a proxy would resolve any name from a client.
  if (ranges.length > 0 || isNamed(port.service, port.servicePort)) return true;
  const addresses = boundAddresses(port.read, port.service);
  if (addresses.length > 0) return addresses.every(isRange);
  return binds[0] === wildcards(port.read)[0];
}
