/**
 * The mesh queries of builders, and the keys that their answers depend on.
 *
 * @module
 */
import { InvalidatedKeys } from "../../incremental/keys.ts";
import type { SourceQuery } from "../../incremental/read_record.ts";
import { addHostKeys } from "../../mesh/host_keys.ts";
import type { AffectedKeys } from "../../mesh/mesh.ts";
import type { EffectiveVirtualService, RuleProtocol } from "../../mesh/types.ts";
import type { MeshAnswers } from "./mesh_answers.ts";

/** Kinds of things that answers depend on. */
export const KEY = {
  /** The service of a host. */
  service: "service",
  /** The endpoints of a host's service. */
  endpoints: "endpoints",
  /** The virtual service in force for a host on sidecars. */
  virtualService: "virtual service",
  /** The destination rule in force for a host. */
  destinationRule: "destination rule",
  /** The virtual services of one gateway, `namespace/name`. */
  gatewayRoutes: "gateway routes",
  /** All Gateway objects; the name is empty. */
  gateways: "gateways",
  /** The identities of a host's endpoints. */
  identities: "identities",
  /** Where workloads of a namespace refuse mutual TLS. */
  refusedPeerTls: "refused peer tls",
  /** The keys of a token issuer, by their place. */
  tokenKeys: "token keys",
  /** The ways into a network. */
  entrances: "entrances",
} as const;

function query<T>(
  ask: (source: MeshAnswers, name: string) => T,
  ...on: readonly string[]
): SourceQuery<MeshAnswers, T> {
  return { ask, on };
}

/** Builds ask many queries, so each is one constant. Those without a key have the same answer as long as their view. */
export const MESH_QUERY = {
  mesh: query((source) => source.mesh()),
  networks: query((source) => source.networks()),
  service: query((source, host) => source.service(host), KEY.service),
  endpoints: query((source, host) => source.endpoints(host), KEY.service, KEY.endpoints),
  identities: query((source, host) => source.identities(host), KEY.service, KEY.identities),
  refusedPeerTls: query((source, namespace) => source.refusedPeerTls(namespace), KEY.refusedPeerTls),
  tokenKeys: query((source, place) => source.tokenKeys(place), KEY.tokenKeys),
  entrances: query((source, network) => source.entrances(network), KEY.entrances),
  destinationRules: query((source, host) => source.destinationRules(host), KEY.service, KEY.destinationRule),
  egressListeners: query((source) => source.egressListeners()),
  outboundTrafficPolicy: query((source) => source.outboundTrafficPolicy()),
  hasServiceUnder: query((source, pattern) => source.hasServiceUnder(pattern), KEY.service),
  virtualServicesOf: query((source, gateway) => source.virtualServicesOf(gateway), KEY.gatewayRoutes),
} as const;

/** Virtual services of one host before the one for all workloads are few. */
const VIRTUAL_SERVICE: Readonly<Record<RuleProtocol, readonly VirtualServiceQuery[]>> = {
  http: Array.from({ length: 4 }, (_, at) => newVirtualService("http", at)),
  tls: Array.from({ length: 4 }, (_, at) => newVirtualService("tls", at)),
  tcp: Array.from({ length: 4 }, (_, at) => newVirtualService("tcp", at)),
};

type VirtualServiceQuery = SourceQuery<MeshAnswers, EffectiveVirtualService | undefined>;

/** A virtual service of a host, by how many go before it. */
export function virtualServiceAt(protocol: RuleProtocol, at: number): VirtualServiceQuery {
  return VIRTUAL_SERVICE[protocol][at] ?? newVirtualService(protocol, at);
}

function newVirtualService(protocol: RuleProtocol, at: number): VirtualServiceQuery {
  return query((source, host) => source.virtualService(host, protocol, at), KEY.virtualService);
}

/** Egress listeners that Sidecars usually have. */
const EGRESS_SEES = Array.from({ length: 8 }, (_, index) => newEgressSees(index));

/** Whether an egress listener sees a host. */
export function egressSees(index: number): SourceQuery<MeshAnswers, boolean> {
  return EGRESS_SEES[index] ?? newEgressSees(index);
}

function newEgressSees(index: number): SourceQuery<MeshAnswers, boolean> {
  return query((source, host) => source.egressSees(index, host), KEY.service, KEY.virtualService);
}

/** Hosts of which something reads differently. */
export type HostChange = Pick<
  AffectedKeys,
  "services" | "endpoints" | "identities" | "virtualServices" | "destinationRules"
>;

/** The keys that such hosts make stale. */
export function hostKeys(change: HostChange): InvalidatedKeys {
  const { services, endpoints, identities, virtualServices, destinationRules } = change;
  const keys = new InvalidatedKeys();
  addHostKeys(keys, KEY.service, services);
  addHostKeys(keys, KEY.endpoints, endpoints);
  addHostKeys(keys, KEY.identities, identities);
  addHostKeys(keys, KEY.virtualService, virtualServices);
  addHostKeys(keys, KEY.destinationRule, destinationRules);
  return keys;
}

/** The keys that a change makes stale. */
export function invalidatedKeys(affected: AffectedKeys): InvalidatedKeys {
  const keys = hostKeys(affected);
  for (const gateway of affected.gatewayRoutes) keys.add(KEY.gatewayRoutes, gateway);
  if (affected.gateways) keys.add(KEY.gateways, "");
  for (const place of affected.tokenKeys) keys.add(KEY.tokenKeys, place);
  for (const network of affected.entrances) keys.add(KEY.entrances, network);
  for (const namespace of affected.refusedPeerTls) {
    if (namespace === "*") keys.addPattern(KEY.refusedPeerTls, () => true);
    else keys.add(KEY.refusedPeerTls, namespace);
  }
  return keys;
}
