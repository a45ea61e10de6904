/**
 * The keys affected by a change of the mesh: queries about these keys may have other answers now.
 *
 * @module
 */
import { InvalidatedKeys } from "../incremental/keys.ts";
import { isWildcard, wildcardsOver } from "./host_match.ts";

/** Kinds of things behind answers. */
export const MESH_KEY = {
  /** The service of a host. */
  service: "service",
  /** The endpoints of a host's service. */
  endpoints: "endpoints",
  /** The identities of a host's endpoints. */
  identities: "identities",
  /** The virtual service in force for a host on sidecars. */
  virtualService: "virtual service",
  /** The destination rule in force for a host. */
  destinationRule: "destination rule",
  /** The virtual services of a gateway, `namespace/name`. */
  gatewayRoutes: "gateway routes",
  /** Where workloads of a namespace refuse mutual TLS. */
  refusedPeerTls: "refused peer tls",
  /** The keys of a token issuer, by place. */
  tokenKeys: "token keys",
  /** The ways into a network. */
  entrances: "entrances",
  /** The services behind a waypoint, `namespace/name`. */
  waypoint: "waypoint",
  /** The workloads behind a waypoint, `namespace/name`. */
  waypointWorkloads: "waypoint workloads",
  /** The waypoint of a host's service. */
  waypointOf: "waypoint of",
  /** How gateways reach a host's service through its waypoint. */
  ingressWay: "ingress way",
  /** How gateways between networks reach a host's service through its waypoint. */
  forwardedWay: "forwarded way",
  /** Whether other networks reach a service: by host, and by key. */
  isGlobal: "is global",
  /** All services that other networks reach. The only name is empty. */
  globalServices: "global services",
} as const;

/** Kinds of facts about single workloads, by the namespace of the workloads. */
export const WORKLOAD_KEY = {
  /** The services and rules in a workload's view. */
  scope: "scope",
  /** The Gateway objects of a gateway workload. */
  gateways: "gateways",
  /** The merged PeerAuthentication. */
  peerTls: "peer tls",
  /** The AuthorizationPolicy objects. */
  authorization: "authorization",
  /** The merged RequestAuthentication. */
  tokenPolicy: "token policy",
  /** The ProxyFilter objects. */
  patches: "patches",
  /** The merged Telemetries. */
  telemetry: "telemetry",
  /** The WasmPlugin objects. */
  extensions: "extensions",
} as const;

/** The keys affected by one change. The indexes add the keys. */
export class AffectedKeys {
  /** Things, by kind and name. */
  readonly things = new InvalidatedKeys();
  /** Facts about single workloads, by kind and namespace of the workloads. */
  readonly workloads = new InvalidatedKeys();
  /** Hosts of services and virtual services that may have appeared or disappeared. */
  readonly hosts = new Set<string>();

  /** Adds changed hosts. */
  addHosts(kind: string, hosts: Iterable<string>): void {
    addHostKeys(this.things, kind, hosts);
  }

  /** Adds namespaces of workloads whose facts may have changed. `*`: all. */
  addNamespaces(kind: string, namespaces: Iterable<string>): void {
    addNamespaces(this.workloads, kind, namespaces);
  }
}

/** Adds namespaces as keys. `*`: all. */
export function addNamespaces(keys: InvalidatedKeys, kind: string, namespaces: Iterable<string>): void {
  for (const namespace of namespaces) {
    if (namespace === "*") keys.addPattern(kind, () => true);
    else keys.add(kind, namespace);
  }
}

/**
 * Adds the keys of hosts. A host stands for the wildcards over it too, because queries may ask about the wildcards. A
 * wildcard stands for every host under it.
 */
export function addHostKeys(keys: InvalidatedKeys, kind: string, hosts: Iterable<string>): void {
  for (const host of hosts) {
    keys.add(kind, host);
    for (const pattern of wildcardsOver(host)) keys.add(kind, pattern);
    if (!isWildcard(host)) continue;
    const suffix = host.slice(1);
    keys.addPattern(kind, (name) => name.endsWith(suffix));
  }
}
