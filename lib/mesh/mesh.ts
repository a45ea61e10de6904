/**
 * The mesh for translation: indexes over configuration and services, kept up to date change by change.
 *
 *     config changes ──┐
 *                      ├─ apply() ─> indexes ─> scopes          (what each namespace sees)
 *     service changes ─┘        └──> AffectedKeys               (what must be computed again)
 *
 * There is a single writer. `apply` changes the indexes, and everything affected is translated again in the same turn,
 * before anyone else reads. So readers see a consistent state without copies, and `===` of an answer still shows
 * whether the answer changed.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import type { AnyConfigObject, ConfigObject, Kind } from "../config/types.ts";
import type { Labels } from "../registry/labels.ts";
import type { Endpoint, NetworkEntrance, Service, ServiceKey, Workload } from "../registry/types.ts";
import { AffectedKeys, MESH_KEY, WORKLOAD_KEY } from "./affected.ts";
import { AuthorizationPolicyIndex } from "./authorization_policy.ts";
import { DestinationRuleIndex } from "./destination_rule_index.ts";
import { EntranceIndex } from "./entrance_index.ts";
import { GatewayIndex } from "./gateway_index.ts";
import { GlobalServices } from "./global_services.ts";
import { EndpointIdentities, type ServiceIdentities } from "./endpoint_identities.ts";
import type { MeshIndexes } from "./indexes.ts";
import { FORKED_KINDS, type ForkedKind, type MeshOptions, type ServiceSource, type TokenKeySource } from "./options.ts";
import { type ObjectIndex, ofTargets, ofWorkloads, ON_TARGETS } from "./object_index.ts";
import { PeerAuthenticationIndex } from "./peer_authentication.ts";
import { ProxyFilterIndex } from "./proxy_filter.ts";
import { RequestAuthenticationIndex } from "./request_authentication.ts";
import type { Scope } from "./scope.ts";
import { Scopes, type VisibilityChange } from "./scopes.ts";
import { type FindTargets, GatewayTargets } from "./selection/gateway_targets.ts";
import { SelectionIndex } from "./selection/index.ts";
import { type SelectingKind, selectsGateways } from "./selection/selection.ts";
import { ServiceIndex } from "./service_index.ts";
import { sidecarOf } from "./sidecar.ts";
import { TelemetryIndex } from "./telemetry/index.ts";
import type { Distinction } from "./view/distinctions.ts";
import { type VirtualServiceDelta, VirtualServiceResolver } from "./virtual_service.ts";
import { MESH_GATEWAY } from "./sidecar_rules.ts";
import { VirtualServiceIndex } from "./virtual_service_index.ts";
import { WasmPluginIndex } from "./wasm_plugins.ts";
import type { WaypointAddress } from "./waypoints/address.ts";
import { NO_WAYPOINT, type ServedWaypoint, serviceAddresses, WaypointIndex } from "./waypoints/index.ts";
import { mayClose } from "./waypoints/closing.ts";
import { type IngressWay, IngressWays } from "./waypoints/ingress.ts";
import { WAYPOINT_POLICIES, type WaypointPolicy } from "./waypoints/policies.ts";
import { type ServedWorkload, WaypointWorkloads } from "./waypoints/workloads.ts";

/** Changes since the last `apply`. */
export interface MeshChange {
  readonly removed?: Iterable<AnyConfigObject>;
  /** New objects, and new versions of objects with an old version in `removed`. */
  readonly added?: Iterable<AnyConfigObject>;
  readonly services?: Iterable<ServiceKey>;
  readonly endpoints?: Iterable<ServiceKey>;
  /** Places with changed keys of token issuers. */
  readonly tokenKeys?: Iterable<string>;
  /** All entrances to networks, by network, where some changed. */
  readonly entrances?: ReadonlyMap<string, readonly NetworkEntrance[]>;
  /** The labels of all namespaces, where some changed. Unchanged labels are the same object. */
  readonly namespaces?: ReadonlyMap<string, Labels>;
  /** The addresses of all waypoints, `namespace/name`, where some changed. Unchanged addresses are the same object. */
  readonly waypointAddresses?: ReadonlyMap<string, WaypointAddress>;
  /** Workloads that appeared or changed, and workloads that went (undefined), by id. */
  readonly workloads?: Iterable<readonly [id: string, workload: Workload | undefined]>;
}

