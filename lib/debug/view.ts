/**
 * The parts of a server that the pages show.
 *
 * @module
 */
import type { Finding } from "../finding/finding.ts";
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import type { ServiceGraph } from "../graph/service_graph.ts";
import type { TrafficSource } from "../graph/traffic.ts";
import type { FactStore } from "../config/facts/store.ts";
import type { ConfigStore } from "../config/store.ts";
import type { ConfigObject } from "../config/types.ts";
import type { Log } from "../kernel/log/log.ts";
import type { Aggregate } from "../registry/aggregate.ts";
import type { SharedService } from "../registry/orch/shared_service.ts";
import type { EndpointIndex } from "../registry/endpoint_index.ts";
import type { NetworkEntrance } from "../registry/types.ts";
import type { Translator } from "../translate/machine/translator.ts";
import type { XdsConnection } from "../xds/connection.ts";
import type { PushEvent } from "../xds/protocol/source.ts";
import type { XdsServer } from "../xds/server.ts";
import type { Explainer, PreviewRunner } from "./runners.ts";
import type { ServedTunnels } from "./tunnel_sets.ts";

/** Findings of the analysis. */
export interface AnalysisView {
  findings(): Iterable<Finding>;
  /** The findings about an object, by its key. */
  findingsOf(key: string): readonly Finding[];
  /** Whether the findings are older than the last push. */
  readonly isBehind: boolean;
  /** Resolves when the findings belong to the last push and the lines of their fields are known. */
  settled(): Promise<void>;
}

/** Counts of a folder's contents by sort. */
export interface FolderCounts {
  readonly folder: string;
  readonly kinds: ReadonlyMap<string, { readonly count: number; readonly files: readonly string[] }>;
}

/** A lock for a duty that one of several servers does for all. */
export interface LeaderView {
  readonly lock: string;
  readonly duties: readonly string[];
  /** Whether this server is the leader. */
  readonly leads: boolean;
  /** Identity of the leader; empty: no leader is known. */
  readonly leader: string;
  /** The remote cluster with the lock; absent: the server's own cluster. */
  readonly cluster?: string;
}

/** A cluster whose services are part of the mesh. */
export interface ClusterView {
  readonly id: string;
  /** `namespace/name` of the secret that describes the cluster; absent: the server's own cluster. */
  readonly secretName?: string;
  /** `syncing`, `synced`, `timeout` or `closed`. */
  readonly syncStatus: string;
  /** The present problem; absent: none. */
  readonly problem?: string;
}

/** A managed Gateway that a server deploys. */
export interface DeploymentView {
  /** `namespace/name`. */
  readonly gateway: string;
  /** Name of the Deployment. */
  readonly deployment: string;
  /** `applied`, `waiting`, `refused`, `foreign` or `failed`. */
  readonly state: string;
  /** Turn among the Gateways that wait for new pods, from 1; 0: the Gateway does not wait. */
  readonly turn: number;
  /** Why the state is not `applied`. */
  readonly reasons: readonly string[];
}

/** A certificate with which the server proves itself or signs, or a root of the mesh. */
export interface CertificateView {
  /** `signing`: the authority signs with it; `server`: the server shows it to clients; `root`: the mesh trusts it. */
  readonly role: "signing" | "server" | "root";
  readonly subject: string;
  /** SHA-256, hexadecimal. */
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  /** Milliseconds since the epoch. For the signing certificate: the earliest end up to its root. */
  readonly notAfter: number;
}

/** A source of configuration or of services. */
export interface SourceView {
  readonly sort: "folder" | "orchestrator" | "control plane" | "cluster";
  /** The folder's path, the cluster's name or the address. */
  readonly name: string;
  /** Why the server does not follow the source now; absent: the server follows the source. */
  readonly problem?: string | undefined;
  /** Since when the server does not follow the source, milliseconds since the epoch; absent: not known. */
  readonly since?: number | undefined;
}

/** The memory of a server, bytes. */
export interface MemoryView {
  /** Of the whole process. */
  readonly resident: number;
  readonly heapUsed: number;
  /** The engine ends the process at this size of the heap. */
  readonly heapLimit: number;
}

/** The injection of a server. */
export interface InjectionView {
  /**
   * The configuration in force and its place; absent: no configuration yet. The problems are about the present texts.
   */
  readonly configuration: {
    readonly place?: string;
    readonly config?: object;
    readonly values?: object;
    readonly problems: readonly string[];
  };
  /** Pods that should have a proxy and have none. */
  missed(): Iterable<{ readonly namespace: string; readonly pod: string; readonly owner: string }>;
}

