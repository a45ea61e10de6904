/**
 * The contributions of a host to the outbound listeners of a sidecar.
 *
 *     egress listener with its own port ─> that port, at its bind
 *     catch-all ─> each port of the service:
 *                    HTTP        one listener per port, all addresses, routes by port
 *                    TCP, TLS    at each address of the service; a CIDR, or none: at all addresses, by match
 *                    sniffed     like TCP, with an HTTP side
 *                    headless    TCP and sniffed: at the address of each endpoint
 *
 * @module
 */
import { covers, wildcardsOver } from "../../../mesh/host_match.ts";
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
import { boundAddresses, isRange } from "../../service/address.ts";
import { servicePlan } from "./tcp_destination.ts";
import { tcpChains, tlsChains } from "./tcp_route.ts";

/** One port of one host at one egress listener: the subject of all functions below. */
interface Port {
  readonly read: Reader;
  /** Host of the service, or one under its wildcard that a virtual service names. */
  readonly host: string;
  readonly service: Service;
  readonly egress: EgressListener;
  /** The port to listen on; 0: a Unix socket. */
  readonly number: number;
  readonly name: string;
  readonly protocol: Protocol;
  readonly kind: ListenerKind;
  /** Port of the service that plain TCP goes to. */
  readonly servicePort: number;
  readonly bindToPort: boolean;
}

/**
 * The contributions of outbound listeners that come from one host; none when the proxy does not see it.
 *
 * @param host A service's host, or one under a wildcard service: there the TLS rules of a virtual service that names it
 * take the connections that name it too.
 */
export function listenerContributions(read: Reader, host: string): ListenerContribution[] {
  const service = read.service(host) ?? wildcardService(read, host);
  // An alias is another name of its target, whose listeners serve it.
  if (service === undefined || service.externalName !== undefined) return [];
  const contributions: ListenerContribution[] = [];
  for (const egress of read.egressListeners()) {
    if (!read.egressSees(egress, host)) continue;
    for (const port of listenedPorts(read, host, service, egress)) contributions.push(...portContributions(port));
  }
  return service.hostname === host
    ? contributions
    : contributions.filter((contribution) => contribution.chains.length > 0);
}

/** The service whose wildcard covers a host that a virtual service with TLS rules names. */
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

/** A port of the egress listener's own serves only services that have it; an HTTP proxy or a Unix socket, all. */
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
  if (port.kind === "http") return [sharedContribution(port, wildcards(read), [])];
  const addresses = boundAddresses(read, service);
  if (addresses.length === 0) return addresslessContributions(port);
  const ranges = addresses.filter(isRange);
  const own = ownBinds(service, addresses.filter((address) => !isRange(address)));
  return [
    ...own.map((binds) => ownContribution(port, binds)),
    ...(ranges.length > 0 ? [sharedContribution(port, wildcards(read), ranges)] : []),
  ];
}

/** An orchestrator's service is one listener with all its addresses; an entry's addresses are listeners of their own. */
function ownBinds(service: Service, addresses: readonly string[]): readonly (readonly string[])[] {
  if (addresses.length === 0) return [];
  return service.provider === "Orch" ? [addresses] : addresses.map((address) => [address]);
}

/**
 * Without an address: where the proxy passes connections on to the address that was dialled, one listener at each
 * endpoint, so that two such services may share a port; else all addresses.
 */
function addresslessContributions(port: Port): ListenerContribution[] {
  const { read, service } = port;
  const servicePort = service.ports.find((p) => p.port === port.servicePort);
  if (resolutionOf(service, servicePort) !== "passthrough") return [sharedContribution(port, wildcards(read), [])];
  const endpoints = read.endpoints(service.hostname)
    .filter((e) => e.portName === servicePort?.name && mayUse(read, e));
  // No endpoint at all: an orchestrator's service is down; a plain entry passes on all connections to its port.
  if (endpoints.length === 0 && service.provider === "External") return [sharedContribution(port, wildcards(read), [])];
  const addresses = [...new Set(endpoints.map((e) => e.address))].filter(isIp).sort();
  return addresses.map((address) => ownContribution(port, [address]));
}

/** At addresses of the service's own: every connection to them is for it. */
function ownContribution(port: Port, binds: readonly string[]): ListenerContribution {
  const chains = port.kind === "http" ? [] : chainsOf(port, [], false);
  return contribution(port, binds, chains, `${port.service.hostname}:${port.number}`);
}

/** At addresses that other hosts use too, and therefore share routes. */
function sharedContribution(port: Port, binds: readonly string[], ranges: readonly string[]): ListenerContribution {
  const chains = port.kind === "http" ? [] : chainsOf(port, ranges, needsName(port, binds, ranges));
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

/** The rules for connections to a port that are not HTTP. */
function ruleProtocol({ protocol }: Port): "tls" | "tcp" {
  return isTls(protocol) ? "tls" : "tcp";
}

/** @param byName TLS connections are the service's only where they name it. */
function chainsOf(port: Port, ranges: readonly string[], byName: boolean): TcpChain[] {
  const { read, host, service, protocol } = port;
  const rules = read.virtualService(host, ruleProtocol(port), port.number);
  const context = { port: { port: port.number, name: port.name, protocol }, cidrs: ranges };
  const tls = isTls(protocol);
  const routed = rules === undefined
    ? { chains: [], complete: false }
    : tls
    ? tlsChains(read, rules, context)
    : tcpChains(read, rules, context);
  // The rules of the wildcard itself are among the wildcard's chains.
  if (host !== service.hostname && !rules?.hosts.includes(host)) return [];
  if (host !== service.hostname) return routed.chains.flatMap((chain) => under(host, chain));
  if (routed.complete) return routed.chains;
  const proxy = servicePlan(read, service, { port: port.servicePort, name: port.name, protocol });
  // Each range is a chain of its own, so that another host that owns one of them leaves the others.
  const targets = ranges.length > 0 ? ranges.map((range) => [range]) : [[]];
  const match = tls ? serviceSni(service, byName) : { sni: [] };
  return [...routed.chains, ...targets.map((cidrs) => ({ ...match, cidrs, proxy }))];
}

/** The server name match of a chain for connections that name a host. */
function under(host: string, chain: TcpChain): TcpChain[] {
  const sni = chain.sni.filter((name) => covers(host, name));
  return sni.length > 0 ? [{ ...chain, sni }] : [];
}

/** Where a service gets all connections, its name still counts when another one has them already. */
function serviceSni(service: Service, byName: boolean): Pick<TcpChain, "sni" | "fallbackSni"> {
  return byName ? { sni: [service.hostname] } : { sni: [], fallbackSni: [service.hostname] };
}

/**
 * Whether only the server name distinguishes services: in a range, at all addresses, and where names are resolved. At one address that several
 * share (loopback) a service gets all connections, as the only one there usually is, unless it is a range elsewhere.
 */
function needsName(port: Port, binds: readonly string[], ranges: readonly string[]): boolean {
  // Else a proxy would resolve any name that its clients send.
  if (ranges.length > 0 || isNamed(port.service, port.servicePort)) return true;
  const addresses = boundAddresses(port.read, port.service);
  if (addresses.length > 0) return addresses.every(isRange);
  return binds[0] === wildcards(port.read)[0];
}
