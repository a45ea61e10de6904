/**
 * Remote clusters of a running server: from secrets to clusters, with metrics and log lines.
 *
 * Permissions: net (the APIs of the clusters), and the permissions of `lib/orch/access`.
 *
 * @module
 */
import { type Fact, FACT_KINDS } from "../../config/facts/types.ts";
import { changedObjects, type ChangeSet } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { unpaced } from "../../kernel/time/paced.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { LockState } from "../../orch/leader/duty_runner.ts";
import type { OrchRegistry } from "../../registry/orch/registry.ts";
import { type ConvertOptions, convertWorkload } from "../../registry/service_entry/convert.ts";
import type { Registry, RegistrySink } from "../../registry/types.ts";
import type { Credentials } from "../credentials/credentials.ts";
import type { CredentialClusters } from "../credentials/start.ts";
import { HandOver } from "../pipeline/hand_over.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import {
  type DiscoverySettings,
  hasSeveralNetworks,
  type OrchVariables,
  readsRemoteEntries,
  sharingApi,
  type SharingApiVariables,
} from "../settings/settings.ts";
import { addClusterRegistry } from "../sources/fact_registry.ts";
import { logFindings } from "../sources/finding_log.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import type { OrchOptions } from "../sources/orchestrator.ts";
import { RemoteCredentials } from "./askers.ts";
import { READ_OBJECTS, type RemoteCluster } from "./cluster.ts";
import { RemoteClusters } from "./clusters.ts";
import { ClusterConnection } from "./connection.ts";
import { LedClusters, type LedDuties } from "./leading.ts";
import { ClusterSecrets } from "./secrets.ts";

// The workload entries of a remote cluster (`PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY`). Services of the same cluster
// and service entries of the configuration select the workloads.

class RemoteEntries implements Registry {
  readonly provider = "External";
  readonly clusterId: string;
  readonly #options: ConvertOptions;
  readonly #services: Pick<OrchRegistry, "onWorkloads">;
  #sink: RegistrySink | undefined;

  /** @param services The registry of the same cluster. */
  constructor(options: ConvertOptions, services: Pick<OrchRegistry, "onWorkloads">) {
    this.#options = options;
    this.clusterId = options.clusterId;
    this.#services = services;
  }

  start(sink: RegistrySink): Promise<void> {
    this.#sink = sink;
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#sink = undefined;
    return Promise.resolve();
  }

