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
import type { Endpoint, NetworkEntrance, Service, ServiceKey } from "../registry/types.ts";
import { AffectedKeys, MESH_KEY, WORKLOAD_KEY } from "./affected.ts";
import { AuthorizationPolicyIndex } from "./authorization_policy.ts";
import { DestinationRuleIndex } from "./destination_rule_index.ts";
import { EntranceIndex } from "./entrance_index.ts";
import { GatewayIndex } from "./gateway_index.ts";
import { EndpointIdentities, type ServiceIdentities } from "./endpoint_identities.ts";
import type { MeshIndexes } from "./indexes.ts";
import { PeerAuthenticationIndex } from "./peer_authentication.ts";
import { ProxyFilterIndex } from "./proxy_filter.ts";
import { RequestAuthenticationIndex } from "./request_authentication.ts";
import type { Scope } from "./scope.ts";
import { Scopes } from "./scopes.ts";
import { SelectionIndex } from "./selection/index.ts";
import { ServiceIndex } from "./service_index.ts";
import { sidecarOf } from "./sidecar.ts";
import { TelemetryIndex } from "./telemetry/index.ts";
import type { Distinction } from "./view/distinctions.ts";
import { type VirtualServiceDelta, VirtualServiceResolver } from "./virtual_service.ts";
import { MESH_GATEWAY } from "./sidecar_rules.ts";
import { VirtualServiceIndex } from "./virtual_service_index.ts";
import { WasmPluginIndex } from "./wasm_plugins.ts";

/** The source of services and endpoints; answers are identity-stable while nothing changes. */
export interface ServiceSource {
  service(key: ServiceKey): Service | undefined;
  endpoints(key: ServiceKey): readonly Endpoint[];
}

/** The source of token issuers' keys. */
export interface TokenKeySource {
  /**
   * The keys of a place (`keyPlaceOf`) as JSON text of a key set; undefined: there are none yet, and never were.
   */
  keysAt(place: string): string | undefined;
}

/** The inputs of a mesh, fixed for the life of the mesh. Another mesh configuration makes another mesh. */
export interface MeshOptions {
  readonly config: MeshConfig;
  readonly networks: MeshNetworks;
  /** DNS suffix, `--domain`. */
  readonly domainSuffix: string;
  readonly source: ServiceSource;
  /** Default: no issuer's keys are known. */
  readonly tokenKeys?: TokenKeySource | undefined;
  readonly scopeGatewayToNamespace: boolean;
  readonly enhancedDestinationRuleMerge: boolean;
  /** Whether namespaces with the same view share a scope. */
  readonly sharedScopes: boolean;
  /** Further indexes. Default: none. */
  readonly indexes?: readonly ObjectIndex[];
}

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
}

/**
 * An index over the objects of a kind. A new kind of query needs a further index. An index keeps itself up to date, and
 * adds the affected keys of a change.
 */
export interface ObjectIndex<K extends Kind = Kind> {
  readonly kind: K;
  /** Replaces some objects by others. No object of the same key may stay. */
  take(removed: readonly ConfigObject<K>[], added: readonly ConfigObject<K>[], affected: AffectedKeys): void;
}

/** An index with namespaces of affected workloads as the result of an update. */
interface IndexByWorkload<K extends Kind> {
  update(removed: readonly ConfigObject<K>[], added: readonly ConfigObject<K>[]): Iterable<string>;
}

/**
 * A row of the mesh's indexes.
 *
 * @param on The facts about workloads in the index.
 */
function ofWorkloads<K extends Kind>(kind: K, on: string, index: IndexByWorkload<K>): ObjectIndex<K> {
  return {
    kind,
    take(removed, added, affected) {
      if (removed.length + added.length > 0) affected.addNamespaces(on, index.update(removed, added));
    },
  };
}

/** The indexes, with scopes over the indexes. */
export class Mesh implements MeshIndexes {
  readonly config: MeshConfig;
  /** DNS suffix of services. */
  readonly domainSuffix: string;
  readonly networks: MeshNetworks;
  readonly services: ServiceIndex;
  readonly virtualServices = new VirtualServiceIndex();
  readonly destinationRules: DestinationRuleIndex;
  readonly sidecars: SelectionIndex<"Sidecar">;
  readonly gateways: GatewayIndex;
  readonly peerAuthentications: PeerAuthenticationIndex;
  readonly authorizationPolicies: AuthorizationPolicyIndex;
  readonly requestAuthentications: RequestAuthenticationIndex;
  readonly telemetries: TelemetryIndex;
  readonly wasmPlugins: WasmPluginIndex;
  readonly proxyFilters: ProxyFilterIndex;
  readonly #identities: EndpointIdentities;
  /** Virtual services by object. */
  readonly resolver: VirtualServiceResolver;
  readonly #source: ServiceSource;
  readonly #tokenKeys: TokenKeySource | undefined;
  readonly #entrances = new EntranceIndex();
  readonly #scopes: Scopes;
  readonly #indexes: readonly ObjectIndex[];