/** How a mesh differs from another mesh. */
interface MeshFork {
  readonly base: Mesh;
  /** The kinds of the differing objects. The indexes of other kinds are the indexes of the base. */
  readonly kinds: ReadonlySet<ForkedKind>;
  /** Keys of the differing objects. A change of such an object in the base does not concern the fork. */
  readonly keys: ReadonlySet<string>;
}

/** The indexes, with scopes over the indexes. */
export class Mesh implements MeshIndexes {
  readonly config: MeshConfig;
  /** DNS suffix of services. */
  readonly domainSuffix: string;
  readonly networks: MeshNetworks;
  /** Whether policies without targets are also for workloads of Gateways of the Gateway API. */
  readonly gatewaySelectors: boolean;
  readonly services: ServiceIndex;
  readonly virtualServices: VirtualServiceIndex;
  readonly destinationRules: DestinationRuleIndex;
  readonly sidecars: SelectionIndex<"Sidecar">;
  readonly gateways: GatewayIndex;
  /** The Gateways of the Gateway API by workload, for policies that name a Gateway. */
  readonly gatewayTargets: GatewayTargets;
  readonly peerAuthentications: PeerAuthenticationIndex;
  readonly authorizationPolicies: AuthorizationPolicyIndex;
  readonly requestAuthentications: RequestAuthenticationIndex;
  readonly telemetries: TelemetryIndex;
  readonly wasmPlugins: WasmPluginIndex;
  readonly proxyFilters: ProxyFilterIndex;
  /** Undefined: nothing is known about waypoints. */
  readonly #waypoints: WaypointIndex | undefined;
  /** Undefined: nothing is known about waypoints. */
  readonly #workloads: WaypointWorkloads | undefined;
  /** Undefined: gateways use no waypoint. */
  readonly #ingress: IngressWays | undefined;
  readonly #forwarded: IngressWays | undefined;
  /** Undefined: other networks reach no service by HBONE. */
  readonly #global: GlobalServices | undefined;
  readonly #identities: EndpointIdentities;
  /** Virtual services by object. */
  readonly resolver: VirtualServiceResolver;
  readonly #source: ServiceSource;
  readonly #tokenKeys: TokenKeySource | undefined;
  readonly #entrances: EntranceIndex;
  readonly #scopes: Scopes;
  readonly #indexes: readonly ObjectIndex[];
  readonly #options: MeshOptions;
  readonly #fork: MeshFork | undefined;
  readonly #forks = new Set<Mesh>();

  /** @param fork Another mesh that this mesh differs from only in some objects. Default: none. */
  constructor(options: MeshOptions, fork?: MeshFork) {
    const { config, domainSuffix } = options;
    this.domainSuffix = domainSuffix;
    this.config = config;
    this.networks = options.networks;
    this.gatewaySelectors = options.gatewaySelectors;
    const targets: FindTargets = (workload) => this.gatewayTargets.of(workload);
    const reach = (kind: SelectingKind) => ({
      selectsGateways: selectsGateways(kind, options.gatewaySelectors),
      targets,
    });
    const base = fork?.base;
    this.#options = options;
    this.#fork = fork;
    /** The index of a kind that forks may have of their own. */
    const own = <T>(kind: ForkedKind, ofBase: (mesh: Mesh) => T, made: () => T): T =>
      fork === undefined || fork.kinds.has(kind) ? made() : ofBase(fork.base);
    this.#source = options.source;
    this.#tokenKeys = options.tokenKeys;
    this.services = base?.services ?? new ServiceIndex(config.defaultServiceExportTo);
    this.resolver = own("VirtualService", (mesh) => mesh.resolver, () =>
      new VirtualServiceResolver(
        { domainSuffix, defaultExportTo: config.defaultVirtualServiceExportTo },
        base?.resolver,
      ));
    this.virtualServices = own("VirtualService", (mesh) => mesh.virtualServices, () => new VirtualServiceIndex());
    this.destinationRules = own("DestinationRule", (mesh) => mesh.destinationRules, () =>
      new DestinationRuleIndex({
        domainSuffix,
        rootNamespace: config.rootNamespace,
        defaultExportTo: config.defaultDestinationRuleExportTo,
        enhancedMerge: options.enhancedDestinationRuleMerge,
      }));
    const root = config.rootNamespace;
    this.sidecars = base?.sidecars ?? new SelectionIndex(root);
    this.gateways = base?.gateways ?? new GatewayIndex(options.scopeGatewayToNamespace);
    this.gatewayTargets = base?.gatewayTargets ?? new GatewayTargets();
    this.peerAuthentications = base?.peerAuthentications ?? new PeerAuthenticationIndex(root);
    this.authorizationPolicies = base?.authorizationPolicies ??
      new AuthorizationPolicyIndex(root, reach("AuthorizationPolicy"));
    this.requestAuthentications = base?.requestAuthentications ??
      new RequestAuthenticationIndex(root, reach("RequestAuthentication"));
    const telemetryReach = { ...reach("Telemetry"), holdsAtWaypoints: true };
    this.telemetries = own("Telemetry", (mesh) => mesh.telemetries, () => new TelemetryIndex(config, telemetryReach));
    this.wasmPlugins = own(
      "WasmPlugin",
      (mesh) => mesh.wasmPlugins,
      () => new WasmPluginIndex(root, reach("WasmPlugin")),
    );
    this.proxyFilters = own(
      "ProxyFilter",
      (mesh) => mesh.proxyFilters,
      () => new ProxyFilterIndex(root, reach("ProxyFilter")),
    );
    this.#waypoints = base ? base.#waypoints : options.waypoints ? new WaypointIndex(root) : undefined;
    this.#workloads = base
      ? base.#workloads
      : this.#waypoints && new WaypointWorkloads(this.#waypoints, options.source);
    const ways = (by: { readonly opensWithoutWaypoint: boolean } | undefined, isForAll: boolean) =>
      this.#waypoints && by && new IngressWays({ rootNamespace: root, ...by, isForAll }, this.#waypoints);
    this.#ingress = base ? base.#ingress : ways(options.ingressWaypoints, false);
    this.#forwarded = base ? base.#forwarded : ways(options.multiNetwork, true);
    this.#entrances = base ? base.#entrances : new EntranceIndex(options.multiNetwork !== undefined);
    const { serviceScopeConfigs = [] } = config;
    this.#global = base ? base.#global : options.multiNetwork && new GlobalServices(serviceScopeConfigs);
    this.#identities = base ? base.#identities : new EndpointIdentities(options.source);
    this.#scopes = new Scopes(this, options.sharedScopes);
    this.#indexes = this.#ownIndexes();
  }

