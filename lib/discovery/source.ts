/**
 * The pipeline as the source of the wire.
 *
 * @module
 */
import { parseWorkloadIdentity } from "../pki/spiffe.ts";
import type { NameSet } from "../resource/name_set.ts";
import type { ResourceSet } from "../resource/set.ts";
import type { ProxyState } from "../translate/per_proxy/proxy_state.ts";
import { NAME_TABLE_TYPE_URL } from "../translate/name_table/encode.ts";
import { NodeRefused } from "../translate/proxy/identity.ts";
import type { Proxy } from "../translate/proxy/node.ts";
import { Code } from "../grpc/codes.ts";
import {
  type ClientHealth,
  type ConnectControl,
  type ConnectRequest,
  type ProxyView,
  type PushEvent,
  type ResourceSource,
  XdsRefusal,
} from "../xds/protocol/source.ts";
import { EXTENSION_CONFIG, PROXY_CONFIG, SECRET, WILDCARD } from "../xds/protocol/types.ts";
import type { DiscoveryCallers } from "./callers.ts";
import { type ConfigurationViews, wantsConfiguration } from "./configuration_view.ts";
import type { Credentials } from "./credentials/credentials.ts";
import type { ProxyCredentials } from "./credentials/proxy_credentials.ts";
import { ProxyExtensions, PulledExtensions } from "./credentials/proxy_extensions.ts";
import type { MeshRoots } from "./mesh_roots.ts";
import type { HealthReports, StreamHealth } from "./health_reports.ts";
import type { NodeReader } from "./node_reader.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Registrar, StreamRegistration } from "./registration/registrar.ts";

const NONE: readonly never[] = [];

/** Views of proxies for which something could not be made, with the types of which names are pending. */
export type UndecidedViews = Map<ProxyStateView, Set<string>>;

/** The roots that agents are sent. */
type AgentRoots = Pick<MeshRoots, "sets">;

/** What a view has beside its proxy's resources. */
interface ViewParts {
  readonly credentials?: ProxyCredentials | undefined;
  readonly extensions?: ProxyExtensions | undefined;
  readonly roots?: AgentRoots | undefined;
  readonly health?: StreamHealth | undefined;
  readonly registration?: StreamRegistration | undefined;
}

/** A proxy as the wire sees it. */
export class ProxyStateView implements ProxyView {
  readonly id: string;
  readonly identity?: string;
  readonly #pipeline: Pipeline;
  readonly #undecided: UndecidedViews;
  readonly #credentials: ProxyCredentials | undefined;
  readonly #extensions: ProxyExtensions | undefined;
  readonly #roots: AgentRoots | undefined;
  readonly #health: StreamHealth | undefined;
  readonly #registration: StreamRegistration | undefined;
  readonly reportHealth?: (health: ClientHealth) => void;
  /** The last answer about secrets: the same while its sets are. */
  #secrets: readonly ResourceSet[] = NONE;
  /** The last answer about names, likewise. */
  #names: readonly ResourceSet[] = NONE;

  constructor(
    readonly state: ProxyState,
    pipeline: Pipeline,
    readonly control: ConnectControl,
    undecided: UndecidedViews,
    identity: string | undefined,
    { credentials, extensions, roots, health, registration }: ViewParts = {},
  ) {
    if (identity !== undefined) this.identity = identity;
    this.#credentials = credentials;
    this.#extensions = extensions;
    this.#roots = roots;
    this.#health = health;
    this.#registration = registration;
    if (health !== undefined) this.reportHealth = (report) => health.report(report);
    this.#pipeline = pipeline;
    this.#undecided = undecided;
    this.id = state.proxy.nodeId;
  }

  /** Sets of proxies change in pushes alone. */
  get revision(): number {
    return this.#pipeline.pushes;
  }

  /** Something that it should have could not be made, or nothing of the last push. */
  get failing(): boolean {
    const { failing, translator } = this.#pipeline;
    return failing || this.state.failing || translator.lacksNames(this.state);
  }

