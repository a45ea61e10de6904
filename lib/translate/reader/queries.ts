/**
 * The queries of builders, a row for each query: how the query is asked, and which changes may change the answer. The
 * reader has a method for each row.
 *
 * @module
 */
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import type { OutboundTrafficPolicy } from "../../config/kinds/sidecar/schema.ts";
import type { MeshConfig, MeshNetworks, ProxyHeaders } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { SourceQuery } from "../../incremental/read_record.ts";
import { MESH_KEY, WORKLOAD_KEY } from "../../mesh/affected.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import type { ServiceIdentities } from "../../mesh/endpoint_identities.ts";
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
import type { ServedWaypoint } from "../../mesh/waypoints/index.ts";
import type { ServedWorkload } from "../../mesh/waypoints/workloads.ts";
import type { IngressWay } from "../../mesh/waypoints/ingress.ts";
import {
  type Endpoint,
  type NetworkEntrance,
  type Service,
  type ServiceKey,
  serviceKey,
} from "../../registry/types.ts";
import type { PatchList, PatchPart } from "./patch_selection.ts";
import type { OwnTracing, ProxyProperties } from "./proxy_properties.ts";
import type { ScopeReader } from "./scope_reader.ts";

/** A query about a named thing of the mesh, such as a host. */
export interface ThingQuery<T> extends SourceQuery<ScopeReader, T> {
  readonly isWhole: false;
}

/** A query about the mesh as a whole. */
export interface WholeQuery<T> extends SourceQuery<ScopeReader, T> {
  readonly isWhole: true;
}

/**
 * A query about the workload beside the proxy. The answer is a property of the proxy. When the answer changes, the
 * proxy gets the results for the new answer; the results for the old answer stay right for other proxies.
 *
 * @typeParam P The part of the answer, for queries by parts.
 */
export interface WorkloadQuery<T, P extends string = never> {
  /** The name of the property, or the beginning of the name. */
  readonly name: string;
  /**
   * The kind of objects behind the answer: a change of such an object in the workload's namespace may change the
   * answer. Undefined: the answer rests on the proxy alone.
   */
  readonly on: string | undefined;
  ask(source: ScopeReader, of: ProxyProperties, part: P): T;
}

/**
 * A row about a thing.
 *
 * @param on The kinds of things behind the answer: a change of such a thing with the asked name may change the answer.
 */
export function thing<T>(ask: (source: ScopeReader, name: string) => T, ...on: readonly string[]): ThingQuery<T> {
  return { ask, on, isWhole: false };
}

/** A row about the whole mesh: only a new view of the mesh can change the answer. */
function whole<T>(ask: (source: ScopeReader) => T): WholeQuery<T> {
  return { ask, on: [], isWhole: true };
}

/** A row about the workload. */
export function workload<T, P extends string = never>(
  name: string,
  on: string | undefined,
  ask: (source: ScopeReader, of: ProxyProperties, part: P) => T,
): WorkloadQuery<T, P> {
  return { name, on, ask: (source, of, part) => ask(source.forWorkload(of), of, part) };
}

/**
 * The rows are constants, because builds ask queries often. An answer is the same object until something behind the
 * answer changes.
 */
