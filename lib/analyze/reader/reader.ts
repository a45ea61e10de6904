/**
 * The reader: the only way from analyzers to the mesh.
 *
 * An analyzer is a pure function of its object and of the reader's answers. The reader records the dependencies of each
 * answer, so a change repeats only the affected analyses. An analyzer keeps no other reference to the mesh.
 *
 * @module
 */
import type { Fact, FactKind } from "../../config/facts/types.ts";
import type { KeptData, ServiceFact, Whole, WorkloadFact } from "../../config/facts/view.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import { gatewaySelectors } from "../../config/kinds/gateway/workloads.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { type ConfigObject, type Kind, objectKey } from "../../config/types.ts";
import { isWildcard, wildcardsOver } from "../../mesh/host_match.ts";
import { namedService } from "../../mesh/named_service.ts";
import { fullGateway, fullHost } from "../../mesh/names.ts";
import type { EffectiveDestinationRule, EffectiveVirtualService } from "../../mesh/types.ts";
import type { Endpoint, Service } from "../../registry/types.ts";
import { type GroupKind, type GroupSort, groupsSharing, groupWithoutLabels, isBefore } from "./groups.ts";
import { GatewayApiReader } from "./gateway_api.ts";
import { ANALYSIS_KEY } from "./keys.ts";
import { type KnownHost, ofFact, ofService, serviceNamespace } from "./known_host.ts";
import { RemoteReader } from "./remote.ts";
import type { AnalysisSettings, AnalyzedWorld } from "./source.ts";

/**
 * How many entries at the end of `#reads` are searched for an equal dependency. Each dependency has two entries, kind
 * and name.
 */
const LOOKED_BACK = 64;

/**
 * The queries of analyzers. An analysis runs again and is never replayed for another source. So the reader keeps the
 * dependencies of answers without the answers. (A `Recorder` keeps answers, too.)
 */
export class AnalysisReader {
  readonly #world: AnalyzedWorld;
  readonly #reads: string[] = [];
  // The last answer. Several rules of an object often send to the same host.
  #lastService:
    | { readonly host: string; readonly namespace: string; readonly service: Service | undefined }
    | undefined;
  #lastEndpoints: { readonly service: Service; readonly endpoints: readonly Endpoint[] } | undefined;

  constructor(world: AnalyzedWorld) {
    this.#world = world;
  }

  /** The dependencies of the answers so far: kinds and names alternate. */
  get reads(): readonly string[] {
    return this.#reads;
  }

  get settings(): AnalysisSettings {
    return this.#world.settings;
  }

  /** The mesh configuration. Another configuration makes another analysis. */
  get meshConfig(): MeshConfig {
    return this.#world.mesh.config;
  }

