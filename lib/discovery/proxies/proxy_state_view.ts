/**
 * The wire's view of a proxy: its resources, credentials, the roots and names of its agent, and stand-ins for rejected
 * resources.
 *
 * @module
 */
import { sameItems } from "../../incremental/same_items.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";
import { NAME_TABLE_TYPE_URL } from "../../translate/name_table/encode.ts";
import type {
  ClientHealth,
  ConnectControl,
  EarlierVersion,
  ProxyView,
  RejectionAnswer,
  ResourcesOnDemand,
} from "../../xds/protocol/source.ts";
import { CLUSTER, EXTENSION_CONFIG, PROXY_CONFIG, SECRET, VIRTUAL_HOST, WILDCARD } from "../../xds/protocol/types.ts";
import type { ProxyCredentials } from "../credentials/proxy_credentials.ts";
import { ProxyExtensions } from "../credentials/proxy_extensions.ts";
import type { MeshRoots } from "../identity/mesh_roots.ts";
import type { StreamHealth } from "../registration/health_reports.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { StandIns } from "../stand_ins/stand_ins.ts";
import type { CallRecord } from "../calls/call_memory.ts";
import { OnDemandResources } from "./on_demand_resources.ts";
import type { UnknownHosts } from "./unknown_hosts.ts";
import type { StreamRegistration } from "../registration/registrar.ts";

const NONE: readonly never[] = [];

/** Views of proxies with unbuilt resources, and the types with pending names. */
export type UndecidedViews = Map<ProxyStateView, Set<string>>;

export type AgentRoots = Pick<MeshRoots, "sets">;

/** Inputs of a view beside the resources of its proxy. */
export interface ViewParts {
  readonly credentials?: ProxyCredentials | undefined;
  readonly extensions?: ProxyExtensions | undefined;
  readonly roots?: AgentRoots | undefined;
  readonly health?: StreamHealth | undefined;
  readonly registration?: StreamRegistration | undefined;
  /** What the workload has called. Default: nothing is remembered. */
  readonly record?: CallRecord | undefined;
  /** The bound of answers about unknown hosts. Default: a bound of this proxy's own. */
  readonly unknown?: UnknownHosts | undefined;
  /** The proven namespace of the proxy. Default: nothing is proven. */
  readonly provenNamespace?: string | undefined;
}

/** A proxy in the view of the wire. */
export class ProxyStateView implements ProxyView {
  readonly id: string;
  readonly identity?: string;
  readonly #pipeline: Pipeline;
  readonly #undecided: UndecidedViews;
  readonly #standIns: StandIns;
  readonly #credentials: ProxyCredentials | undefined;
  readonly #extensions: ProxyExtensions | undefined;
  readonly #roots: AgentRoots | undefined;
  readonly #health: StreamHealth | undefined;
  readonly #registration: StreamRegistration | undefined;
  readonly #record: CallRecord | undefined;
  readonly reportHealth?: (health: ClientHealth) => void;
  readonly onDemand?: ResourcesOnDemand;
  readonly whyNotOnDemand?: string;
  /** Undefined: the proxy gets everything. */
  readonly #asked: OnDemandResources | undefined;
  /** The last answer about secrets. The answer stays the same object while its sets do. */
  #secrets: readonly ResourceSet[] = NONE;
  /** The last answer about names, likewise. */
  #names: readonly ResourceSet[] = NONE;