  /** The indexes that this mesh keeps up to date: a fork leaves the others to its base. */
  #ownIndexes(): readonly ObjectIndex[] {
    const fork = this.#fork;
    const forked: readonly (ObjectIndex & { readonly kind: ForkedKind })[] = [
      ofWorkloads("ProxyFilter", WORKLOAD_KEY.patches, this.proxyFilters),
      ofWorkloads("Telemetry", WORKLOAD_KEY.telemetry, this.telemetries),
      ofWorkloads("WasmPlugin", WORKLOAD_KEY.extensions, this.wasmPlugins),
    ];
    return fork ? forked.filter(({ kind }) => fork.kinds.has(kind)) : [
      ofWorkloads("Sidecar", WORKLOAD_KEY.scope, this.sidecars),
      ofWorkloads("Gateway", WORKLOAD_KEY.gateways, this.gateways),
      ofTargets(this.gatewayTargets, [
        this.authorizationPolicies,
        this.requestAuthentications,
        this.telemetries,
        this.wasmPlugins,
      ]),
      this.peerAuthentications,
      ofWorkloads("AuthorizationPolicy", WORKLOAD_KEY.authorization, this.authorizationPolicies),
      ofWorkloads("RequestAuthentication", WORKLOAD_KEY.tokenPolicy, this.requestAuthentications),
      ...forked,
      ...this.#options.indexes ?? [],
    ];
  }

  /** Unresolved delegates of virtual services, in words, by key of the root. */
  get problems(): ReadonlyMap<string, readonly string[]> {
    return this.resolver.problems;
  }

  /**
   * Applies changes.
   *
   * @returns The affected keys.
   */
  apply(change: MeshChange): AffectedKeys {
    const removed = byKind(change.removed ?? []);
    const added = byKind(change.added ?? []);
    const affected = new AffectedKeys();
    const { things } = affected;
    for (const index of this.#indexes) index.take(removed[index.kind], added[index.kind], affected);
    for (const place of change.tokenKeys ?? []) things.add(MESH_KEY.tokenKeys, place);
    if (change.entrances !== undefined) {
      for (const network of this.#entrances.update(change.entrances)) things.add(MESH_KEY.entrances, network);
    }
    const services = this.#setServices(change.services ?? [], affected);
    this.#updateWaypoints(change, removed, added, affected);
    this.#updateGlobal(change, affected);
    for (const key of change.endpoints ?? []) {
      affected.addHosts(MESH_KEY.endpoints, [hostOf(key)]);
      if (this.#identities.changed(key)) affected.addHosts(MESH_KEY.identities, [hostOf(key)]);
    }
    const changed = this.#updateRules(removed, added, affected);
    this.#updateScopes({ services, ...changed }, removed, affected);
    for (const fork of this.#forks) fork.#follow(removed, added, { services, ...changed }, affected);
    return affected;
  }

  #updateRules(removed: Grouped, added: Grouped, affected: AffectedKeys): Omit<VisibilityChange, "services"> {
    const virtualServiceChange = this.resolver.update(added.VirtualService, removed.VirtualService);
    this.#updateVirtualServices(virtualServiceChange, affected);
    const destinationRules = this.destinationRules.update(removed.DestinationRule, added.DestinationRule);
    affected.addHosts(MESH_KEY.destinationRule, destinationRules);
    const ruleNamespaces = [...removed.DestinationRule, ...added.DestinationRule].map(({ meta }) => meta.namespace);
    return { virtualServiceChange, destinationRules, ruleNamespaces };
  }

  #updateScopes(change: VisibilityChange, removed: Pick<Grouped, "Sidecar">, affected: AffectedKeys): void {
    this.#scopes.dropSidecars(new Set(removed.Sidecar.map(({ key }) => key)));
    affected.addNamespaces(WORKLOAD_KEY.scope, this.#scopes.update(change));
    const services = new Set(change.services).union(this.#scopes.virtualServicesChanged(change.virtualServiceChange));
    affected.addHosts(MESH_KEY.service, services);
    for (const host of services) affected.hosts.add(host);
  }

  /**
   * A mesh that differs from this mesh only in some objects, and follows the changes of this mesh.
   *
   * @param keys The keys of the differing objects.
   * @param objects All objects of the kinds of the differing objects, as they are in the fork.
   */
  fork(keys: ReadonlySet<string>, objects: Iterable<AnyConfigObject>): Mesh {
    const kinds = new Set(FORKED_KINDS.filter((kind) => [...keys].some((key) => key.startsWith(`${kind}/`))));
    const fork = new Mesh(this.#options, { base: this, kinds, keys });
    fork.#seed(byKind(objects));
    this.#forks.add(fork);
    return fork;
  }

  /** Ends a fork. The fork follows no further changes. */
  dropFork(fork: Mesh): void {
    this.#forks.delete(fork);
  }

  /** Takes in all objects of the fork's own kinds. */
  #seed(added: Grouped): void {
    const none = byKind([]);
    const affected = new AffectedKeys();
    for (const index of this.#indexes) index.take(none[index.kind], added[index.kind], affected);
    const { virtualServices, destinationRules } = this;
    if (this.#fork?.kinds.has("VirtualService")) {
      virtualServices.update([], this.resolver.update(added.VirtualService).added);
    }
    if (this.#fork?.kinds.has("DestinationRule")) destinationRules.update([], added.DestinationRule);
    this.#scopes.update({
      services: this.services.hosts(),
      destinationRules: destinationRules.hosts(),
      ruleNamespaces: [],
      virtualServiceChange: { removed: [], added: [...virtualServices.all()] },
    });
  }

  /** Takes in a change of the base. The fork's own versions of objects stay. */
  #follow(removed: Grouped, added: Grouped, ofBase: VisibilityChange, affected: AffectedKeys): void {
    const { kinds, keys } = this.#fork!;
    const others = <O extends { readonly key: string }>(objects: O[]) => objects.filter(({ key }) => !keys.has(key));
    const ofKinds = (all: Grouped): Grouped => {
      const none = byKind([]);
      for (const kind of kinds) (none[kind] as AnyConfigObject[]).push(...others(all[kind] as AnyConfigObject[]));
      return none;
    };
    const [gone, come] = [ofKinds(removed), ofKinds(added)];
    for (const index of this.#indexes) index.take(gone[index.kind], come[index.kind], affected);
    if (removed.Gateway.length + added.Gateway.length > 0) {
      for (const index of [this.telemetries, this.wasmPlugins]) index.forget();
    }
    const own = this.#updateRules(gone, come, affected);
    this.#updateScopes(
      {
        services: ofBase.services,
        virtualServiceChange: kinds.has("VirtualService") ? own.virtualServiceChange : ofBase.virtualServiceChange,
        ...kinds.has("DestinationRule")
          ? { destinationRules: own.destinationRules, ruleNamespaces: own.ruleNamespaces }
          : { destinationRules: ofBase.destinationRules, ruleNamespaces: ofBase.ruleNamespaces },
      },
      removed,
      affected,
    );
  }

  /**
   * The scope of a workload. Workloads with the same view have the same object.
   *
   * @param labels Of the workload, for the selecting Sidecar. Absent: a gateway, because Sidecars are not for gateways.
   */
  scope(namespace: string, labels?: Readonly<Record<string, string>>): Scope {
    return this.#scopes.of(namespace, labels && sidecarOf(this.sidecars, { namespace, labels }));
  }

  /** Whether some workload may still have the scope. */
  hasScope(scope: Scope): boolean {
    return this.#scopes.has(scope) || this.#forks.values().some((fork) => fork.#scopes.has(scope));
  }

  /** The differences between two scopes. Undefined: there may be further differences. */
  differences(a: Scope, b: Scope): readonly Distinction[] | undefined {
    return a.isOf(this) && b.isOf(this) ? this.#scopes.differences(a, b) : undefined;
  }

  /**
   * Forgets the scopes of all other namespaces. Call it regularly: proxies name their namespaces, and a client may name
   * any namespace.
   */
  keepScopes(namespaces: ReadonlySet<string>): void {
    this.#scopes.keep(namespaces);
    for (const fork of this.#forks) fork.#scopes.keep(namespaces);
  }

  /** All endpoints of a service. */
  endpoints(service: Service): readonly Endpoint[] {
    return this.#source.endpoints(`${service.namespace}/${service.hostname}`);
  }

  /** The keys of a token issuer's place as JSON text; undefined: there are none yet. */
  tokenKeysAt(place: string): string | undefined {
    return this.#tokenKeys?.keysAt(place);
  }

  /**
   * The ways into a network. The same array until an entrance changes. Empty: addresses of the network are dialled
   * directly.
   */
  entrances(network: string): readonly NetworkEntrance[] {
    return this.#entrances.of(network);
  }

  /** A waypoint, `namespace/name`. The same object until the waypoint changes. */
  waypoint(name: string): ServedWaypoint {
    return this.#waypoints?.of(name) ?? NO_WAYPOINT;
  }

  /** The workloads of a waypoint, `namespace/name`. The same array until a fact about the workloads changes. */
  waypointWorkloads(name: string): readonly ServedWorkload[] {
    return this.#workloads?.of(name) ?? NO_WORKLOADS;
  }

  /** The waypoint `namespace/name` of a service. Undefined: none. */
  waypointOf(service: Service): string | undefined {
    return this.#waypoints?.waypointOf(`${service.namespace}/${service.hostname}`);
  }

  /**
   * How gateways reach a service. The same object until the way changes. Undefined: the service does not ask gateways to
   * use its waypoint.
   */
  ingressWay(service: Service): IngressWay | undefined {
    return this.#ingress?.of(`${service.namespace}/${service.hostname}`);
  }

  /** How gateways between networks reach a service. The same object until the way changes. Undefined: it asks for no waypoint. */
  forwardedWay(service: Service): IngressWay | undefined {
    return this.#forwarded?.of(`${service.namespace}/${service.hostname}`);
  }

  /** Whether a policy closes services or workloads while their waypoint is not used. */
  mayClose(policy: WaypointPolicy): boolean {
    const [waypoints, workloads] = [this.#waypoints, this.#workloads];
    if (waypoints === undefined) return false;
    return mayClose(policy, this.config.rootNamespace, {
      *users() {
        yield* waypoints.users();
        if (workloads !== undefined) yield* workloads.users();
      },
      terms: (waypoint) => waypoints.terms(waypoint),
    });
  }

  /** Host of the service in front of a waypoint's pods; undefined: the waypoint has no address. */
  waypointHost(waypoint: string): string | undefined {
    return this.#waypoints?.hostOf(waypoint, this.domainSuffix);
  }

  /** Whether other networks reach a service. */
  isGlobal(key: ServiceKey): boolean {
    return this.#global?.has(key) === true;
  }

  /** The services that other networks reach. The same array until one of them changes. */
  get globalServices(): readonly Service[] {
    return this.#global?.all ?? NO_SERVICES;
  }

  /** The identities of a service's endpoints. The same object until an identity changes. */
  identities(service: Service): ServiceIdentities {
    return this.#identities.of(`${service.namespace}/${service.hostname}`);
  }

  /** @returns The hosts of changed services. */
  #setServices(keys: Iterable<ServiceKey>, affected: AffectedKeys): Set<string> {
    const hosts = new Set<string>();
    for (const key of keys) {
      const service = this.#source.service(key);
      const before = (this.#ingress ?? this.#forwarded) && this.services.at(key);
      if (!this.services.set(key, service)) continue;
      const places = [before, service].flatMap((one) => one === undefined ? [] : serviceAddresses(one));
      for (const [ways] of this.#ways()) ways.addressesMoved(places);
      hosts.add(hostOf(key));
      if (service === undefined) this.#identities.forget(key);
      this.#waypoints?.set(key, service);
      this.#global?.set(key, service);
    }
    affected.addHosts(MESH_KEY.endpoints, hosts);
    affected.addHosts(MESH_KEY.identities, hosts);
    return hosts;
  }

  #updateWaypoints(
    { namespaces, waypointAddresses, workloads }: MeshChange,
    removed: Grouped,
    added: Grouped,
    affected: AffectedKeys,
  ): void {
    if (this.#waypoints === undefined) return;
    if (namespaces !== undefined) this.#workloads?.relabelled(this.#waypoints.setNamespaces(namespaces));
    if (waypointAddresses !== undefined) this.#waypoints.setAddresses(waypointAddresses);
    this.#waypoints.updateGateways(removed.ApiGateway, added.ApiGateway);
    this.#waypoints.updateClasses(removed.GatewayClass, added.GatewayClass);
    this.#workloads?.updateEntries(removed.ServiceEntry, added.ServiceEntry);
    this.#workloads?.update(workloads ?? []);
    const changed = this.#waypoints.takeChanged();
    for (const name of this.#workloads?.settle(changed.map((one) => one.name)) ?? []) {
      affected.things.add(MESH_KEY.waypointWorkloads, name);
    }
    for (const { name, hasOtherTargets, moved } of changed) {
      affected.addHosts(MESH_KEY.waypointOf, moved.map(hostOf));
      affected.things.add(MESH_KEY.waypoint, name);
      const namespaces = hasOtherTargets ? [name.slice(0, name.indexOf("/"))] : [];
      for (const on of ON_TARGETS) affected.addNamespaces(on, namespaces);
    }
    for (const [ways, key] of this.#ways()) {
      if (waypointAddresses !== undefined) ways.setAddresses(waypointAddresses);
      for (const kind of WAYPOINT_POLICIES) ways.updatePolicies(removed[kind], added[kind]);
      affected.addHosts(key, ways.settle(changed.map(({ name }) => name)).map(hostOf));
    }
  }

  /** The ways of gateways, each with its kind of facts. */
  *#ways(): Generator<readonly [ways: IngressWays, key: string]> {
    if (this.#ingress !== undefined) yield [this.#ingress, MESH_KEY.ingressWay];
    if (this.#forwarded !== undefined) yield [this.#forwarded, MESH_KEY.forwardedWay];
  }

  #updateGlobal({ namespaces }: MeshChange, affected: AffectedKeys): void {
    if (this.#global === undefined) return;
    if (namespaces !== undefined) this.#global.setNamespaces(namespaces);
    const changed = this.#global.takeChanged();
    if (changed.length === 0) return;
    affected.addHosts(MESH_KEY.isGlobal, changed.map(hostOf));
    for (const key of changed) affected.things.add(MESH_KEY.isGlobal, key);
    affected.things.add(MESH_KEY.globalServices, "");
  }

  #updateVirtualServices(delta: VirtualServiceDelta, affected: AffectedKeys): void {
    if (delta.added.length + delta.removed.length === 0) return;
    this.virtualServices.update(delta.removed, delta.added);
    const hosts = new Set<string>();
    for (const vs of [...delta.removed, ...delta.added]) {
      for (const gateway of vs.gateways) {
        if (gateway !== MESH_GATEWAY) affected.things.add(MESH_KEY.gatewayRoutes, gateway);
        else for (const host of vs.hosts) hosts.add(host);
      }
    }
    affected.addHosts(MESH_KEY.virtualService, hosts);
    for (const host of hosts) affected.hosts.add(host);
  }
}

const NO_WORKLOADS: readonly ServedWorkload[] = Object.freeze([]);
const NO_SERVICES: readonly Service[] = Object.freeze([]);

/** Host part of a service key. */
function hostOf(key: ServiceKey): string {
  return key.slice(key.indexOf("/") + 1);
}

type Grouped = { [K in Kind]: ConfigObject<K>[] };

function byKind(objects: Iterable<AnyConfigObject>): Grouped {
  const groups = Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as Grouped;
  for (const object of objects) (groups[object.kind] as AnyConfigObject[]).push(object);
  return groups;
}