  #on(kind: string, name: string): void {
    const reads = this.#reads;
    // Most analyzers ask few questions and repeat them. With many questions a dependency may be noted twice.
    for (let at = Math.max(0, reads.length - LOOKED_BACK); at < reads.length; at += 2) {
      if (reads[at] === kind && reads[at + 1] === name) return;
    }
    reads.push(kind, name);
  }

  /** A host as a full name, seen from a namespace. */
  fullHost(host: string, namespace: string): string {
    return fullHost(host, namespace, this.settings.domainSuffix);
  }

  /** A reference to a gateway as `namespace/name`; `mesh` stays. */
  fullGateway(gateway: string, namespace: string): string {
    return fullGateway(gateway, namespace);
  }

  /** An object in force. */
  object<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined {
    this.#on(ANALYSIS_KEY.object, objectKey(kind, namespace, name));
    return this.#world.store.get(kind, namespace, name);
  }

  /** The objects of a kind in a namespace, by name. Meant for kinds with few objects in a namespace. */
  objectsIn<K extends Kind>(kind: K, namespace: string): readonly ConfigObject<K>[] {
    this.#on(ANALYSIS_KEY.list, `${kind}/${namespace}`);
    return this.#world.store.list(kind, namespace);
  }

  /** All objects of a kind, by key. Meant for kinds with few objects: a change of any object repeats the analysis. */
  objects<K extends Kind>(kind: K): readonly ConfigObject<K>[] {
    this.#on(ANALYSIS_KEY.kind, kind);
    return this.#world.store.list(kind);
  }

  /**
   * The oldest object in a group that passes a test. Candidates are objects whose selectors share a label with a given
   * selector, and objects without labels. If any given selector is empty, every object of the group is a candidate. In
   * each part of the group the search ends at the first object that passes.
   */
  oldestSharing<S extends GroupSort>(
    sort: S,
    name: string,
    selectors: readonly StringMap[],
    test: (object: ConfigObject<GroupKind<S>>) => boolean,
  ): ConfigObject<GroupKind<S>> | undefined {
    let found: ConfigObject<GroupKind<S>> | undefined;
    for (const key of groupsSharing(sort, name, selectors)) {
      const first = this.#members<S>(key).find(test);
      if (first !== undefined && (found === undefined || isBefore(first, found))) found = first;
    }
    return found;
  }

  /** The objects of a group without a selector, the oldest first. */
  withoutSelector<S extends GroupSort>(sort: S, name: string): readonly ConfigObject<GroupKind<S>>[] {
    return this.#members<S>(groupWithoutLabels(sort, name));
  }

  #members<S extends GroupSort>(key: string): readonly ConfigObject<GroupKind<S>>[] {
    this.#on(ANALYSIS_KEY.group, key);
    return this.#world.groups.members(key) as readonly ConfigObject<GroupKind<S>>[];
  }

  /** Whether a workload serves only Gateways of its own namespace. */
  get gatewaysServeOwnNamespace(): boolean {
    return this.#world.mesh.gateways.ownNamespaceOnly;
  }

  fact<K extends FactKind>(kind: K, namespace: string, name: string): Fact<K> | undefined {
    this.#on(ANALYSIS_KEY.object, `${kind}/${namespace}/${name}`);
    return this.#world.facts.get(kind, namespace, name);
  }

  /** The facts of a kind in a namespace. */
  factsIn<K extends FactKind>(kind: K, namespace: string): readonly Fact<K>[] {
    this.#on(ANALYSIS_KEY.list, `${kind}/${namespace}`);
    return this.#world.facts.list(kind, namespace);
  }

  /** All facts of a kind. */
  facts<K extends FactKind>(kind: K): readonly Fact<K>[] {
    this.#on(ANALYSIS_KEY.kind, kind);
    return this.#world.facts.list(kind);
  }

  /** Whether nothing is known of a list. Then a missing object proves nothing. */
  isListUnknown(list: Whole): boolean {
    this.#on("fact-lists", list);
    return this.#world.factView.empty(list);
  }

  /** The service of the orchestrator with a host. */
  serviceFact(host: string): ServiceFact | undefined {
    this.#on("fact-host", host);
    return this.#world.factView.service(host);
  }

  /** The services of the orchestrator in a namespace. */
  serviceFacts(namespace: string): readonly ServiceFact[] {
    this.#on("fact-services", namespace);
    return this.#world.factView.services(namespace);
  }

  /** The Namespace object, with its labels. */
  namespaceFact(name: string): Fact<"Namespace"> | undefined {
    this.#on("fact-namespace", name);
    return this.#world.factView.namespace(name);
  }

  /** Namespaces with a Namespace object or any other fact. */
  namespaceNames(): readonly string[] {
    this.#on("fact-lists", "namespaces");
    return this.#world.factView.namespaces();
  }

  /** The workloads of a namespace whose pods have all these labels. No labels: all workloads. */
  workloads(namespace: string, labels: StringMap = {}): readonly WorkloadFact[] {
    this.#on("fact-workloads", namespace);
    return this.#world.factView.workloadsWith(namespace, labels);
  }

  /** The workloads of a namespace that serve a Gateway, by the Gateway's selector. */
  gatewayWorkloads(gateway: ConfigObject<"Gateway">, namespace: string): readonly WorkloadFact[] {
    const found = gatewaySelectors(gateway).map((selector) => this.workloads(namespace, selector));
    return found.length === 1 ? found[0]! : [...new Set(found.flat())];
  }

  /**
   * Whether an instant has come, in milliseconds since 1970. When a future instant comes, the findings are looked at
   * again.
   */
  hasCome(instant: number): boolean {
    this.#on(ANALYSIS_KEY.instant, String(instant));
    return this.#world.instants.hasCome(instant);
  }

  /** A secret, without its contents. */
  secret(namespace: string, name: string): KeptData | undefined {
    this.#on("fact-secret", `${namespace}/${name}`);
    return this.#world.factView.secret(namespace, name);
  }

  /** Remote clusters, and the connected gateways. */
  get remote(): RemoteReader {
    return new RemoteReader(this.#world, (kind, name) => this.#on(kind, name));
  }

  /** Objects of the Gateway API, as they are served; undefined: the Gateway API is switched off. */
  get gatewayApi(): GatewayApiReader | undefined {
    const { gatewayApi } = this.#world;
    return gatewayApi && new GatewayApiReader(gatewayApi, this, (kind, name) => this.#on(kind, name));
  }

  /** A config map, without its contents. */
  configMap(namespace: string, name: string): KeptData | undefined {
    this.#on("fact-configmap", `${namespace}/${name}`);
    return this.#world.factView.configMap(namespace, name);
  }

  /**
   * Whether an object is refused and has no version in force. A reference to such an object is not a mistake of its
   * own.
   */
  isRefused(kind: Kind | FactKind, namespace: string, name: string): boolean {
    const key = `${kind}/${namespace}/${name}`;
    this.#on(ANALYSIS_KEY.object, key);
    return this.#world.refused.has(key);
  }

  /** Whether any object of a kind in a namespace is refused and has no version in force. */
  hasRefused(kind: Kind | FactKind, namespace: string): boolean {
    this.#on(ANALYSIS_KEY.list, `${kind}/${namespace}`);
    const prefix = `${kind}/${namespace}/`;
    for (const key of this.#world.refused) if (key.startsWith(prefix)) return true;
    return false;
  }

  /** The service that a namespace sees for exactly this host. */
  service(host: string, namespace: string): Service | undefined {
    const last = this.#lastService;
    if (last?.host === host && last.namespace === namespace) return last.service;
    this.#on(ANALYSIS_KEY.host, host);
    const service = this.#world.mesh.services.visible(host, namespace);
    this.#lastService = { host, namespace, service };
    return service;
  }

  /** All services of exactly this host, visible or not. */
  servicesOf(host: string): readonly Service[] {
    this.#on(ANALYSIS_KEY.host, host);
    return this.#world.mesh.services.of(host);
  }

  /** All endpoints of a service. */
  endpoints(service: Service): readonly Endpoint[] {
    const last = this.#lastEndpoints;
    if (last?.service === service) return last.endpoints;
    this.#on(ANALYSIS_KEY.host, service.hostname);
    this.#on(ANALYSIS_KEY.endpoints, service.hostname);
    const endpoints = this.#world.mesh.endpoints(service);
    this.#lastEndpoints = { service, endpoints };
    return endpoints;
  }

  /**
   * The known facts of a host that a namespace may send to. The facts come from the host's service, from the service
   * behind an alias or a covering wildcard, or from a service of the orchestrator. Undefined: the host is not known.
   */
  knownHost(host: string, namespace: string): KnownHost | undefined {
    const exact = this.service(host, namespace);
    // If manifests are part of the mesh, the services say who sees them.
    const fact = exact === undefined && this.servicesOf(host).length === 0 ? this.serviceFact(host) : undefined;
    if (fact) return ofFact(fact);
    // Translation follows names by the same function.
    const service = namedService(host, (name) => this.service(name, namespace)).service ?? exact;
    if (service) return ofService(service);
    const assumed = this.settings.assumeServices ? serviceNamespace(host, this.settings.domainSuffix) : undefined;
    return assumed === undefined ? undefined : { host, namespace: assumed };
  }

  /** Whether some service has the host or a subordinate name, visible or not. */
  existsAnywhere(host: string): boolean {
    if (this.servicesOf(host).length > 0) return true;
    return !isWildcard(host) && wildcardsOver(host).some((pattern) => this.servicesOf(pattern).length > 0);
  }

  /** The destination rules in force for a host for clients of a namespace (the most specific host match). */
  destinationRules(host: string, client: string, serviceNamespace: string): readonly EffectiveDestinationRule[] {
    this.#on(ANALYSIS_KEY.host, host);
    return this.#world.mesh.destinationRules.inForce(host, client, serviceNamespace);
  }

  /** All destination rules for a host or for a wildcard over the host, visible or not. */
  allDestinationRules(host: string): readonly EffectiveDestinationRule[] {
    this.#on(ANALYSIS_KEY.host, host);
    return this.#world.mesh.destinationRules.anywhere(host);
  }

  /** The virtual services for exactly this host on sidecars, the oldest first. */
  virtualServicesFor(host: string): readonly EffectiveVirtualService[] {
    this.#on(ANALYSIS_KEY.host, host);
    return this.#world.mesh.virtualServices.forHost(host);
  }

  /** The virtual services bound to a gateway (`namespace/name`), the oldest first. */
  virtualServicesOf(gateway: string): readonly EffectiveVirtualService[] {
    this.#on(ANALYSIS_KEY.gatewayRoutes, gateway);
    return this.#world.mesh.virtualServices.forGateway(gateway);
  }
}
