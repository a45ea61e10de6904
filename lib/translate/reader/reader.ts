/**
 * The interface through which builders read the mesh and the proxy.
 *
 * A builder is a pure function of its arguments and of the answers of a `Reader`. Each query and the identity of its
 * answer are recorded; the result serves every proxy for which all these queries have the same answers, and stays valid
 * until one of them changes. So a cache key is the real read record: there is nothing to declare and nothing to forget.
 * A builder therefore keeps no other reference to the mesh, and asks only for what it needs (asking for
 * `property("locality")` without need splits the results by locality).
 *
 * @module
 */
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import type { OutboundTrafficPolicy } from "../../config/kinds/sidecar/schema.ts";
import type { MeshConfig, MeshNetworks, ProxyHeaders } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { ServiceIdentities } from "../../mesh/endpoint_identities.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import type { PeerTlsPolicy, RefusedPeerTls } from "../../mesh/peer_authentication.ts";
import type { RequestTokenPolicy } from "../../mesh/request_authentication.ts";
import type { AccessLogging, TelemetrySide } from "../../mesh/telemetry/access_logging.ts";
import type { MetricsUses } from "../../mesh/telemetry/metrics.ts";
import type { Tracing } from "../../mesh/telemetry/tracing.ts";
import type {
  EffectiveDestinationRule,
  EffectiveVirtualService,
  EgressListener,
  RuleProtocol,
} from "../../mesh/types.ts";
import type { PluginUse, WasmPlugin } from "../../mesh/wasm_plugins.ts";
import type { Endpoint, NetworkEntrance, Service } from "../../registry/types.ts";
import type { PatchList, PatchPart } from "./patch_selection.ts";
import type { OwnTracing, PlainProperty, ProxyProperties } from "./proxy_properties.ts";
import type { TranslateSettings } from "./settings.ts";

/** The queries of a builder. Every answer is identity-stable while nothing behind it changes. */
export interface Reader {
  readonly settings: TranslateSettings;
  property<K extends PlainProperty>(name: K): ProxyProperties[K];
  /**
   * A fact derived from some properties, recorded as its answer alone: `derived("sameNamespace/a", (p) => p.namespace
   * === "a")` splits the results in two, where `property("namespace")` would split them by namespace.
   *
   * @param key Names the query and all that `compute` takes from outside the properties.
   * @param compute Pure; its answer must be a primitive.
   */
  derived<T extends string | number | boolean>(key: string, compute: (properties: ProxyProperties) => T): T;
  mesh(): MeshConfig;
  /** The visible service of that host; exact host only (wildcard services by their `*.` host). */
  service(host: string): Service | undefined;
  /** All endpoints of the visible service of that host (all ports, clusters, health states). */
  endpoints(host: string): readonly Endpoint[];
  /** Identities of the endpoints of the visible service of that host; undefined: no such service. */
  identities(host: string): ServiceIdentities | undefined;
  /** The merged PeerAuthentication of the workload that the proxy runs beside. */
  peerTls(): PeerTlsPolicy;
  /** The authorization policies for the workload that the proxy runs beside, all in force together. */
  authorizationPolicies(): readonly AuthorizationPolicy[];
  /** The patches for a part of the proxy's configuration, in order. */
  patches(part: PatchPart): PatchList;
  /** Where workloads of a namespace take plain connections alone; undefined: nowhere. */
  refusedPeerTls(namespace: string): RefusedPeerTls | undefined;
  /** The merged rules of the RequestAuthentication objects that are for the workload. */
  tokenPolicy(): RequestTokenPolicy;
  /** The keys of a token issuer's place (`keyPlaceOf`) that the server fetched, as JSON text; undefined: none yet. */
  tokenKeys(place: string): string | undefined;
  /** The access logs that Telemetries ask of the proxy on one side; undefined: the mesh's own fields decide. */
  accessLogging(side: TelemetrySide): AccessLogging;
  /** How Telemetries have requests of one side traced; undefined: the mesh's and the proxy's own settings decide. */
  tracing(side: TelemetrySide): Tracing;
  /** The providers of metrics of one side, with the changes of Telemetries to these; empty: nothing is measured. */
  metrics(side: TelemetrySide): MetricsUses;
  /** Whether proxies say in a header of requests and answers which workload they are. */
  exchangesPeers(): boolean;
  /** Tracing of its own settings (node metadata `PROXY_CONFIG`), else of the mesh's default ones. */
  proxyTracing(): OwnTracing | undefined;
  /** Keys of the Telemetries that are for the proxy. Asking splits results by them, also where they say the same. */
  telemetryCauses(): readonly string[];
  /** Where WasmPlugins stand in the listeners of one side, in the order in which they run within a phase. */
  pluginUses(side: TelemetrySide): readonly PluginUse[];
  /** The WasmPlugins that are for the proxy, in that order. */
  wasmPlugins(): readonly WasmPlugin[];
  /** The destination rule in force for that host (most specific host match; own, service's, root namespace). */
  destinationRule(host: string): EffectiveDestinationRule | undefined;
  /** The same for the workloads that no `workloadSelector` of a rule chooses. */
  destinationRuleForAll(host: string): EffectiveDestinationRule | undefined;
  /**
   * The virtual service in force for that host on gateway `mesh`, of those with rules of that protocol for the proxy's
   * workload: the most specific host match, then the oldest. The host need not be a service.
   *
   * @param port Only one with rules for connections to that port. Absent: for some port.
   */
  virtualService(host: string, protocol: RuleProtocol, port?: number): EffectiveVirtualService | undefined;
  /** Those that are in force for that host on some port, the first in the lead; see `virtualService`. */
  virtualServices(host: string, protocol: RuleProtocol): readonly EffectiveVirtualService[];
  /** The egress listeners of the scope (see `EgressListener`). */
  egressListeners(): readonly EgressListener[];
  /** Whether that egress listener of the scope sees that host. */
  egressSees(egress: EgressListener, host: string): boolean;
  /** The policy for traffic to destinations that nothing names: of the scope's Sidecar, else of the mesh. */
  outboundTrafficPolicy(): OutboundTrafficPolicy;
  /** Headers that the proxy adds: of its own settings (node metadata `PROXY_CONFIG`), else of the mesh's default ones. */
  proxyHeaders(): ProxyHeaders | undefined;
  /** The ways into a network, sorted by address; none: its addresses are dialled from everywhere. */
  entrances(network: string): readonly NetworkEntrance[];
  /** The networks that the mesh spans. */
  networks(): MeshNetworks;
  /** Whether some visible service has a host under that wildcard (`*.example.com`). */
  hasServiceUnder(pattern: string): boolean;
  /** The Gateway objects that select this gateway workload, oldest first. */
  gateways(): readonly ConfigObject<"Gateway">[];
  /** The hosts whose connections this gateway workload passes on by the name that clients ask for (AUTO_PASSTHROUGH). */
  passedHosts(): readonly ServerHost[];
  /** The virtual services bound to a gateway (`namespace/name`), oldest first, exported or not. */
  virtualServicesOf(gateway: string): readonly EffectiveVirtualService[];
}
