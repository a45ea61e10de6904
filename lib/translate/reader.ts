/**
 * The only door through which builders see the world.
 *
 * A builder is a pure function of its plain arguments and of what it asks a `Reader`. The caller records each question
 * and the identity of its answer; the built result serves every other proxy class for which all these questions have
 * the same answers, and stays valid until one of them changes. So a cache key is what was really read: nothing to
 * declare, nothing to forget. A builder therefore keeps no other reference to the snapshot, and asks only for what it
 * needs (asking for `trait("locality")` without need splits the cache by locality).
 *
 * @module
 */
import type { OutboundTrafficPolicy } from "../config/kinds/sidecar/types.ts";
import type { GatewayTopology, MeshConfig, MeshNetworks, ProxyHeaders } from "../config/mesh/types.ts";
import type { ConfigObject } from "../config/types.ts";
import type { EffectiveDestinationRule, EffectiveVirtualService, EgressListener, RuleProtocol } from "../mesh/types.ts";
import type { Endpoint, Service } from "../registry/types.ts";

/** How inbound and outbound connections reach the proxy: iptables REDIRECT or TPROXY, or not at all (NONE). */
export type InterceptionMode = "REDIRECT" | "TPROXY" | "NONE";

/** All that translation may read of a proxy, beside what it runs (its own services) and what its scope lets it see. */
export interface ProxyTraits {
  readonly type: "sidecar" | "router";
  readonly namespace: string;
  /** DNS domain of the proxy, for short names: `default.svc.cluster.local`. */
  readonly dnsDomain: string;
  readonly clusterId: string;
  readonly network: string;
  /** Networks whose endpoints it asked to see (REQUESTED_NETWORK_VIEW), sorted, comma separated; empty: all. */
  readonly requestedNetworks: string;
  /** `region/zone/subzone`, or empty. */
  readonly locality: string;
  readonly nodeName: string;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  readonly interceptionMode: InterceptionMode;
  /** Port of an explicit HTTP proxy listener; 0: none. */
  readonly httpProxyPort: number;
  readonly http10: boolean;
  /** Idle timeout of inbound and outbound TCP, ms; 0: Envoy's default. */
  readonly idleTimeout: number;
  readonly dnsCapture: boolean;
  readonly dnsAutoAllocate: boolean;
  /** Virtual hosts go to it one by one (VHDS over delta) instead of inside route configurations. */
  readonly vhds: boolean;
  /**
   * Names of the extensions that its build has; undefined: all (it lists none). Asked about one by one, see
   * `hasExtension`.
   */
  readonly extensions: ReadonlySet<string> | undefined;
  readonly inboundExactBalance: boolean;
  readonly outboundExactBalance: boolean;
  /** Files of the proxy's own metadata (TLS_CLIENT_CERT_CHAIN and so on), for destination rules in mutual mode without files. */
  readonly tlsClientCertChain: string;
  readonly tlsClientKey: string;
  readonly tlsClientRootCert: string;
  readonly isUnprivileged: boolean;
  /** Headers that its own settings (node metadata `PROXY_CONFIG`) or the mesh's say; equal ones are the same object. */
  readonly proxyHeaders: ProxyHeaders | undefined;
  /** What lies before it, as its own settings say (node metadata `PROXY_CONFIG`); absent: what the mesh's say. */
  readonly gatewayTopology?: GatewayTopology;
  /** Labels of the workload. Read them through `Reader.ask` only: nearly every workload has its own. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Traits that may be read whole; for the others the reader has a question. */
export type PlainTrait = Exclude<keyof ProxyTraits, "labels" | "proxyHeaders" | "gatewayTopology" | "extensions">;

/** The process-wide settings that translation reads, fixed at start (a setting is never read from the environment here). */
export interface TranslateSettings {
  /** DNS suffix of the mesh, `--domain`. */
  readonly domainSuffix: string;
  readonly enableHttp10: boolean;
  readonly enablePersistentSessionFilter: boolean;
  readonly persistentSessionLabel: string;
  readonly persistentSessionHeaderLabel: string;
  readonly enableRouteCollapse: boolean;
  readonly enableAbsoluteFqdnVhostDomain: boolean;
  readonly enable100ContinueHeaders: boolean;
  readonly enableEdsForHeadless: boolean;
  readonly enableLocalityWeightedLb: boolean;
  readonly sendUnhealthyEndpoints: boolean;
  readonly drainingLabel: string;
  readonly sidecarUseRemoteAddress: boolean;
  readonly enableTlsOnSidecarIngress: boolean;
  readonly allowSidecarServiceInboundListenerMerge: boolean;
  readonly preferDestinationRuleTlsForExternal: boolean;
  readonly dualStack: boolean;
  readonly enableIpv4OutboundListenerForIpv6Clusters: boolean;
  readonly dnsCaresUdpMaxQueries: number;
  readonly dnsJitterMs: number;
  readonly enableTelemetryLabel: boolean;
  readonly endpointTelemetryLabel: boolean;
  readonly maxConnectionsPerSocketEventLoop: number;
  readonly filterGatewayClusterConfig: boolean;
  readonly scopeGatewayToNamespace: boolean;
  readonly enableHcmInternalNetworks: boolean;
  readonly labelCanonicalServicesForMeshExternal: boolean;
}

/** Questions a builder may ask. Every answer is identity-stable while nothing behind it changes. */
export interface Reader {
  readonly settings: TranslateSettings;
  trait<K extends PlainTrait>(name: K): ProxyTraits[K];
  /**
   * A fact derived from several traits, recorded as its answer alone: `ask("sameNamespace/a", (t) => t.namespace === "a")`
   * splits the cache in two, where `trait("namespace")` would split it by namespace.
   *
   * @param key Names the fact and all that `compute` takes from outside the traits.
   * @param compute Pure; its answer must be a primitive.
   */
  ask<T extends string | number | boolean>(key: string, compute: (traits: ProxyTraits) => T): T;
  mesh(): MeshConfig;
  /** The visible service of that host; exact host only (wildcard services by their `*.` host). */
  service(host: string): Service | undefined;
  /** All endpoints of the visible service of that host (all ports, clusters, health states). */
  endpoints(host: string): readonly Endpoint[];
  /** The destination rule in force for that host (most specific host match; own, service's, root namespace). */
  destinationRule(host: string): EffectiveDestinationRule | undefined;
  /**
   * The virtual service in force for that host on gateway `mesh`, of those with rules of that protocol: the most
   * specific host match, then the oldest. The host need not be a service.
   */
  virtualService(host: string, protocol: RuleProtocol): EffectiveVirtualService | undefined;
  /** The egress listeners of the scope (see `EgressListener`). */
  egressListeners(): readonly EgressListener[];
  /** Whether that egress listener of the scope sees that host. */
  egressSees(egress: EgressListener, host: string): boolean;
  /** What becomes of traffic to destinations that nothing names: as the scope's Sidecar says, else as the mesh says. */
  outboundTrafficPolicy(): OutboundTrafficPolicy;
  /** Headers that the proxy adds: of its own settings (node metadata `PROXY_CONFIG`), else of the mesh's default ones. */
  proxyHeaders(): ProxyHeaders | undefined;
  /** The networks that the mesh spans. */
  networks(): MeshNetworks;
  /** Whether some visible service has a host under that wildcard (`*.example.com`). */
  hasServiceUnder(pattern: string): boolean;
  /** The Gateway objects that select this gateway workload, oldest first. */
  gateways(): readonly ConfigObject<"Gateway">[];
  /** The virtual services bound to a gateway (`namespace/name`), oldest first, whoever exports them. */
  virtualServicesOf(gateway: string): readonly EffectiveVirtualService[];
}