  constructor(options: MeshOptions) {
    const { config, domainSuffix } = options;
    this.domainSuffix = domainSuffix;
    this.config = config;
    this.networks = options.networks;
    this.#source = options.source;
    this.#tokenKeys = options.tokenKeys;
    this.services = new ServiceIndex(config.defaultServiceExportTo);
    this.resolver = new VirtualServiceResolver({
      domainSuffix,
      defaultExportTo: config.defaultVirtualServiceExportTo,
    });
    this.destinationRules = new DestinationRuleIndex({
      domainSuffix,
      rootNamespace: config.rootNamespace,
      defaultExportTo: config.defaultDestinationRuleExportTo,
      enhancedMerge: options.enhancedDestinationRuleMerge,
    });
    this.sidecars = new SelectionIndex(config.rootNamespace);
    this.gateways = new GatewayIndex(options.scopeGatewayToNamespace);
    this.peerAuthentications = new PeerAuthenticationIndex(config.rootNamespace);
    this.authorizationPolicies = new AuthorizationPolicyIndex(config.rootNamespace);
    this.requestAuthentications = new RequestAuthenticationIndex(config.rootNamespace);
    this.telemetries = new TelemetryIndex(config);
    this.wasmPlugins = new WasmPluginIndex(config.rootNamespace);
    this.proxyFilters = new ProxyFilterIndex(config.rootNamespace);
    this.#identities = new EndpointIdentities(options.source);
    this.#scopes = new Scopes(this, options.sharedScopes);
    this.#indexes = [
      ofWorkloads("Sidecar", WORKLOAD_KEY.scope, this.sidecars),
      ofWorkloads("Gateway", WORKLOAD_KEY.gateways, this.gateways),
      this.peerAuthentications,
      ofWorkloads("AuthorizationPolicy", WORKLOAD_KEY.authorization, this.authorizationPolicies),
      ofWorkloads("RequestAuthentication", WORKLOAD_KEY.tokenPolicy, this.requestAuthentications),
      ofWorkloads("ProxyFilter", WORKLOAD_KEY.patches, this.proxyFilters),
      ofWorkloads("Telemetry", WORKLOAD_KEY.telemetry, this.telemetries),
      ofWorkloads("WasmPlugin", WORKLOAD_KEY.extensions, this.wasmPlugins),
      ...options.indexes ?? [],
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
    for (const key of change.endpoints ?? []) {
      affected.addHosts(MESH_KEY.endpoints, [hostOf(key)]);
      if (this.#identities.changed(key)) affected.addHosts(MESH_KEY.identities, [hostOf(key)]);
    }
    const virtualServiceChange = this.resolver.update(added.VirtualService, removed.VirtualService);
    this.#updateVirtualServices(virtualServiceChange, affected);
    const destinationRules = this.destinationRules.update(removed.DestinationRule, added.DestinationRule);
    affected.addHosts(MESH_KEY.destinationRule, destinationRules);
    const ruleNamespaces = [...removed.DestinationRule, ...added.DestinationRule].map(({ meta }) => meta.namespace);
    this.#scopes.dropSidecars(new Set(removed.Sidecar.map(({ key }) => key)));
    const moved = this.#scopes.update({ services, destinationRules, ruleNamespaces, virtualServiceChange });
    affected.addNamespaces(WORKLOAD_KEY.scope, moved);
    for (const host of this.#scopes.virtualServicesChanged(virtualServiceChange)) services.add(host);
    affected.addHosts(MESH_KEY.service, services);
    for (const host of services) affected.hosts.add(host);
    return affected;
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
    return this.#scopes.has(scope);
  }

  /** The differences between two scopes. Undefined: there may be further differences. */
  differences(a: Scope, b: Scope): readonly Distinction[] | undefined {
    return this.#scopes.differences(a, b);
  }

  /**
   * Forgets the scopes of all other namespaces. Call it regularly: proxies name their namespaces, and a client may name
   * any namespace.
   */
  keepScopes(namespaces: ReadonlySet<string>): void {
    this.#scopes.keep(namespaces);
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

  /** The identities of a service's endpoints. The same object until an identity changes. */
  identities(service: Service): ServiceIdentities {
    return this.#identities.of(`${service.namespace}/${service.hostname}`);
  }

  /** @returns The hosts of changed services. */
  #setServices(keys: Iterable<ServiceKey>, affected: AffectedKeys): Set<string> {
    const hosts = new Set<string>();
    for (const key of keys) {
      const service = this.#source.service(key);
      if (!this.services.set(key, service)) continue;
      hosts.add(hostOf(key));
      if (service === undefined) this.#identities.forget(key);
    }
    affected.addHosts(MESH_KEY.endpoints, hosts);
    affected.addHosts(MESH_KEY.identities, hosts);
    return hosts;
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