  constructor(
    readonly state: ProxyState,
    pipeline: Pipeline,
    readonly control: ConnectControl,
    undecided: UndecidedViews,
    identity: string | undefined,
    { credentials, extensions, roots, health, registration, record, unknown, provenNamespace }: ViewParts = {},
  ) {
    if (identity !== undefined) this.identity = identity;
    this.#credentials = credentials;
    this.#extensions = extensions;
    this.#roots = roots;
    this.#health = health;
    this.#registration = registration;
    this.#record = record;
    if (health !== undefined) this.reportHealth = (report) => health.report(report);
    this.#pipeline = pipeline;
    this.#standIns = new StandIns({
      state,
      translator: () => pipeline.translator,
      changedIn: (key) => pipeline.known.changedIn(key) ?? 0,
      answered: (type) => control.answered(type),
      failed: (error) => pipeline.reportBuildFailure(`of ${state.proxy.nodeId} without patches`, error),
    });
    const { whyNotOnDemand } = state.proxy;
    if (whyNotOnDemand !== undefined) this.whyNotOnDemand = whyNotOnDemand;
    if (state.proxy.properties.onDemand) {
      const gaveUp = () => {
        control.answered(VIRTUAL_HOST, NONE);
        control.answered(CLUSTER, NONE);
      };
      this.#asked = new OnDemandResources(state, { record, unknown, namespace: provenNamespace, gaveUp });
      this.onDemand = this.#onDemand(this.#asked);
    }
    this.#undecided = undecided;
    this.id = state.proxy.nodeId;
  }

  /** Sets of proxies change only in pushes. */
  get revision(): number {
    return this.#pipeline.pushes;
  }

  /** Whether a resource of the proxy, or the whole last push, could not be built. */
  get failing(): boolean {
    const { failing, translator } = this.#pipeline;
    return failing || this.state.failing || translator.lacksNames(this.state);
  }

  get byName(): boolean {
    return profileOf(this.state.proxy.properties.type).library;
  }

  get home(): { readonly namespace: string; readonly clusterId: string } {
    const { namespace, properties } = this.state.proxy;
    return { namespace, clusterId: properties.clusterId };
  }

  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined {
    if (typeUrl === PROXY_CONFIG) return this.#roots?.sets;
    if (typeUrl === NAME_TABLE_TYPE_URL) return this.#nameTable();
    if (typeUrl === EXTENSION_CONFIG && this.#extensions) return this.#extensions.sets;
    const sets = this.#standIns.sets(typeUrl, this.#neededSets(typeUrl));
    return typeUrl === SECRET && this.#credentials ? this.#withCredentials(sets ?? [], this.#credentials.set) : sets;
  }

  #neededSets(typeUrl: string): readonly ResourceSet[] | undefined {
    const all = this.state.resourceSets(typeUrl);
    if (typeUrl !== CLUSTER || all === undefined || this.#asked === undefined) return all;
    return this.#asked.clusters(all);
  }

  #neededHosts(routeConfiguration: string): readonly ResourceSet[] {
    if (this.#asked === undefined) return this.state.virtualHosts(routeConfiguration);
    const sets = this.#asked.virtualHosts(routeConfiguration);
    // Other virtual hosts may name other clusters.
    if (!this.#asked.clustersAreCurrent) this.control.answered(CLUSTER, NONE);
    return sets;
  }

  /** Everything that the proxy may ask for. */
  #onDemand(asked: OnDemandResources): ResourcesOnDemand {
    const { state } = this;
    return {
      resourceSets: (type) =>
        type === CLUSTER ? this.#standIns.sets(type, state.resourceSets(type)) : this.resourceSets(type),
      virtualHosts: (route) => this.#standIns.virtualHosts(route, state.virtualHosts(route)),
      get hosts() {
        return asked.hosts;
      },
      get handed() {
        return asked.handed;
      },
      get whole() {
        return asked.whole;
      },
    };
  }

  /** A proxy that asks for clusters gets the clusters that its resources name, beside the asked names. */
  choosesItself(typeUrl: string): boolean {
    return typeUrl === CLUSTER && this.#asked !== undefined;
  }

  had(typeUrl: string, names: () => Iterable<string>): void {
    if (this.#asked === undefined) return;
    if (typeUrl === CLUSTER) return this.#asked.had(names());
    if (typeUrl !== VIRTUAL_HOST) return;
    this.#asked.hadHosts(names());
    this.control.answered(VIRTUAL_HOST, NONE);
    this.control.answered(CLUSTER, NONE);
  }

  /** Extension configurations without their secrets. */
  shownSets(typeUrl: string): readonly ResourceSet[] | undefined {
    return typeUrl === EXTENSION_CONFIG ? this.state.resourceSets(typeUrl) : this.resourceSets(typeUrl);
  }

  /** The name table is built for the first proxy that asks, and shared by proxies with the same view. */
  #nameTable(): readonly ResourceSet[] {
    const now = this.#pipeline.translator.nameTable(this.state);
    return now === this.#names[0] ? this.#names : this.#names = [now];
  }

  #withCredentials(sets: readonly ResourceSet[], credentials: ResourceSet): readonly ResourceSet[] {
    const now = [...sets, credentials];
    if (!sameItems(now, this.#secrets)) this.#secrets = now;
    return this.#secrets;
  }

  virtualHosts(routeConfiguration: string): readonly ResourceSet[] {
    return this.#standIns.virtualHosts(routeConfiguration, this.#neededHosts(routeConfiguration));
  }

  /**
   * While a resource could not be built, a missing name may belong to that resource. The name is then pending: a later
   * push tries again, and reports the absence after everything was built. Otherwise the check costs nothing, for any
   * number of names.
   */
  want(typeUrl: string, names: NameSet, isKnown = false): readonly string[] {
    if (typeUrl === SECRET) this.#credentials?.want(names);
    if (!isKnown && (typeUrl === VIRTUAL_HOST || typeUrl === CLUSTER)) this.#ask(typeUrl, names);
    const undecided = typeUrl === EXTENSION_CONFIG ? this.#extensions?.want(names) ?? NONE : NONE;
    const sets = this.failing ? this.resourceSets(typeUrl) : undefined;
    if (sets === undefined) return undecided;
    const has = (name: string) => sets.some((set) => set.has(name) || set.withAlias(name).length > 0);
    const pending = [...names].filter((name) => name !== WILDCARD && !has(name));
    if (pending.length === 0) return undecided;
    const types = this.#undecided.get(this);
    if (types === undefined) this.#undecided.set(this, new Set([typeUrl]));
    else types.add(typeUrl);
    return pending;
  }

  /** Takes what the proxy asks for. The clusters of a virtual host come before the virtual host. */
  #ask(typeUrl: string, names: NameSet): void {
    if (this.#asked === undefined) return;
    if (typeUrl === CLUSTER) {
      this.#asked.wantClusters(names);
    } else {
      this.#asked.wantHosts(names);
      this.control.answered(VIRTUAL_HOST, NONE);
    }
    this.control.answered(CLUSTER, NONE);
  }

  unwant(typeUrl: string, names: NameSet): void {
    if (typeUrl === SECRET) this.#credentials?.unwant(names);
    if (typeUrl === EXTENSION_CONFIG) this.#extensions?.unwant(names);
  }

  whyNotSent(typeUrl: string, name: string): string | undefined {
    return typeUrl === SECRET ? this.#credentials?.whyNot(name) : undefined;
  }

  get withheld(): ReadonlyMap<string, string> {
    return this.#standIns.withheld;
  }

  rejected(
    typeUrl: string,
    resources: readonly EncodedResource[],
    message: string,
    earlier: (name: string) => EarlierVersion,
    whole: readonly EncodedResource[],
  ): RejectionAnswer {
    return this.#standIns.rejected(typeUrl, resources, message, earlier, whole);
  }

  accepted(typeUrl: string, has: (name: string) => EncodedResource | undefined): void {
    this.#standIns.accepted(typeUrl, has);
  }

  close(): void {
    this.#standIns.close();
    this.#credentials?.close();
    this.#extensions?.close();
    this.#health?.close();
    this.#registration?.close();
    this.#record?.close();
    this.#asked?.close();
    this.#undecided.delete(this);
    this.#pipeline.translator.leave(this.state);
    this.#pipeline.applied.proxyMoved(this.state.proxy.properties.type);
  }
}