  /** Takes changes of the cluster's workload entries. */
  take({ added, updated, removed }: Pick<ChangeSet, "added" | "updated" | "removed">): void {
    const workloads = [...added, ...updated.map((one) => one.new)].filter(isEntry)
      .map((entry) => convertWorkload(entry, "healthy", this.#options));
    const gone = removed.filter(isEntry).map(({ key }) => key);
    if (workloads.length + gone.length === 0) return;
    this.#sink?.workloads(workloads, gone);
    this.#services.onWorkloads(this, workloads, gone);
  }
}

function isEntry(object: ConfigObject): object is ConfigObject<"WorkloadEntry"> {
  return object.kind === "WorkloadEntry";
}

/** Inputs of remote clusters from the process, beside the settings. */
export interface ClustersOptions {
  /** Name of the server's own cluster. */
  readonly clusterId: string;
  readonly domain: string;
  readonly systemNamespace: string;
  /** Namespace of the secrets. Default: the server's namespace. */
  readonly clusterRegistriesNamespace?: string;
  readonly orch: Pick<OrchOptions, "qps" | "burst" | "allowed" | "namespace">;
}

/** Gets the objects of remote clusters. Must not throw. */
export interface ClustersListener {
  /** Facts, or workload entries and Gateways, of a cluster came or changed. */
  changed(cluster: string, changes: ChangeSet<Fact> | ChangeSet): void;
  /** A cluster is in no secret any more. */
  gone(cluster: string): void;
}

/** The clusters of a server. */
export interface ServerClusters extends CredentialClusters {
  readonly clusters: RemoteClusters;
  /**
   * Resolves when the clusters that secrets name at the start have been read, or are not waited for any more. While the
   * API of the secrets is away, resolves after the same timeout.
   */
  readonly settled: Promise<void>;
  /** Tells a listener everything that was read of the clusters, and each change from then on. */
  follow(listener: ClustersListener): void;
  /** Adds a listener for changed facts of the clusters. Undefined: the set of read clusters has changed. */
  onFacts(listener: (changes: ChangeSet<Fact> | undefined) => void): void;
  /** Begins the duties in the clusters that this server leads. @param begin Begins the duties over one connection. */
  lead(begin: (connection: ClusterConnection) => LedDuties<LockState>): void;
  /** The locks of the duties in led clusters. */
  led(): readonly RemoteLockState[];
}

/** A lock of a duty in a remote cluster. */
export type RemoteLockState = LockState & { readonly cluster: string };

/** Words of a cluster's state in metric `meshd_remote_cluster_sync_status`. */
const STATES = ["syncing", "synced", "timeout", "closed"] as const;

/** The settings in use. */
export type ClusterVariables =
  & OrchVariables
  & SharingApiVariables
  & Pick<
    DiscoverySettings,
    | "AMBIENT_ENABLE_MULTI_NETWORK"
    | "PILOT_ENABLE_AMBIENT"
    | "PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY"
    | "PILOT_REMOTE_CLUSTER_TIMEOUT"
  >;

/** Begins to follow the secrets, until the kernel stops. @param client Client of the API that holds the secrets. */
export function startClusters(
  client: ApiClient,
  options: ClustersOptions,
  settings: ClusterVariables,
  { pipeline, mesh }: { readonly pipeline: Pipeline; readonly mesh: MeshSource },
  kernel: Pick<Kernel, "program" | "log" | "metrics" | "clock" | "drain" | "stopper">,
): ServerClusters {
  const log = kernel.log.scope("secretcontroller");
  const timeout = settings.PILOT_REMOTE_CLUSTER_TIMEOUT;
  let followed: Credentials | undefined;
  let led: LedClusters<LockState> | undefined;
  const listeners = new Set<(changes: ChangeSet<Fact> | undefined) => void>();
  const say = (changes: ChangeSet<Fact> | undefined) => listeners.forEach((listener) => listener(changes));
  const followers = new Set<ClustersListener>();
  const place = { own: options.clusterId, systemNamespace: options.systemNamespace };
  const { changed, gone, timedOut } = reports(kernel, hasSeveralNetworks(settings));
  const clusters: RemoteClusters = new RemoteClusters({
    own: options.clusterId,
    partsOf: partsOf(options, settings, { pipeline, mesh }, {
      facts: (id, changes) => {
        followed?.changed(changes);
        say(changes);
        const cluster = clusters.get(id);
        if (cluster !== undefined && hasNamespace(changes)) led?.look(cluster);
        for (const follower of followers) follower.changed(id, changes);
      },
      objects: (id, changes) => {
        for (const follower of followers) follower.changed(id, changes);
      },
    }, kernel),
    timedOut,
    changed: (cluster) => {
      changed(cluster);
      // The API of a proxy's cluster decides which secrets the proxy may read, even secrets of other clusters.
      followed?.lookAgainAtAll();
      say(undefined);
      led?.look(cluster);
    },
    gone: (cluster) => {
      gone(cluster);
      led?.leave(cluster.id);
      followed?.lookAgainAtAll();
      say(undefined);
      for (const follower of followers) follower.gone(cluster.id);
    },
    leftOut: ({ id, secret, why }) => log.warn("a secret's cluster does not count", { cluster: id, secret, why }),
  });
  const { clusterRegistriesNamespace: namespace = options.systemNamespace } = options;
  const secrets = new ClusterSecrets(client, namespace, log);
  const look = () => {
    clusters.take(secrets.all());
    kernel.metrics.gauge("meshd_managed_clusters").set({ cluster_type: "remote" }, clusters.size);
    if (hasSeveralNetworks(settings)) countAmbientClusters(kernel.metrics, clusters.size);
  };
  mesh.onChange((state) => clusters.meshChanged(state.mesh.discoverySelectors ?? []));
  secrets.start(look);
  kernel.stopper.add("remote clusters", async () => {
    await secrets.stop();
    await clusters.stop();
  });
  const credentials = new RemoteCredentials(options.clusterId, clusters, kernel.log.scope("authorization"));
  return {
    clusters,
    settled: settled(secrets, clusters, timeout, kernel),
    credentialsOf: (name) => credentials.of(name),
    followCredentials: (all) => void (followed = all),
    follow: (listener) => {
      followers.add(listener);
      for (const { id, connection } of clusters.values()) {
        if (connection !== undefined) { for (const changes of everythingIn(connection)) listener.changed(id, changes); }
      }
    },
    onFacts: (listener) => void listeners.add(listener),
    lead: (begin) => {
      led = new LedClusters(place, begin);
      for (const cluster of clusters.values()) led.look(cluster);
    },
    led: () => [...led?.states() ?? []],
  };
}

function hasNamespace(changes: ChangeSet<Fact>): boolean {
  return changedObjects(changes).some(({ kind }) => kind === "Namespace");
}

async function settled(
  secrets: ClusterSecrets,
  clusters: RemoteClusters,
  timeout: number,
  { clock, log, drain }: Pick<Kernel, "log" | "clock" | "drain">,
): Promise<void> {
  const late = Promise.withResolvers<"late">();
  const cancel = timeout === 0 ? () => {} : clock.after(timeout, () => late.resolve("late"));
  const stopped = drain.whenStarted.then(() => "stopped");
  const first = await Promise.race([secrets.whenSynced, late.promise, stopped]);
  cancel();
  if (first === "late") {
    const why = secrets.trouble ?? `no list within ${timeout / 1000} s`;
    log.scope("secretcontroller").warn(
      "the secrets of remote clusters cannot be read; the server starts without them",
      { why },
    );
    return;
  }
  if (first === undefined) await Promise.race([clusters.settled(), stopped]);
}

function partsOf(
  options: ClustersOptions,
  settings: ClusterVariables,
  { pipeline, mesh }: { readonly pipeline: Pipeline; readonly mesh: MeshSource },
  read: {
    readonly facts: (id: string, changes: ChangeSet<Fact>) => void;
    readonly objects: (id: string, changes: ChangeSet) => void;
  },
  kernel: Pick<Kernel, "program" | "log" | "metrics" | "clock">,
) {
  const { domain, systemNamespace, orch } = options;
  const connectionOptions = {
    ...{ qps: orch.qps, burst: orch.burst, allowed: orch.allowed, namespace: orch.namespace },
    entries: readsRemoteEntries(settings),
    gateways: hasSeveralNetworks(settings),
    sharing: sharingApi(settings),
    digestKey: crypto.getRandomValues(new Uint8Array(32)),
    onFindings: (changes: Parameters<typeof logFindings>[0]) => unpaced(logFindings(changes, kernel)),
  };
  return (clusterId: string) => {
    const place = { clusterId, domain, systemNamespace, from: "api", networks: () => mesh.state.networks } as const;
    const registry = addClusterRegistry(pipeline, place, settings);
    const { networkOf } = registry.registry;
    const entries = new RemoteEntries(
      { clusterId, drainingLabel: settings.PILOT_DRAINING_LABEL, networkOf },
      registry.registry,
    );
    void pipeline.addRegistry(entries);
    return {
      readObjects: (changes: ChangeSet) => {
        pipeline.together(() => entries.take(changes));
        read.objects(clusterId, changes);
      },
      ...{ clock: kernel.clock, timeout: settings.PILOT_REMOTE_CLUSTER_TIMEOUT },
      ...{ registry: registry.registry, check: registry.check, handOver: new HandOver(registry.taker) },
      read: (changes: ChangeSet<Fact>) => read.facts(clusterId, changes),
      leave: () => {
        for (const one of [entries, registry.registry]) {
          void one.stop();
          pipeline.removeRegistry(one);
        }
      },
      connect: (
        { id, secret, access: text }: { readonly id: string; readonly secret: string; readonly access: string },
      ) => {
        const selectors = mesh.state.mesh.discoverySelectors ?? [];
        const access = { name: `secret ${secret}, key ${id}`, text };
        return new ClusterConnection(id, access, selectors, connectionOptions, kernel);
      },
    };
  };
}

/** Sets the numbers of clusters that node tunnels reach. @param remote number of remote clusters */
export function countAmbientClusters(metrics: Kernel["metrics"], remote: number): void {
  const clusters = metrics.gauge("ambient_meshd_managed_clusters");
  clusters.set({ ambient_cluster_type: "local" }, 1);
  clusters.set({ ambient_cluster_type: "remote" }, remote);
}

/** Everything that was read over a connection, as changes. */
function* everythingIn({ facts, objects }: ClusterConnection): Generator<ChangeSet<Fact> | ChangeSet> {
  const nothing = { updated: [], refreshed: [], removed: [], hidden: { before: [], after: [] } };
  for (const kind of FACT_KINDS) yield { ...nothing, added: facts.list(kind) };
  for (const kind of READ_OBJECTS) yield { ...nothing, added: objects.list(kind) };
}

/** The metrics and log lines about clusters. @param isAmbient Whether node tunnels reach the clusters. */
function reports({ metrics, log: { scope } }: Pick<Kernel, "log" | "metrics">, isAmbient: boolean) {
  const log = scope("secretcontroller");
  const status = metrics.gauge("meshd_remote_cluster_sync_status");
  const said = new WeakMap<RemoteCluster, string>();
  return {
    changed: (cluster: RemoteCluster) => {
      const { id, secret, sync, problem } = cluster;
      for (const state of STATES) status.set({ cluster: id, status: state }, state === sync ? 1 : 0);
      const text = `${sync} ${problem ?? ""}`;
      if (said.get(cluster) === text) return;
      said.set(cluster, text);
      const fields = { cluster: id, secret, state: sync, ...problem === undefined ? {} : { problem } };
      if (problem === undefined) log.info("a remote cluster", fields);
      else log.warn("a remote cluster", fields);
    },
    gone: ({ id, secret }: RemoteCluster) => {
      for (const state of STATES) status.remove({ cluster: id, status: state });
      log.info("a remote cluster is in no secret any more; its services leave the mesh", { cluster: id, secret });
    },
    timedOut: ({ id, secret, problem }: RemoteCluster) => {
      metrics.counter("remote_cluster_sync_timeouts_total").inc({ cluster: id });
      if (isAmbient) metrics.counter("ambient_remote_cluster_sync_timeouts_total").inc({ cluster: id });
      const why = problem ?? "its objects were not complete in time";
      log.warn("a remote cluster is not waited for any more; reading goes on", { cluster: id, secret, why });
    },
  };
}
