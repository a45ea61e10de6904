/**
 * The pipeline as the source of the wire.
 *
 * @module
 */
import { parseWorkloadIdentity } from "../../pki/spiffe.ts";
import { NodeRefused } from "../../translate/proxy/identity.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import { Code } from "../../grpc/codes.ts";
import {
  type ConnectControl,
  type ConnectRequest,
  type ProxyView,
  type PushEvent,
  type ResourceSource,
  XdsRefusal,
} from "../../xds/protocol/source.ts";
import { EXTENSION_CONFIG, SECRET } from "../../xds/protocol/types.ts";
import type { DiscoveryCallers } from "../identity/callers.ts";
import { type ConfigurationViews, wantsConfiguration } from "../other_clients/configuration_view.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { ProxyExtensions, PulledExtensions } from "../credentials/proxy_extensions.ts";
import type { HealthReports } from "../registration/health_reports.ts";
import type { NodeReader } from "../pipeline/node_reader.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { callingWorkload, type CallMemory } from "../calls/call_memory.ts";
import { type AgentRoots, ProxyStateView, type UndecidedViews } from "./proxy_state_view.ts";
import { UnknownHosts } from "./unknown_hosts.ts";
import { isTunnel, type TunnelViews } from "../ambient/tunnel_views.ts";
import type { Registrar } from "../registration/registrar.ts";

const NONE: readonly never[] = [];

/** The proven identity of the client, for the workload in the node of the proxy. */
type IdentityOf = (proxy: Proxy) => string | undefined;

/** The pipeline as a source of resources. */
export class PipelineSource implements ResourceSource {
  /** The server makes the source after all sources are synced and the first translation is done. */
  readonly ready = true;
  readonly #pipeline: Pipeline;
  readonly #nodes: NodeReader;
  readonly #callers: DiscoveryCallers | undefined;
  readonly #undecided: UndecidedViews = new Map();
  readonly #credentials: Credentials | undefined;
  readonly #pulled = new PulledExtensions();
  readonly #unknown = new UnknownHosts();
  readonly #roots: AgentRoots | undefined;
  readonly #health: HealthReports | undefined;
  readonly #registrar: Pick<Registrar, "open"> | undefined;
  readonly #configuration: Pick<ConfigurationViews, "connect"> | undefined;
  readonly #tunnels: Pick<TunnelViews, "connect"> | undefined;
  readonly #calls: Pick<CallMemory, "open"> | undefined;
  #lastTurn: Promise<void> = Promise.resolve();

  /**
   * @param callers Decide which clients may connect. Default: all clients may connect, without an identity.
   * @param credentials Secrets that configuration names and proxies may read. Default: no secrets are sent.
   * @param roots Root certificates for agents. Default: no roots are sent.
   * @param health Takes agents' reports about their workloads. Default: reports are ignored.
   * @param registrar Registers workloads. Default: workloads are not registered.
   * @param configuration Views for clients that ask for configuration. Default: such clients are read as proxies.
   * @param tunnels Views for node tunnels. Default: tunnels are refused.
   * @param calls What workloads have called. Default: nothing is remembered.
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
    tunnels?: Pick<TunnelViews, "connect">,
    calls?: Pick<CallMemory, "open">,
  ) {
    this.#calls = calls;
    this.#tunnels = tunnels;
    this.#configuration = configuration;
    this.#registrar = registrar;
    this.#health = health;
    this.#credentials = credentials;
    this.#roots = roots;
    this.#pipeline = pipeline;
    this.#nodes = nodes;
    this.#callers = callers;
  }

  /** A node tunnel that comes back names all workloads of the mesh. */
  takesLarge(node: ConnectRequest["node"]): boolean {
    return this.#tunnels !== undefined && isTunnel({ node });
  }

  /** {@linkcode ResourceSource.connect}. A client without a proof and without a wait gets its view at once. */
  connect(request: ConnectRequest, control: ConnectControl): ProxyView | Promise<ProxyView> {
    if (this.#configuration !== undefined && wantsConfiguration(request)) {
      control.waitsFor("the proof of the client's identity, and resources that all such clients share");
      return this.#configuration.connect(request);
    }
    if (this.#tunnels !== undefined && isTunnel(request)) return this.#tunnels.connect(request, control);
    const proof = this.#callers?.identify(request);
    if (proof === undefined) return this.#take(request, control, () => undefined);
    control.waitsFor("the proof of the client's identity");
    return proof.then((caller) => {
      control.signal.throwIfAborted();
      return this.#take(request, control, (proxy) => this.#callers?.identityAs(proxy, caller, request.peer.address));
    });
  }

  /** Checks the identity first: a client that is not let in neither waits nor makes others wait. */
  #take(request: ConnectRequest, control: ConnectControl, identityOf: IdentityOf): ProxyView | Promise<ProxyView> {
    const { mesh } = this.#pipeline;
    const read = this.#read(request, identityOf);
    const prepared = this.#pipeline.prepare(read.proxy);
    if (prepared === undefined) return this.#join(read.proxy, read.identity, control);
    // Hundreds of proxies may take their turns after the preparation, which takes longer than a proxy's deadline.
    control.comes();
    return prepared.then(() => this.#turn()).then(() => {
      control.signal.throwIfAborted();
      // Defaults of properties come from the mesh configuration, which may have changed during the wait.
      const { proxy, identity } = this.#pipeline.mesh === mesh ? read : this.#read(request, identityOf);
      return this.#join(proxy, identity, control);
    });
  }

  /** Each proxy gets its own turn of the event loop: hundreds of proxies may have waited for the same resources. */
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
    this.#pipeline.applied.proxyMoved(state.proxy.properties.type);
    const proven = identity === undefined ? undefined : parseWorkloadIdentity(identity);
    const reader = {
      name: state.proxy.nodeId,
      cluster: state.proxy.properties.clusterId,
      labels: state.proxy.properties.labels,
      ...(proven && { namespace: proven.namespace, account: proven.serviceAccount }),
    };
    const credentials = this.#credentials?.open(reader, () => control.answered(SECRET));
    const extensions = this.#credentials && new ProxyExtensions({
      pulled: this.#pulled,
      shared: () => ({ sets: state.resourceSets(EXTENSION_CONFIG) ?? NONE, pullSecrets: state.pullSecrets }),
      open: (changed) => this.#credentials!.openRegistries(reader, changed),
      answered: (names) => control.answered(EXTENSION_CONFIG, names),
    });
    const { namespace, workload, properties } = state.proxy;
    const caller = properties.onDemand ? callingWorkload(namespace, proven?.serviceAccount ?? "", workload) : undefined;
    const record = caller && this.#calls?.open(caller);
    return new ProxyStateView(state, this.#pipeline, control, this.#undecided, identity, {
      ...{ record, unknown: this.#unknown, provenNamespace: proven?.namespace },
      ...{ credentials, extensions, roots: this.#roots, registration, health: this.#health?.open(proxy, identity) },
    });
  }

  onPush(listener: (push: PushEvent) => void): () => void {
    return this.#pipeline.onPush((push) => {
      listener(push);
      this.#decide();
    });
  }

  /** Answers pending names of proxies whose resources could all be built. */
  #decide(): void {
    for (const [view, types] of this.#undecided) {
      if (view.failing) continue;
      this.#undecided.delete(view);
      for (const type of types) view.control.answered(type);
    }
  }
}
