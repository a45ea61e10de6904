/**
 * The mesh as translation reads it: indexes over configuration and services, kept up to date change by change.
 *
 *     config changes ──┐
 *                      ├─ apply() ─> indexes ─> scopes          (what each namespace sees)
 *     service changes ─┘        └──> AffectedKeys               (what must be computed again)
 *
 * There is one writer, and it runs in one turn: `apply` changes the indexes, then everything that is affected is
 * translated again before anyone else reads. So readers see one consistent state without copies, and `===` of an
 * answer still shows whether it changed.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import type { AnyConfigObject, ConfigObject, Kind } from "../config/types.ts";
import type { Endpoint, NetworkEntrance, Service, ServiceKey } from "../registry/types.ts";
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

/** The inputs of a mesh, fixed for its life; another mesh configuration makes another mesh. */
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
  /** Whether namespaces that see the same share a scope. */
  readonly sharedScopes: boolean;
}

/** Changes since the last `apply`. */
export interface MeshChange {
  readonly removed?: Iterable<AnyConfigObject>;
  /** New objects, and new versions of objects whose old version is in `removed`. */
  readonly added?: Iterable<AnyConfigObject>;
  readonly services?: Iterable<ServiceKey>;
  readonly endpoints?: Iterable<ServiceKey>;
  /** Places at which keys of token issuers changed. */
  readonly tokenKeys?: Iterable<string>;
  /** All entrances to networks, by network, where some changed. */
  readonly entrances?: ReadonlyMap<string, readonly NetworkEntrance[]>;
}

/** The keys that a change affects: queries about them may have other answers now. */
export interface AffectedKeys {
  /** Hosts whose service may have changed. */
  readonly services: Set<string>;
  /** Hosts whose endpoints changed. */
  readonly endpoints: Set<string>;
  /** Hosts whose virtual service for sidecars may have changed; a wildcard stands for all that it covers. */
  readonly virtualServices: Set<string>;
  /** Hosts whose destination rule may have changed; a wildcard stands for all that it covers. */
  readonly destinationRules: Set<string>;
  /** Namespaces in which workloads may now have another scope; `*`: all. */
  readonly scopes: Set<string>;
  /** Gateways (`namespace/name`) whose virtual services changed. */
  readonly gatewayRoutes: Set<string>;
  /** Whether a Gateway object changed. */
  readonly gateways: boolean;
  /** Hosts whose endpoints have other identities now. */
  readonly identities: Set<string>;
  /** Namespaces of workloads whose peer authentication may be another one; `*`: all. */
  readonly peerTls: Set<string>;
  /** Namespaces in which other workloads may refuse mutual TLS now; `*`: all. */
  readonly refusedPeerTls: Set<string>;
  /** Namespaces of workloads that other authorization policies may be for; `*`: all. */
  readonly authorization: Set<string>;
  /** Namespaces of workloads that may accept tokens of other issuers now; `*`: all. */
  readonly tokenPolicies: Set<string>;
  /** Namespaces of workloads whose configuration other patches may be for now; `*`: all. */
  readonly patches: Set<string>;
  /** Places at which keys of token issuers changed. */
  readonly tokenKeys: Set<string>;
  /** Namespaces of workloads whose telemetry may be another one; `*`: all. */
  readonly telemetry: Set<string>;
  /** Namespaces of workloads that other extensions may be for; `*`: all. */
  readonly extensions: Set<string>;
  /** Networks that are entered by other ways. */
  readonly entrances: Set<string>;
}

