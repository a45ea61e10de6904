/**
 * The server's own way from texts to resources, without a server: no wire, no watching, no timers.
 *
 *     texts ─> folder index ─> objects ─> pipeline ─> proxies join ─> their resources
 *
 * Texts may change, and the resources then change as a server would push them.
 *
 * Permissions: env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import { hasNetworkGateways } from "../gateway_api/built_in_classes.ts";
import { type Finding, warningOf } from "../finding/finding.ts";
import { parseMeshConfig } from "../config/mesh/parse.ts";
import { chooseRootNamespace } from "../config/mesh/root_namespace.ts";
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import { FactStore } from "../config/facts/store.ts";
import type { VerdictListener } from "../gateway_api/groups/derivation.ts";
import { GatewayApiVerdicts } from "../gateway_api/groups/verdicts.ts";
import { DerivationEngine } from "../config/derive/engine.ts";
import { DiscoveredNamespaces } from "../config/discovered_namespaces.ts";
import { DiscoveredSource } from "../config/discovered_source.ts";
import type { Fact } from "../config/facts/types.ts";
import { isOfRevision } from "../config/revision.ts";
import { type ChangeSet, ConfigStore, type StoreSource } from "../config/store.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import { type FileRead, type FolderChanges, FolderIndex } from "../folder/index.ts";
import { struct } from "../pb/wellknown.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { addFactRegistry } from "../discovery/sources/fact_registry.ts";
import { followGatewayNetworks } from "../discovery/sources/gateway_networks.ts";
import { followNamespaces } from "../discovery/sources/namespace_labels.ts";
import { followWaypointAddresses } from "../discovery/sources/waypoint_addresses.ts";
import { serverDerivations } from "../discovery/sources/derivations.ts";
import { Pipeline } from "../discovery/pipeline/pipeline.ts";
import type { PipelineOptions } from "../discovery/pipeline/options.ts";
import {
  cacheSwitches,
  debounceOptions,
  type DiscoverySettings,
  entryOptions,
  translateSettings,
} from "../discovery/settings/settings.ts";
import { NodeReader } from "../discovery/pipeline/node_reader.ts";

/** A proxy, as described by its first request. */
export interface ProxyNode {
  /** `sidecar~10.1.2.3~reviews-1.default~default.svc.cluster.local`, or `router~...` for a gateway. */
  readonly id: string;
  /** Node metadata as plain JSON: `NAMESPACE`, `LABELS`, `INSTANCE_IPS`, `INTERCEPTION_MODE`, ... */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Names of the extensions of the proxy's build. Default: a full build. */
  readonly extensions?: readonly string[];
  /** `--service-cluster` of the proxy. Default: none. */
  readonly cluster?: string;
}

/** Inputs of a mesh of texts. */
export interface OfflineMeshOptions {
  readonly settings: DiscoverySettings;
  /** DNS suffix of services. */
  readonly domain: string;
  /** Text of the mesh configuration; empty: the defaults. */
  readonly meshConfig: string;
  /** A parsed mesh configuration, in place of the text. */
  readonly mesh?: MeshConfig;
  /** The origin of the text, for its findings. Default `mesh`. */
  readonly meshConfigName?: string;
  /**
   * A mesh configuration was given, or found among the texts. The mesh configuration among the texts is then not
   * reported. Default false.
   */
  readonly hasMeshConfig?: boolean;
  /** Findings about the choice of the mesh configuration. Default: none. */
  readonly meshConfigFindings?: readonly Finding[];
  /** Sends virtual hosts apart from their route configuration, as for delta clients. Default false: whole routes. */
  readonly vhds?: boolean;
  /** Services of manifests in the texts are part of the mesh (`--registries=File`). Default false. */
  readonly manifestServices?: boolean;
  /** The networks of the mesh. Default: none. */
  readonly networks?: MeshNetworks;
  /** Keys of token issuers. Nothing is fetched here. Default: none are known. */
  readonly tokenKeys?: NonNullable<PipelineOptions["tokenKeys"]>;
}

/** A mesh made of texts. */
export class OfflineMesh {
  readonly index = new FolderIndex({ defaultNamespace: "default", source: "" });
  readonly pipeline: Pipeline;
  readonly store = new ConfigStore();
  /** Facts about an orchestrator from manifests in the texts. */
  readonly facts = new FactStore();
  /** What was found out about objects of the Gateway API. */
  readonly gatewayApi = new GatewayApiVerdicts();
  readonly #source: StoreSource;
  readonly #factSource: StoreSource<Fact>;
  /** Objects in force, by key. */
  readonly objects = new Map<string, AnyConfigObject>();
  /** Results that could not be built. Each failure is a defect of this program, never of the texts. */
  readonly failures: { readonly what: string; readonly error: unknown }[] = [];
  readonly #options: OfflineMeshOptions;
  readonly #networks: MeshNetworks;
  readonly #nodes: NodeReader;
  readonly #namespaces: DiscoveredNamespaces;
  readonly #engines: DerivationEngine[] = [];
  #meshFindings: readonly Finding[];
  #namesRootNamespace: boolean;
  #hasMeshConfig: boolean;
  #meshConfigName: string | undefined;
  /** The reason why the objects do not determine the root namespace, in a sentence; undefined: the objects do. */
  rootNamespaceConflict: string | undefined;