/** A rollout: an object of which only some proxies have the newest version. */
export interface RolloutView {
  /** Key of the object. */
  readonly key: string;
  /** The newest version. */
  readonly object: ConfigObject;
  /** The version of the other proxies; undefined: other proxies lack the object. */
  readonly settled: ConfigObject | undefined;
  readonly plan: { readonly stages: readonly { readonly percent: number; readonly soakMs: number }[] };
  /** Position of the stage in the plan. */
  readonly stage: number;
  /** `spreading`, `soaking` or `taken-back`. */
  readonly phase: string;
  /** The beginning of the phase, milliseconds since the epoch. */
  readonly since: number;
  /** Why the newest version was taken back; empty: it was not. */
  readonly reason: string;
  /** Why the rollout does not go on, beside missing acknowledgements; empty: it goes on. */
  readonly problem: string;
  /** The node ids of this server's proxies with the newest version. */
  readonly proxies: ReadonlySet<string>;
  /** Whether this server decides about the rollout. If not, the numbers are of this server alone. */
  readonly decides: boolean;
  readonly facts: {
    /** Concerned proxies. */
    readonly total: number;
    /** Proxies of the stage. */
    readonly chosen: number;
    /** Proxies of the stage that have acknowledged the newest version. */
    readonly live: number;
    /** Proxies of the stage that have rejected the newest version. */
    readonly refused: number;
    /** The reasons of some of these proxies. */
    readonly words: readonly string[];
  };
}

/** What the sidecars of a workload have asked for. */
export interface RememberedCalls {
  /** The proven service account is empty if nothing is proven. */
  readonly workload: { readonly namespace: string; readonly account: string; readonly name: string };
  /** The last calls by the names of virtual hosts and clusters, in milliseconds since the epoch. */
  readonly calls: ReadonlyMap<string, number>;
}

/** The inside of a discovery server. */
export interface DebugView {
  /** Name and version of the program, such as `pilot-discovery 0.1.0`. */
  readonly program: string;
  /** DNS suffix of services, such as `cluster.local`. */
  readonly domain: string;
  readonly store: ConfigStore;
  readonly facts: FactStore;
  readonly services: Aggregate;
  readonly endpoints: EndpointIndex;
  readonly xds: XdsServer;
  /** Whether the client may see a proxy on pages about a single proxy. Absent: the client may see all proxies. */
  readonly isShown?: ((connection: XdsConnection) => boolean) | undefined;
  readonly mesh: MeshConfig;
  readonly networks: MeshNetworks;
  /** The ways into networks, by network. */
  readonly entrances: ReadonlyMap<string, readonly NetworkEntrance[]>;
  /** The same before names are resolved. */
  readonly namedEntrances: readonly NetworkEntrance[];
  readonly translator: Translator;
  readonly log: Log;
  /** The present time, milliseconds since the epoch. */
  now(): number;
  /** The server's certificates and the roots of the mesh; empty: the server has no authority and no certificate. */
  certificates(): readonly CertificateView[];
  /** The sources of configuration and services, by precedence. */
  sources(): readonly SourceView[];
  memory(): MemoryView;
  /** Whether sources are synced and the server listens. */
  ready(): boolean;
  /** Accepted settings not sent to proxies, each once. */
  warnings(): Iterable<Finding>;
  /** The present findings about configuration. */
  findings(): Iterable<Finding>;
  /** Findings of the analysis of the whole mesh. */
  readonly analysis: AnalysisView;
  /** Whether only the last good version of an object is in force, because the present text is refused. */
  isStale(object: ConfigObject): boolean;
  /**
   * Why a written object does not count in this server, by the object's key; undefined: the object counts, or is not
   * written.
   */
  leftOut(key: string): string | undefined;
  /** Counts of the documents of each folder that are neither configuration nor facts, by kind. */
  passedOver(): Iterable<FolderCounts>;
  /** Resolves when the server has read all present configuration, and its push is done or waiting. */
  settled(): Promise<void>;
  /** The push in which an object last changed; undefined: no such object. */
  changedIn(objectKey: string): number | undefined;
  /** Whether an object has changed since its last push. */
  isWaiting(objectKey: string): boolean;
  /** The locks of this server's duties. */
  leaders(): readonly LeaderView[];
  /** What node tunnels get; undefined: this server serves no tunnels. */
  readonly tunnels: ServedTunnels | undefined;
  /** What workloads have called; undefined: this server remembers nothing. */
  calls(): Iterable<RememberedCalls> | undefined;
  /** The managed Gateways that this server deploys; empty while another server leads. */
  deployments(): readonly DeploymentView[];
  /** The objects of which only some proxies have the newest version. */
  rollouts(): readonly RolloutView[];
  /** The clusters whose services are part of the mesh. */
  clusters(): readonly ClusterView[];
  /** The service graph. @param opened the namespace whose services are shown one by one */
  graph(opened?: string): ServiceGraph;
  /** Measured requests; undefined: nobody measures for this server. */
  readonly traffic: TrafficSource | undefined;
  /** Undefined: the server injects nothing. */
  readonly injection: InjectionView | undefined;
  /** Services that clusters share with each other. */
  shared(): readonly SharedService[];
  /** Explains requests; undefined: this server does not explain requests. */
  readonly explainer: Explainer | undefined;
  /** Answers previews; undefined: this server has no previews. */
  readonly preview: PreviewRunner | undefined;
  /** Calls a listener after every push. Returns a function that removes the listener. */
  onPush(listener: (push: PushEvent) => void): () => void;
  /** Pushes everything again to all; returns the number of proxies. */
  pushAll(): number;
}