  get home(): { readonly namespace: string; readonly clusterId: string } {
    const { namespace, properties } = this.state.proxy;
    return { namespace, clusterId: properties.clusterId };
  }

  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined {
    if (typeUrl === PROXY_CONFIG) return this.#roots?.sets;
    if (typeUrl === NAME_TABLE_TYPE_URL) return this.#nameTable();
    if (typeUrl === EXTENSION_CONFIG && this.#extensions) return this.#extensions.sets;
    const sets = this.state.resourceSets(typeUrl);
    return typeUrl === SECRET && this.#credentials ? this.#withCredentials(sets ?? [], this.#credentials.set) : sets;
  }

  /** Extension configurations without their secrets. */
  shownSets(typeUrl: string): readonly ResourceSet[] | undefined {
    return typeUrl === EXTENSION_CONFIG ? this.state.resourceSets(typeUrl) : this.resourceSets(typeUrl);
  }

  /** Made for the first proxy that asks, and for all that see the same. */
  #nameTable(): readonly ResourceSet[] {
    const now = this.#pipeline.translator.nameTable(this.state);
    return now === this.#names[0] ? this.#names : this.#names = [now];
  }

  #withCredentials(sets: readonly ResourceSet[], credentials: ResourceSet): readonly ResourceSet[] {
    const now = [...sets, credentials];
    if (this.#secrets.length !== now.length || now.some((set, i) => set !== this.#secrets[i])) this.#secrets = now;
    return this.#secrets;
  }

  virtualHosts(routeConfiguration: string): readonly ResourceSet[] {
    return this.state.virtualHosts(routeConfiguration);
  }

  /**
   * While something could not be made, a name that is not there may be just that: it is tried again, and its absence is
   * reported when a push has made all. Otherwise this costs nothing, for any number of names.
   */
  want(typeUrl: string, names: NameSet): readonly string[] {
    if (typeUrl === SECRET) this.#credentials?.want(names);
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

  unwant(typeUrl: string, names: NameSet): void {
    if (typeUrl === SECRET) this.#credentials?.unwant(names);
    if (typeUrl === EXTENSION_CONFIG) this.#extensions?.unwant(names);
  }

  close(): void {
    this.#credentials?.close();
    this.#extensions?.close();
    this.#health?.close();
    this.#registration?.close();
    this.#undecided.delete(this);
    this.#pipeline.translator.leave(this.state);
  }
}

/** The proven identity of the client, as the workload that a proxy says it is for. */
type IdentityOf = (proxy: Proxy) => string | undefined;

/** The pipeline as a source of resources. */
export class PipelineSource implements ResourceSource {
  /** Whether all sources are synced and the first translation is done. */
  ready = false;
  readonly #pipeline: Pipeline;
  readonly #nodes: NodeReader;
  readonly #callers: DiscoveryCallers | undefined;
  readonly #undecided: UndecidedViews = new Map();
  readonly #credentials: Credentials | undefined;
  readonly #pulled = new PulledExtensions();
  readonly #roots: AgentRoots | undefined;
  readonly #health: HealthReports | undefined;
  readonly #registrar: Pick<Registrar, "open"> | undefined;
  readonly #configuration: Pick<ConfigurationViews, "connect"> | undefined;
  #lastTurn: Promise<void> = Promise.resolve();

  /**
   * @param callers Which clients may connect. Default: all, without an identity.
   * @param credentials What configuration names and proxies may read. Default: nothing.
   * @param roots What agents are sent. Default: nothing.
   * @param health Takes what agents say of their workloads. Default: nobody.
   * @param registrar Registers workloads that ask for it. Default: nobody.
   * @param configuration What clients get that ask for configuration. Default: they are read as proxies.
   */
  constructor(
    pipeline: Pipeline,
    nodes: NodeReader,
    callers?: DiscoveryCallers,
    credentials?: Credentials,
    roots?: AgentRoots,
    health?: HealthReports,
    registrar?: Pick<Registrar, "open">,
    configuration?: Pick<ConfigurationViews, "connect">,
  ) {
    this.#configuration = configuration;
    this.#registrar = registrar;
    this.#health = health;
    this.#credentials = credentials;
    this.#roots = roots;
    this.#pipeline = pipeline;
    this.#nodes = nodes;
    this.#callers = callers;
  }