export const QUERIES = {
  mesh: whole(({ mesh }): MeshConfig => mesh.config),
  /** The networks of the mesh. */
  networks: whole(({ mesh }): MeshNetworks => mesh.networks),
  /** The egress listeners of the scope (see `EgressListener`). */
  egressListeners: whole(({ scope }): readonly EgressListener[] => scope.egress),
  /** The policy for traffic to unnamed destinations: of the scope's Sidecar, else of the mesh. */
  outboundTrafficPolicy: whole(({ scope }): OutboundTrafficPolicy => scope.outboundTrafficPolicy()),

  /** The visible service of a host. Exact host only; a wildcard service has its `*.` host. */
  service: thing(({ scope }, host): Service | undefined => scope.service(host), MESH_KEY.service),
  /** All endpoints of the visible service of a host (all ports, clusters, health states). */
  endpoints: thing(endpointsOf, MESH_KEY.service, MESH_KEY.endpoints),
  /** Identities of the endpoints of the visible service of a host. Undefined: no such service. */
  identities: thing(identitiesOf, MESH_KEY.service, MESH_KEY.identities),
  /** Whether some visible service has a host under a wildcard (`*.example.com`). */
  hasServiceUnder: thing(({ scope }, pattern): boolean => scope.hasServiceUnder(pattern), MESH_KEY.service),
  /** Where workloads of a namespace take only plain connections. Undefined: nowhere. */
  refusedPeerTls: thing(
    ({ mesh }, namespace): RefusedPeerTls | undefined => mesh.peerAuthentications.refusedIn(namespace),
    MESH_KEY.refusedPeerTls,
  ),
  /** The fetched keys of a token issuer's place (`keyPlaceOf`), as JSON text. Undefined: no keys yet. */
  tokenKeys: thing(({ mesh }, place): string | undefined => mesh.tokenKeysAt(place), MESH_KEY.tokenKeys),
  /** The ways into a network, sorted by address. None: addresses of the network are dialled from everywhere. */
  entrances: thing(
    ({ mesh }, network): readonly NetworkEntrance[] => mesh.entrances(network),
    MESH_KEY.entrances,
  ),
  /** A waypoint, `namespace/name`, with the services behind it. */
  waypoint: thing(({ mesh }, name): ServedWaypoint => mesh.waypoint(name), MESH_KEY.waypoint),
  /** The workloads behind a waypoint, `namespace/name`. */
  waypointWorkloads: thing(
    ({ mesh }, name): readonly ServedWorkload[] => mesh.waypointWorkloads(name),
    MESH_KEY.waypointWorkloads,
  ),
  /** The waypoint `namespace/name` of the visible service of a host. Undefined: none. */
  waypointOf: thing(waypointOf, MESH_KEY.service, MESH_KEY.waypointOf),
  /** Host of the service in front of the pods of a waypoint, `namespace/name`. Undefined: the waypoint has no address. */
  waypointHost: thing(({ mesh }, name): string | undefined => mesh.waypointHost(name), MESH_KEY.waypoint),
  /** Whether other networks reach the visible service of a host. */
  isGlobal: thing(isGlobal, MESH_KEY.service, MESH_KEY.isGlobal),
  /** Whether other networks reach a service by key (`namespace/host`), visible or not. */
  isGlobalService: thing(({ mesh }, key): boolean => mesh.isGlobal(key as ServiceKey), MESH_KEY.isGlobal),
  /** All services that other networks reach, visible or not. The only name is empty. */
  globalServices: thing(({ mesh }): readonly Service[] => mesh.globalServices, MESH_KEY.globalServices),
  /** How gateways reach the visible service of a host. Undefined: the service does not ask gateways to use its waypoint. */
  ingressWay: thing(ingressWayOf, MESH_KEY.service, MESH_KEY.ingressWay),
  /** How gateways between networks reach the visible service of a host. Undefined: the service asks for no waypoint. */
  forwardedWay: thing(forwardedWayOf, MESH_KEY.service, MESH_KEY.forwardedWay),
  /** The service of a waypoint by its host, exported or not. */
  waypointService: thing(({ mesh }, host): Service | undefined => mesh.services.of(host)[0], MESH_KEY.service),
  /** The endpoints of the service of a waypoint, exported or not. */
  waypointEndpoints: thing(
    ({ mesh }, host): readonly Endpoint[] => {
      const [service] = mesh.services.of(host);
      return service ? mesh.endpoints(service) : NO_ENDPOINTS;
    },
    MESH_KEY.service,
    MESH_KEY.endpoints,
  ),
  /** The identities of the pods of a waypoint by its host. Undefined: no such service. */
  waypointIdentities: thing(
    ({ mesh }, host): ServiceIdentities | undefined => {
      const [service] = mesh.services.of(host);
      return service && mesh.identities(service);
    },
    MESH_KEY.service,
    MESH_KEY.identities,
  ),
  /** The virtual services bound to a gateway (`namespace/name`), oldest first, exported or not. */
  virtualServicesOf: thing(
    ({ mesh }, gateway): readonly EffectiveVirtualService[] => mesh.virtualServices.forGateway(gateway),
    MESH_KEY.gatewayRoutes,
  ),

  /** The selecting Gateway objects of the gateway workload, oldest first. */
  gateways: workload(
    "gateways",
    WORKLOAD_KEY.gateways,
    ({ mesh }, { namespace, labels }): readonly ConfigObject<"Gateway">[] => mesh.gateways.select(namespace, labels),
  ),
  /** The hosts to which the gateway workload passes TLS on by server name, without ending TLS (AUTO_PASSTHROUGH). */
  passedHosts: workload(
    "passedHosts",
    WORKLOAD_KEY.gateways,
    ({ mesh }, { namespace, labels }): readonly ServerHost[] => mesh.gateways.passed(namespace, labels),
  ),
  /** The merged PeerAuthentication. */
  peerTls: workload("peerTls", WORKLOAD_KEY.peerTls, ({ mesh }, of): PeerTlsPolicy => mesh.peerAuthentications.of(of)),
  /** The authorization policies, all in force together. */
  authorizationPolicies: workload(
    "authorizationPolicies",
    WORKLOAD_KEY.authorization,
    ({ mesh }, of): readonly AuthorizationPolicy[] => mesh.authorizationPolicies.of(of),
  ),
  /** Of a waypoint: the authorization policies without targets, in force in front of all its services. */
  layeredPolicies: workload(
    "layeredPolicies",
    WORKLOAD_KEY.authorization,
    ({ mesh }, of): readonly AuthorizationPolicy[] => mesh.authorizationPolicies.layered(of),
  ),
  /** The merged rules of the RequestAuthentication objects. */
  tokenPolicy: workload(
    "tokenPolicy",
    WORKLOAD_KEY.tokenPolicy,
    ({ mesh }, of): RequestTokenPolicy => mesh.requestAuthentications.of(of),
  ),
  /** The merged rules of all chains: at a waypoint the chains of each service have rules of their own. */
  allTokenPolicies: workload(
    "allTokenPolicies",
    WORKLOAD_KEY.tokenPolicy,
    ({ mesh }, of): RequestTokenPolicy => mesh.requestAuthentications.of(of.allOfWaypoint ?? of),
  ),
  /** The patches for a part of the proxy's configuration, in order. */
  patches: workload(
    "patches",
    WORKLOAD_KEY.patches,
    ({ patches }, of, part: PatchPart): PatchList => patches.of(of, part),
  ),
  /** The access logs of Telemetries for a side of the proxy. Undefined: the mesh's own fields decide. */
  accessLogging: workload(
    "accessLogging",
    WORKLOAD_KEY.telemetry,
    ({ mesh }, of, side: TelemetrySide): AccessLogging => mesh.telemetries.of(of).accessLogging[side],
  ),
  /** The tracing of Telemetries for requests of a side. Undefined: the settings of the mesh and the proxy decide. */
  tracing: workload(
    "tracing",
    WORKLOAD_KEY.telemetry,
    ({ mesh }, of, side: TelemetrySide): Tracing => mesh.telemetries.of(of).tracing[side],
  ),
  /** The providers of metrics for a side, with the changes of Telemetries. Empty: nothing is measured. */
  metrics: workload(
    "metrics",
    WORKLOAD_KEY.telemetry,
    ({ mesh }, of, side: TelemetrySide): MetricsUses => mesh.telemetries.of(of).metrics[side],
  ),
  /** Whether proxies name their workload in a header of requests and answers. The same for all proxies. */
  exchangesPeers: workload(
    "exchangesPeers",
    WORKLOAD_KEY.telemetry,
    ({ mesh, settings }): boolean => settings.exchangePeers && mesh.telemetries.measures,
  ),
  /** Keys of the workload's Telemetries. A builder that asks shares results only between workloads with equal keys. */
  telemetryCauses: workload(
    "telemetryCauses",
    WORKLOAD_KEY.telemetry,
    ({ mesh }, of): readonly string[] => mesh.telemetries.of(of).causes,
  ),
  /** The places of WasmPlugins in the listeners of a side, in running order within a phase. */
  pluginUses: workload(
    "pluginUses",
    WORKLOAD_KEY.extensions,
    ({ mesh }, of, side: TelemetrySide): readonly PluginUse[] => mesh.wasmPlugins.of(of).uses[side],
  ),
  /** The WasmPlugins of the workload, in running order; at a waypoint the plugins of all services behind it. */
  wasmPlugins: workload(
    "wasmPlugins",
    WORKLOAD_KEY.extensions,
    ({ mesh }, of): readonly WasmPlugin[] => mesh.wasmPlugins.of(of.allOfWaypoint ?? of).plugins,
  ),
  /** Tracing of the proxy's own settings (node metadata `PROXY_CONFIG`), else the mesh's default. */
  proxyTracing: workload("proxyTracing", undefined, (_, { tracing }): OwnTracing | undefined => tracing),
  /** Headers that the proxy adds: of the proxy's own settings (`PROXY_CONFIG`), else the mesh's default. */
  proxyHeaders: workload("proxyHeaders", undefined, (_, { proxyHeaders }): ProxyHeaders | undefined => proxyHeaders),
} as const;

