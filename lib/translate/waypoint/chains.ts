/**
 * The filter chains of a service behind a waypoint: policies of the service, then its routes.
 *
 *     port with HTTP       requests, by the routes of the port
 *     port with bytes      TLS rules by server name, else the first TCP rule, else the service
 *     no protocol          requests where the first bytes are HTTP, else bytes
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { type Finding, lossOf, warningOf } from "../../finding/finding.ts";
import { wrap } from "../../pb/wellknown.ts";
import { portCauses, type Service, type ServicePort } from "../../registry/types.ts";
import { Authorization } from "../authorization/authorization.ts";
import { servedClusterName } from "../destination/names.ts";
import { unverifiableFindings } from "../filters/http/jwt_authn/filter.ts";
import type { TcpProxyPlan } from "../filters/network/tcp_proxy.ts";
import { pluginCauses } from "../filters/wasm.ts";
import { networkRange } from "../listener/address.ts";
import type { TcpChain } from "../listener/contribution.ts";
import { bytesFilters, type InboundChain, inboundFilterChains } from "../listener/inbound/chain.ts";
import { servicePlan } from "../listener/outbound/tcp_destination.ts";
import { tcpChains, tlsChains } from "../listener/outbound/tcp_route.ts";
import { findingsOnce } from "../message/finding.ts";
import type { OpenReader, Reader } from "../reader/reader.ts";
import { tunnelAddresses } from "../service/address.ts";
import { listenerKind } from "../service/protocol.ts";
import { rulesAtWaypoint } from "./rules.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;

/** The chains of a service. */
export interface ServiceChains {
  readonly host: string;
  /** Addresses of the service as ranges. Matches of the chains lack the addresses. */
  readonly ranges: readonly string[];
  readonly chains: readonly FilterChain[];
  readonly causes: readonly string[];
  /** Patches added fields that only `encodeApi` can write. */
  readonly needsApi: boolean;
}

/** A service whose chains could not be built: no connection is accepted. */
export const CLOSED_SERVICE: ServiceChains = { host: "", ranges: [], chains: [], causes: [], needsApi: false };

/** The chains of a service, and the findings about its policies. */
export interface BuiltServiceChains {
  readonly built: ServiceChains;
  readonly findings: readonly Finding[];
}

/** Builds the chains. The reader answers for the waypoint in the role of the service. */
export function serviceChains(read: OpenReader, service: Service): BuiltServiceChains {
  const { hostname, cause } = service;
  if (read.service(hostname) !== service) {
    const text = `the namespace of its waypoint does not see ${hostname} of namespace ${service.namespace}: ` +
      "the waypoint refuses connections to the service";
    const built = { ...CLOSED_SERVICE, host: hostname };
    return { built, findings: [lossOf("not-as-written", [cause], text)] };
  }
  const authorization = new Authorization(read, { hbone: true });
  const findings: Finding[] = [...unverifiableFindings(read)];
  const chains: FilterChain[] = [];
  const causes = new Set([cause, ...read.tokenPolicy().causes, ...read.telemetryCauses()]);
  for (const one of [...pluginCauses(read, "server"), ...authorization.causes]) causes.add(one);
  for (const port of service.ports) {
    const kind = listenerKind(port.protocol);
    if (kind === undefined) continue;
    if (kind === "tcp") findings.push(...authorization.bytesFindings(port.port));
    const { tls, bytes, owners, problems } = bytesOf(read, service, port);
    findings.push(...problems);
    for (const one of [...portCauses(service, port), ...owners]) causes.add(one);
    const chain = chainOf(service, port, bytes);
    for (const { sni, proxy } of kind === "http" ? [] : tls) {
      chains.push(serverNameChain(read, { ...chain, bytes: proxy }, sni, authorization));
    }
    // A port with TLS rules refuses other server names, as it does at sidecars.
    if (kind !== "tcp" || tls.length === 0) chains.push(...inboundFilterChains(read, chain, authorization));
  }
  const ranges = tunnelAddresses(read, service).flatMap((address) => networkRange(address) ?? []);
  return {
    built: { host: hostname, ranges, chains, causes: [...causes], needsApi: false },
    findings: findingsOnce([...findings, ...authorization.findings()]),
  };
}

function chainOf(service: Service, { port, protocol }: ServicePort, bytes: TcpProxyPlan): InboundChain {
  const name = {
    http: servedClusterName(port, "http", "", service.hostname),
    tcp: servedClusterName(port, "tcp", "", service.hostname),
  };
  return { name, statPrefix: name, port, protocol, cluster: name.tcp, routes: name.http, hbone: true, bytes };
}

/** The treatment of bytes on a port. */
interface BytesRules {
  readonly tls: readonly TcpChain[];
  readonly bytes: TcpProxyPlan;
  readonly owners: readonly string[];
  readonly problems: readonly Finding[];
}

function bytesOf(read: OpenReader, service: Service, port: ServicePort): BytesRules {
  const context = { port: { port: port.port, name: port.name, protocol: port.protocol }, cidrs: [] };
  const problems: Finding[] = [];
  const owners: string[] = [];
  const usable = (rules: readonly TcpChain[], causes: readonly string[]) => {
    const [kept, limited] = [
      rules.filter(({ cidrs }) => cidrs.length === 0),
      rules.some((one) => one.cidrs.length > 0),
    ];
    const text = "rules with destinationSubnets have no effect at a waypoint: its services have addresses of their own";
    if (limited) problems.push(warningOf("not-as-written", causes, text));
    if (kept.length > 0) owners.push(...causes);
    return kept;
  };
  const first = (protocol: "tls" | "tcp", chainsOf: typeof tlsChains) => {
    for (const rules of rulesAtWaypoint(read, service, protocol)) {
      const kept = usable(chainsOf(read, rules, context).chains, rules.causes);
      if (kept.length > 0) return kept;
    }
    return [];
  };
  const [tls, [tcp]] = [first("tls", tlsChains), first("tcp", tcpChains)];
  return { tls, bytes: tcp?.proxy ?? servicePlan(read, service, context.port), owners, problems };
}

function serverNameChain(
  read: Reader,
  chain: InboundChain,
  server_names: readonly string[],
  authorization: Authorization,
): FilterChain {
  return {
    name: `${chain.name.tcp}|${server_names.join(",")}`,
    filter_chain_match: {
      destination_port: wrap(chain.port),
      transport_protocol: "tls",
      server_names: [...server_names],
    },
    filters: bytesFilters(read, chain, authorization),
  };
}