  /** @throws {RangeError} naming every problem of the mesh configuration. */
  constructor(options: OfflineMeshOptions) {
    const { settings, domain } = options;
    this.#networks = options.networks ?? { networks: {} };
    const parsed = parsedMesh(options, settings);
    const config = options.mesh ?? parsed.value;
    this.#options = options;
    this.#meshFindings = parsed.findings;
    this.#hasMeshConfig = options.hasMeshConfig ?? false;
    this.#meshConfigName = options.meshConfigName;
    this.#namesRootNamespace = parsed.namesRootNamespace || options.mesh !== undefined;
    this.#nodes = new NodeReader({
      vhds: options.vhds ?? false,
      waypoints: settings.PILOT_ENABLE_AMBIENT_WAYPOINTS,
      clusterId: settings.CLUSTER_ID,
      clusterAliases: {},
    });
    this.pipeline = new Pipeline({
      mesh: config,
      networks: this.#networks,
      ...(options.tokenKeys && { tokenKeys: options.tokenKeys }),
      settings: translateSettings(settings, domain),
      caches: cacheSwitches(settings),
      debounce: debounceOptions(settings),
      entries: entryOptions(settings, settings.CLUSTER_ID),
      enhancedDestinationRuleMerge: settings.ENABLE_ENHANCED_DESTINATIONRULE_MERGE,
      timers: { now: () => 0, after: () => () => {} },
      readAgain: (proxy, mesh) => this.#nodes.read(proxy.node, proxy.properties.vhds, mesh),
      failed: (error) => this.failures.push({ what: "translation", error }),
      buildFailed: (kind, name, error) => this.failures.push({ what: `${kind.name} ${name}`, error }),
    });
    const namespaces = this.#namespaces = new DiscoveredNamespaces(this.facts, false);
    if (options.manifestServices) namespaces.use(config.discoverySelectors ?? []);
    const isOurs = (object: ConfigObject) => isOfRevision(object, settings.REVISION);
    this.#source = new DiscoveredSource(this.store.addSource("", 0), namespaces, isOurs);
    this.#factSource = new DiscoveredSource(this.facts.addSource("", 0), namespaces, () => true);
    if (options.manifestServices) this.#followManifests();
    this.#derive();
  }

  /** DNS suffix of services. */
  get domain(): string {
    return this.#options.domain;
  }

  /** Whether all services in the texts are part of the mesh. Manifests of services may be left aside. */
  get knowsServices(): boolean {
    return this.#options.manifestServices === true || this.facts.list("Service").length === 0;
  }

  /** The program's settings. */
  get settings(): DiscoverySettings {
    return this.#options.settings;
  }

  /** Whether a mesh configuration was given, or found among the texts. */
  get hasMeshConfig(): boolean {
    return this.#hasMeshConfig;
  }

  /** Where the mesh configuration is from; undefined: the defaults hold. */
  get meshConfigName(): string | undefined {
    return this.#meshConfigName;
  }

  /** The mesh configuration in force. */
  get mesh(): MeshConfig {
    return this.pipeline.mesh;
  }

  /**
   * Takes another mesh configuration. Its consequences follow with the next texts, or with a flush.
   *
   * @throws {RangeError} naming every problem of the mesh configuration. The earlier one then stays.
   */
  useMeshConfig(
    chosen: Pick<OfflineMeshOptions, "meshConfig" | "meshConfigName" | "hasMeshConfig" | "meshConfigFindings">,
  ): void {
    const parsed = parsedMesh(chosen, this.settings);
    this.#meshFindings = parsed.findings;
    this.#namesRootNamespace = parsed.namesRootNamespace;
    this.#hasMeshConfig = chosen.hasMeshConfig ?? false;
    this.#meshConfigName = chosen.meshConfigName;
    if (this.#options.manifestServices) this.#namespaces.use(parsed.value.discoverySelectors ?? []);
    for (const engine of this.#engines) engine.meshChanged(parsed.value);
    this.pipeline.meshChanged(parsed.value, this.#networks);
    this.#chooseRoot();
  }

  /** Takes texts in. Afterwards all proxies have the resources for the texts. */
  apply(reads: readonly FileRead[]): FolderChanges {
    const changes = this.index.apply(reads);
    this.takeChanges(changes);
    return changes;
  }

  /** Takes in the changes of the index: the translating part of {@linkcode OfflineMesh.apply}. */
  takeChanges(changes: FolderChanges): void {
    this.#factSource.apply(changes.facts);
    this.#source.apply(changes);
    this.#chooseRoot();
    this.pipeline.flush();
  }

  /**
   * Takes a proxy in. The proxy has its resources when the call returns.
   *
   * @throws {NodeRefused} when the node cannot be served.
   */
  join({ id, metadata = {}, extensions = [], cluster = "" }: ProxyNode): ProxyState {
    const { vhds = false } = this.#options;
    const node = { id, cluster, metadata: struct(metadata), extensions: extensions.map((name) => ({ name })) };
    return this.pipeline.translator.join(this.#nodes.read(node, vhds, this.mesh));
  }

  /** The findings about the texts, and about the resources of the joined proxies. */
  findings(): Finding[] {
    const conflict: Finding[] = this.rootNamespaceConflict === undefined
      ? []
      : [{ ...warningOf("outside-root-namespace", [], this.rootNamespaceConflict), severity: "error" }];
    const isElsewhere = ({ name }: Finding) => name === "mesh-configuration-elsewhere";
    const read = this.index.findings().filter((one) => !(this.#hasMeshConfig && isElsewhere(one)));
    return [...this.#meshFindings, ...conflict, ...read, ...this.pipeline.warnings()];
  }

  #followManifests(): void {
    const { domain, settings } = this.#options;
    const place = {
      clusterId: settings.CLUSTER_ID,
      domain,
      systemNamespace: settings.POD_NAMESPACE,
      networks: () => this.#networks,
      from: "file",
    } as const;
    const handOver = addFactRegistry(this.pipeline, place, settings).taker;
    this.facts.subscribe(({ added, updated, removed }) =>
      handOver.few(
        [...removed, ...updated.map((update) => update.old)],
        [...added, ...updated.map((update) => update.new)],
      )
    );
  }

  /** Derives objects from the manifests, as a server does. */
  #derive(): void {
    this.store.subscribe((changes) => this.#takeStored(changes));
    const { networks } = this.pipeline.aggregate;
    if (this.settings.PILOT_ENABLE_AMBIENT_WAYPOINTS || this.settings.AMBIENT_ENABLE_MULTI_NETWORK) {
      followNamespaces(this.facts, this.pipeline);
    }
    if (this.settings.ENABLE_INGRESS_WAYPOINT_ROUTING || hasNetworkGateways(this.settings)) {
      followWaypointAddresses(this.store, this.pipeline);
    }
    if (this.settings.PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API) followGatewayNetworks(this.gatewayApi, networks);
    const learned: VerdictListener = (group, verdicts) => this.gatewayApi.learn(group, verdicts);
    for (const [index, derivation] of serverDerivations({ ...this.#options, learned }, this.settings).entries()) {
      this.#engines.push(
        new DerivationEngine(derivation, {
          store: this.store,
          facts: this.facts,
          mesh: this.mesh,
          target: this.store.addSource(derivation.name, 1 + index),
          onFindings: () => {},
        }),
      );
    }
  }

  /** Takes in written and derived objects in force. */
  #takeStored({ added, updated, removed, refreshed }: ChangeSet): void {
    const renewed = [...updated, ...refreshed];
    // The store knows objects as ConfigObject; the union by kind is the same objects with `kind` telling the spec's type.
    const gone = [...removed, ...renewed.map((update) => update.old)] as AnyConfigObject[];
    const come = [...added, ...renewed.map((update) => update.new)] as AnyConfigObject[];
    if (gone.length + come.length === 0) return;
    for (const { key } of gone) this.objects.delete(key);
    for (const object of come) this.objects.set(object.key, object);
    this.pipeline.configChanged(gone, come);
  }

  #chooseRoot(): void {
    if (this.#namesRootNamespace) return;
    const { namespace, conflict } = chooseRootNamespace(this.objects.values(), this.#options.settings.POD_NAMESPACE);
    this.rootNamespaceConflict = conflict;
    if (namespace === undefined || namespace === this.mesh.rootNamespace) return;
    this.pipeline.meshChanged({ ...this.mesh, rootNamespace: namespace }, this.#networks);
  }
}

/** @throws {RangeError} naming every problem. */
function parsedMesh(
  { meshConfig, meshConfigName = "mesh", meshConfigFindings = [] }: Pick<
    OfflineMeshOptions,
    "meshConfig" | "meshConfigName" | "meshConfigFindings"
  >,
  { POD_NAMESPACE }: DiscoverySettings,
) {
  const parsed = parseMeshConfig(meshConfig, { systemNamespace: POD_NAMESPACE, source: meshConfigName });
  const { value, findings, namesRootNamespace } = parsed;
  if (value === undefined) throw new RangeError(findings.map(({ message }) => message).join("\n"));
  return { value, namesRootNamespace, findings: [...meshConfigFindings, ...findings] };
}