  /** {@linkcode ResourceSource.connect}; a client that has nothing to prove and to wait for gets its view at once. */
  connect(request: ConnectRequest, control: ConnectControl): ProxyView | Promise<ProxyView> {
    if (this.#configuration !== undefined && wantsConfiguration(request)) {
      control.waitsFor("the proof of the client's identity, and resources that all such clients share");
      return this.#configuration.connect(request);
    }
    const proof = this.#callers?.identify(request);
    if (proof === undefined) return this.#take(request, control, () => undefined);
    control.waitsFor("the proof of the client's identity");
    return proof.then((caller) => {
      control.signal.throwIfAborted();
      return this.#take(request, control, (proxy) => this.#callers?.identityAs(proxy, caller, request.peer.address));
    });
  }

  /** Nobody waits, or makes others wait, who is not let in: the identity is looked at first. */
  #take(request: ConnectRequest, control: ConnectControl, identityOf: IdentityOf): ProxyView | Promise<ProxyView> {
    const { mesh } = this.#pipeline;
    const read = this.#read(request, identityOf);
    const prepared = this.#pipeline.prepare(read.proxy);
    if (prepared === undefined) return this.#join(read.proxy, read.identity, control);
    control.waitsFor("resources that all proxies share");
    return prepared.then(() => this.#turn()).then(() => {
      control.signal.throwIfAborted();
      // Properties have their defaults from the mesh configuration, which may be another one now.
      const { proxy, identity } = this.#pipeline.mesh === mesh ? read : this.#read(request, identityOf);
      return this.#join(proxy, identity, control);
    });
  }

  /** A turn of the event loop for each: hundreds may have waited for the same. */
  #turn(): Promise<void> {
    return this.#lastTurn = this.#lastTurn.then(() => new Promise((resolve) => setTimeout(resolve, 0)));
  }

  #read({ node, delta }: ConnectRequest, identityOf: IdentityOf) {
    try {
      const proxy = this.#nodes.read(node, delta, this.#pipeline.mesh);
      return { proxy, identity: identityOf(proxy) };
    } catch (error) {
      if (error instanceof NodeRefused) throw new XdsRefusal(Code.INVALID_ARGUMENT, error.message);
      throw error;
    }
  }

  #join(proxy: Proxy, identity: string | undefined, control: ConnectControl): ProxyView {
    const registration = this.#registrar?.open(proxy, identity);
    const state = this.#pipeline.translator.join(proxy);
    const proven = identity === undefined ? undefined : parseWorkloadIdentity(identity);
    const reader = {
      name: state.proxy.nodeId,
      cluster: state.proxy.properties.clusterId,
      ...(proven && { namespace: proven.namespace, account: proven.serviceAccount }),
    };
    const credentials = this.#credentials?.open(reader, () => control.answered(SECRET));
    const extensions = this.#credentials && new ProxyExtensions({
      pulled: this.#pulled,
      shared: () => ({ sets: state.resourceSets(EXTENSION_CONFIG) ?? NONE, pullSecrets: state.pullSecrets }),
      open: (changed) => this.#credentials!.openRegistries(reader, changed),
      answered: (names) => control.answered(EXTENSION_CONFIG, names),
    });
    return new ProxyStateView(state, this.#pipeline, control, this.#undecided, identity, {
      ...{ credentials, extensions, roots: this.#roots, registration, health: this.#health?.open(proxy, identity) },
    });
  }

  onPush(listener: (push: PushEvent) => void): () => void {
    return this.#pipeline.onPush((push) => {
      listener(push);
      this.#decide();
    });
  }

  /** Answers what was pending for proxies for which everything could be made. */
  #decide(): void {
    for (const [view, types] of this.#undecided) {
      if (view.failing) continue;
      this.#undecided.delete(view);
      for (const type of types) view.control.answered(type);
    }
  }
}