const NO_ENDPOINTS: readonly Endpoint[] = [];

function endpointsOf({ scope, mesh }: ScopeReader, host: string): readonly Endpoint[] {
  const service = scope.service(host);
  return service ? mesh.endpoints(service) : NO_ENDPOINTS;
}

function waypointOf({ scope, mesh }: ScopeReader, host: string): string | undefined {
  const service = scope.service(host);
  return service && mesh.waypointOf(service);
}

function isGlobal({ scope, mesh }: ScopeReader, host: string): boolean {
  const service = scope.service(host);
  return service !== undefined && mesh.isGlobal(serviceKey(service));
}

function ingressWayOf({ scope, mesh }: ScopeReader, host: string): IngressWay | undefined {
  const service = scope.service(host);
  return service && mesh.ingressWay(service);
}

function forwardedWayOf({ scope, mesh }: ScopeReader, host: string): IngressWay | undefined {
  const service = scope.service(host);
  return service && mesh.forwardedWay(service);
}

function identitiesOf({ scope, mesh }: ScopeReader, host: string): ServiceIdentities | undefined {
  const service = scope.service(host);
  return service && mesh.identities(service);
}

/** The rules in force for a host. Several rules: some rules select client workloads by labels. */
export const destinationRules: ThingQuery<readonly EffectiveDestinationRule[]> = thing(
  ({ scope }, host) => scope.destinationRules(host),
  MESH_KEY.service,
  MESH_KEY.destinationRule,
);

