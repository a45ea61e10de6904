/**
 * All configuration of a server: its sources by precedence, facts, derived objects, and the way to the pipeline.
 *
 *     orchestrator ───────┐
 *     --configDir ────────┤
 *     configSources ──────┼─> store ─> pipeline
 *     derivations <─ facts┘
 *
 * Permissions: read of the folders, net (the API of the orchestrator).
 *
 * @module
 */
import type { FileOrigin } from "../../finding/origin.ts";
import type { Derivation } from "../../config/derive/derivation.ts";
import { DerivationEngine } from "../../config/derive/engine.ts";
import { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";
import { DiscoveredNamespaces } from "../../config/discovered_namespaces.ts";
import { DiscoveredSource } from "../../config/discovered_source.ts";
import { FactStore } from "../../config/facts/store.ts";
import { type Finding, findingChanges } from "../../finding/finding.ts";
import { hiddenFinding } from "../../config/overlap.ts";
import { isOfRevision } from "../../config/revision.ts";
import { type ChangeSet, ConfigStore, type StoreSource } from "../../config/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { AnyConfigObject, ConfigObject } from "../../config/types.ts";
import type { PassedOver } from "../../folder/index.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { unpaced } from "../../kernel/time/paced.ts";
import { type ConfigFolder, startConfigFolder } from "./config_folder.ts";
import { logFindings } from "./finding_log.ts";
import { type ChangeTaker, HandOver } from "../pipeline/hand_over.ts";
import type { MeshSource } from "./mesh_source.ts";
import type { ReadPlace, RefusedKind } from "./kind_feeds.ts";
import { OrchObjects, type OrchScope } from "./orchestrator.ts";
import { type CheckedCluster, SelfCheck } from "./self_check.ts";
import type { SourceState } from "./source_state.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { RemoteSource, RemoteSourceParts } from "./remote_source.ts";

/** Rank of the first derivation: objects of users have precedence. */
const DERIVED_RANK = 1000;

/** Documents of a folder that are neither configuration nor facts. */
export interface FolderPassedOver {
  readonly folder: string;
  /** By kind: see `lib/config/document/manifest.ts`. */
  readonly kinds: ReadonlyMap<string, PassedOver>;
}

/** Limits the objects that a server reads from its sources. */
export interface ReadObjects {
  /** Gets what the derivation finds out about objects of the Gateway API. Default: nobody asks. */
  readonly gatewayApi?: GatewayApiVerdicts;
  /** `REVISION`: configuration of other revisions is passed over. Default: there are none. */
  readonly revision?: string;
  /** Whether the folders replace an orchestrator, so that `discoverySelectors` apply to folders too. Default: false. */
  readonly foldersAreCluster?: boolean;
}

export class Configuration {
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  /** The namespaces of the orchestrator whose objects are read. */
  readonly discovered: DiscoveredNamespaces;
  readonly #everywhere: DiscoveredNamespaces;
  readonly #reads: ReadObjects;
  readonly #folders: ConfigFolder[] = [];
  /** The gates to the store, one for each source of configuration. */
  readonly #gates: DiscoveredSource<ConfigObject>[] = [];
  readonly #remotes: RemoteSource[] = [];
  #orch: OrchObjects | undefined;
  #selfCheck: SelfCheck | undefined;
  /** The status of Ingresses says addresses of nodes. */
  #needsNodes = false;
  /** Whether the mesh configuration is written somewhere. */
  #hasMeshConfig = () => false;
  readonly #engines: readonly DerivationEngine[];
  /** The verdicts about objects of the Gateway API. */
  readonly gatewayApi: GatewayApiVerdicts;
  readonly #handOver: HandOver<ConfigObject>;
  readonly #factsHandOver: HandOver<Fact> | undefined;
  readonly #kernel: Pick<Kernel, "log" | "metrics" | "clock">;
  readonly #digestKey = crypto.getRandomValues(new Uint8Array(32));

  /**
   * @param derivations In order of their precedence.
   * @param services Makes services from facts. Default: no services are made.
   */
  constructor(
    pipeline: Pipeline,
    derivations: readonly Derivation[],
    kernel: Pick<Kernel, "log" | "metrics" | "clock">,
    services?: ChangeTaker<Fact>,
    reads: ReadObjects = {},
  ) {
    this.#kernel = kernel;
    this.#reads = reads;
    this.gatewayApi = reads.gatewayApi ?? new GatewayApiVerdicts();
    this.discovered = new DiscoveredNamespaces(this.facts, !reads.foldersAreCluster);
    this.#everywhere = new DiscoveredNamespaces(this.facts, false);
    this.#handOver = new HandOver({
      // The store's lists are of ConfigObject; the union by kind is the same objects with `kind` telling the spec's type.
      few: (removed, added) => pipeline.configChanged(removed as AnyConfigObject[], added as AnyConfigObject[]),
      many: (removed, added, signal) =>
        pipeline.manyChanged(removed as AnyConfigObject[], added as AnyConfigObject[], signal),
    });
    const factsHandOver = this.#factsHandOver = services && new HandOver(services);
    if (factsHandOver !== undefined) this.facts.subscribe((changes) => factsHandOver.take(changes));
    const updates = kernel.metrics.counter("pilot_inbound_updates");
    this.store.subscribe((changes) => {
      updates.inc({ type: "config" }, changes.added.length + changes.updated.length + changes.removed.length);
      this.#handOver.take(changes);
      this.#logHidden(changes);
    });
    this.#engines = derivations.map((derivation, index) =>
      new DerivationEngine(derivation, {
        store: this.store,
        facts: this.facts,
        mesh: pipeline.mesh,
        target: this.store.addSource(derivation.name, DERIVED_RANK + index),
        onFindings: (changes) => unpaced(logFindings(changes, kernel)),
      })
    );
  }

  /** From now on `discoverySelectors` choose namespaces, and derived objects follow the mesh configuration. */
  followMesh(mesh: Pick<MeshSource, "state" | "onChange" | "isWritten">): void {
    this.#hasMeshConfig = () => mesh.isWritten;
    const take = (config: MeshConfig) => {
      this.#needsNodes = config.ingressService === "";
      if (this.#needsNodes) this.#orch?.readNodeAddresses();
      this.discovered.use(config.discoverySelectors ?? []);
      for (const engine of this.#engines) engine.meshChanged(config);
    };
    take(mesh.state.mesh);
    mesh.onChange((state) => take(state.mesh));
  }

  /**
   * Adds a folder as a source, and watches the folder.
   *
   * @param rank Precedence of the folder: 0 is the highest.
   * @returns When the whole folder has been handed to the pipeline once.
   * @throws Deno.errors.NotFound and others when the folder cannot be read at the start.
   */
  async addFolder(path: string, rank: number): Promise<void> {
    const discovered = this.#reads.foldersAreCluster ? this.discovered : this.#everywhere;
    const target = {
      objects: this.#ofRevision(this.store.addSource(path, rank), discovered),
      facts: new DiscoveredSource(this.facts.addSource(path, rank), discovered, () => true),
      digestKey: this.#digestKey,
      // When the server has a mesh configuration, the ignored mesh configuration in the folder is not worth a finding.
      reports: ({ name }: Finding) => name !== "mesh-configuration-elsewhere" || !this.#hasMeshConfig(),
    };
    this.#folders.push(await startConfigFolder(target, () => this.#handedOver(), this.#kernel));
  }

  /**
   * Adds an orchestrator as a source.
   *
   * @param cluster Name of the cluster.
   * @param scope The parts of the orchestrator that are read.
   * @param rank Precedence of this project's spelling of the kinds. Istio's spelling has the next rank.
   * @returns When everything was handed to the pipeline once, however long the API is away.
   */
  async addOrchestrator(client: ApiClient, cluster: string, scope: OrchScope, rank: number): Promise<void> {
    const onFindings = (changes: Parameters<typeof logFindings>[0]) => unpaced(logFindings(changes, this.#kernel));
    const target = {
      objects: (name: string, next: number) =>
        this.#ofRevision(this.store.addSource(name, rank + next), this.discovered),
      facts: new DiscoveredSource(this.facts.addSource(cluster, 0), this.discovered, () => true),
      digestKey: this.#digestKey,
      onFindings,
    };
    this.#orch = new OrchObjects(client, cluster, scope, target, this.#kernel);
    if (this.#needsNodes) this.#orch.readNodeAddresses();
    await this.#orch.start();
    await this.#handedOver();
  }

  /**
   * Adds another control plane as a source.
   *
   * @param rank Precedence of the source: 0 is the highest.
   * @returns When everything was handed to the pipeline once, however long the control plane is away.
   */
  async addRemote(
    parts: Omit<RemoteSourceParts, "target" | "onFindings">,
    rank: number,
  ): Promise<void> {
    // Loaded with the first remote source, because the module brings descriptors of all kinds along.
    const { RemoteSource } = await import("./remote_source.ts");
    const remote = new RemoteSource({
      ...parts,
      target: this.#ofRevision(this.store.addSource(parts.address, rank), this.#everywhere),
      onFindings: (changes) => unpaced(logFindings(changes, this.#kernel)),
    }, this.#kernel);
    this.#remotes.push(remote);
    await remote.start();
    await this.#handedOver();
  }

  /** Compares objects with the orchestrator's objects, at intervals in milliseconds, until the stop; 0: never. */
  startSelfCheck(
    interval: number,
    own: Pick<CheckedCluster, "cluster" | "services">,
    others: () => Iterable<CheckedCluster> = () => [],
  ): void {
    const feeds = () => this.#orch?.feeds() ?? [];
    const fact = (key: string) => this.facts.at(key);
    const handedOver = () => this.#handedOver();
    const clusters = () => [{ ...own, feeds, fact, handedOver }, ...others()];
    this.#selfCheck = new SelfCheck({ clusters, kernel: this.#kernel });
    this.#selfCheck.start(interval);
  }

  /** Runs one check now, for tests. */
  async selfCheck(patience: number): Promise<void> {
    await this.#selfCheck?.check(patience);
  }

  /** The documents of each folder that are neither configuration nor facts. */
  passedOver(): FolderPassedOver[] {
    return this.#folders.map(({ name, passedOver }) => ({ folder: name, kinds: passedOver() }));
  }

  /** The sources, and why the server does not follow some of them now. */
  sources(): SourceState[] {
    const folders = this.#folders.map((folder): SourceState => {
      const since = folder.goneSince();
      const problem = since === undefined ? {} : { problem: "the folder is gone; its objects stay in force", since };
      return { sort: "folder", name: folder.name, ...problem };
    });
    const orch = this.#orch === undefined ? [] : [this.#orch];
    return [
      ...folders,
      ...orch.map((one): SourceState => ({ sort: "orchestrator", name: one.cluster, ...one.trouble() })),
      ...this.#remotes.map((one): SourceState => ({ sort: "control plane", name: one.name, ...one.trouble() })),
    ];
  }

  /** The findings of the sources, the hidden objects, and the failed derivations. */
  findings(): Finding[] {
    return [
      ...this.#folders.flatMap((folder) => [...folder.findings()]),
      ...this.#orch?.findings() ?? [],
      ...this.#remotes.flatMap((remote) => [...remote.findings()]),
      ...this.store.hidden().map(hiddenFinding),
      ...this.#engines.flatMap((engine) => engine.findings()),
    ];
  }

  /** Whether the present text of an object is refused, so that its last good version is in force. */
  isStale(object: ConfigObject): boolean {
    const sources = [...this.#folders, ...this.#remotes, ...(this.#orch === undefined ? [] : [this.#orch])];
    return sources.some((source) => source.isStale(object));
  }

  /** Whether the objects in force were read from these bytes of a file. */
  isAsRead({ source, file }: FileOrigin, bytes: Uint8Array): boolean {
    return this.#folders.some((folder) => folder.name === source && folder.isAsRead(file, bytes));
  }

  /** The objects of the orchestrator whose present version is refused. */
  *refused(): Generator<RefusedKind> {
    yield* this.#orch?.refused() ?? [];
  }

  /** The place of an object in the orchestrator's API; undefined: the object comes from another source. */
  placeOf(object: ConfigObject): ReadPlace | undefined {
    return this.#orch?.placeOf(object);
  }

  /** Resolves when the present content of the folders has been read and handed to the pipeline. */
  async settled(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.settled()));
  }

  /** Ends watching and deriving; the objects in force stay. */
  async stop(): Promise<void> {
    for (const engine of this.#engines) engine.stop();
    await this.#selfCheck?.stop();
    this.#handOver.end();
    this.#factsHandOver?.end();
    const sources = [...this.#folders, ...this.#remotes];
    await Promise.all([...sources.map((source) => source.stop()), this.#orch?.stop()]);
  }

  /** Why a written object has no effect here; undefined: the object has an effect, or does not exist. */
  leftOut(key: string): string | undefined {
    const { revision = "" } = this.#reads;
    const reasons = this.#gates.map((gate) => gate.leftOut(key));
    if (reasons.includes("not discovered")) return "discoverySelectors do not choose the object's namespace";
    return reasons.includes("for others")
      ? `the object's label mesh.io/rev names another revision than ${revision}`
      : undefined;
  }

  #ofRevision(source: StoreSource, namespaces: DiscoveredNamespaces): StoreSource {
    const { revision = "" } = this.#reads;
    const isOurs = (object: ConfigObject) => isOfRevision(object, revision);
    const gate = new DiscoveredSource(source, namespaces, isOurs);
    this.#gates.push(gate);
    return gate;
  }

  async #handedOver(): Promise<void> {
    await Promise.all([this.#handOver.done(), this.#factsHandOver?.done()]);
  }

  #logHidden({ hidden: { before, after } }: ChangeSet): void {
    unpaced(logFindings(findingChanges(before.map(hiddenFinding), after.map(hiddenFinding)), this.#kernel));
  }
}