/** The indexes, and the scopes over them. */
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
  /** Virtual services by their objects. */
  readonly resolver: VirtualServiceResolver;
  readonly #source: ServiceSource;
  readonly #tokenKeys: TokenKeySource | undefined;
  readonly #entrances = new EntranceIndex();
  readonly #scopes: Scopes;

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
  }

  /** Delegates of virtual services that could not be resolved, in words, by key of the root. */
  get problems(): ReadonlyMap<string, readonly string[]> {
    return this.resolver.problems;
  }

  /** Applies changes and returns the keys that they affect. */
  apply(change: MeshChange): AffectedKeys {
    const removed = byKind(change.removed ?? []);
    const added = byKind(change.added ?? []);
    const peerTls = this.peerAuthentications.update(removed.PeerAuthentication, added.PeerAuthentication);
    const affected: AffectedKeys = {
      services: new Set(),
      endpoints: new Set(),
      virtualServices: new Set(),
      destinationRules: this.destinationRules.update(removed.DestinationRule, added.DestinationRule),
      scopes: this.sidecars.update(removed.Sidecar, added.Sidecar),
      gatewayRoutes: new Set(),
      gateways: removed.Gateway.length + added.Gateway.length > 0,
      identities: new Set(),
      peerTls: peerTls.namespaces,
      refusedPeerTls: peerTls.refusing,
      authorization: this.authorizationPolicies.update(removed.AuthorizationPolicy, added.AuthorizationPolicy),
      tokenPolicies: this.requestAuthentications.update(removed.RequestAuthentication, added.RequestAuthentication),
      patches: this.proxyFilters.update(removed.ProxyFilter, added.ProxyFilter),
      tokenKeys: new Set(change.tokenKeys ?? []),
      telemetry: this.telemetries.update(removed.Telemetry, added.Telemetry),
      extensions: this.wasmPlugins.update(removed.WasmPlugin, added.WasmPlugin),
      entrances: change.entrances === undefined ? new Set() : this.#entrances.update(change.entrances),
    };
    if (affected.gateways) this.gateways.update(removed.Gateway, added.Gateway);
    for (const key of change.services ?? []) this.#setService(key, affected);
    for (const key of change.endpoints ?? []) {
      affected.endpoints.add(hostOf(key));
      if (this.#identities.changed(key)) affected.identities.add(hostOf(key));
    }
    const delta = this.resolver.update(added.VirtualService, removed.VirtualService);
    this.#updateVirtualServices(delta, affected);
    this.#scopes.dropSidecars(new Set(removed.Sidecar.map(({ key }) => key)));
    const ruleNamespaces = [...removed.DestinationRule, ...added.DestinationRule].map(({ meta }) => meta.namespace);
    for (const namespace of this.#scopes.update({ ...affected, ruleNamespaces, virtualServiceChange: delta })) {
      affected.scopes.add(namespace);
    }
    for (const host of this.#scopes.virtualServicesChanged(delta)) affected.services.add(host);
    return affected;
  }

  /**
   * The scope of a workload; the same object for all that see the same.
   *
   * @param labels Of the workload, for the Sidecar that selects it; absent: a gateway, which no Sidecar is for.
   */
  scope(namespace: string, labels?: Readonly<Record<string, string>>): Scope {
    return this.#scopes.of(namespace, labels && sidecarOf(this.sidecars, { namespace, labels }));
  }

  /** Whether a scope may still be that of a workload. */
  hasScope(scope: Scope): boolean {
    return this.#scopes.has(scope);
  }

  /** The things that two scopes see differently; undefined: they may differ in more than is known. */
  differences(a: Scope, b: Scope): readonly Distinction[] | undefined {
    return this.#scopes.differences(a, b);
  }

  /**
   * Forgets the scopes that only other namespaces than these have; to be called regularly: proxies name their
   * namespaces, and a client may name any.
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

  /** The ways into a network; the same array while they are the same. None: its addresses are dialled. */
  entrances(network: string): readonly NetworkEntrance[] {
    return this.#entrances.of(network);
  }

  /** The identities of a service's endpoints; the same object while they are the same. */
  identities(service: Service): ServiceIdentities {
    return this.#identities.of(`${service.namespace}/${service.hostname}`);
  }

  #setService(key: ServiceKey, affected: AffectedKeys): void {
    if (!this.services.set(key, this.#source.service(key))) return;
    affected.services.add(hostOf(key));
    affected.endpoints.add(hostOf(key));
    affected.identities.add(hostOf(key));
    if (this.#source.service(key) === undefined) this.#identities.forget(key);
  }

  #updateVirtualServices(delta: VirtualServiceDelta, affected: AffectedKeys): void {
    if (delta.added.length + delta.removed.length === 0) return;
    this.virtualServices.update(delta.removed, delta.added);
    for (const vs of [...delta.removed, ...delta.added]) {
      for (const gateway of vs.gateways) {
        if (gateway !== MESH_GATEWAY) affected.gatewayRoutes.add(gateway);
        else for (const host of vs.hosts) affected.virtualServices.add(host);
      }
    }
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