type VirtualServiceQuery = ThingQuery<EffectiveVirtualService | undefined>;

/** The first four positions. At most hosts the first virtual service for all workloads has one of these positions. */
const VIRTUAL_SERVICE: Readonly<Record<RuleProtocol, readonly VirtualServiceQuery[]>> = {
  http: Array.from({ length: 4 }, (_, at) => newVirtualService("http", at)),
  tls: Array.from({ length: 4 }, (_, at) => newVirtualService("tls", at)),
  tcp: Array.from({ length: 4 }, (_, at) => newVirtualService("tcp", at)),
};

/** A virtual service of a host, by position in the order of precedence. */
export function virtualServiceAt(protocol: RuleProtocol, at: number): VirtualServiceQuery {
  return VIRTUAL_SERVICE[protocol][at] ?? newVirtualService(protocol, at);
}

function newVirtualService(protocol: RuleProtocol, at: number): VirtualServiceQuery {
  // The service decides too: the rules of a virtual service may be only for the service of one namespace.
  return thing(
    ({ scope }, host) => scope.virtualService(host, protocol, at),
    MESH_KEY.virtualService,
    MESH_KEY.service,
  );
}

/** The usual number of egress listeners in Sidecars. */
const EGRESS_SEES = Array.from({ length: 8 }, (_, index) => newEgressSees(index));

/** Whether an egress listener sees a host, by position of the listener in the scope. */
export function egressSees(index: number): ThingQuery<boolean> {
  return EGRESS_SEES[index] ?? newEgressSees(index);
}

function newEgressSees(index: number): ThingQuery<boolean> {
  return thing(({ scope }, host) => scope.sees(index, host), MESH_KEY.service, MESH_KEY.virtualService);
}
