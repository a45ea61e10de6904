/**
 * A real cluster of the orchestrator on this machine. The control plane and each node have their own Linux namespaces.
 * The host's network and files are left alone, except for the folder of the cluster. The cluster ends with its starter.
 *
 * Permissions: net (127.0.0.1), env (HOME, XDG_CACHE_HOME), read and write (temp folder), run (setpriv, nsenter,
 * openssl, the programs); root.
 *
 * @module
 */
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { kubeconfigOf } from "../../orch/support/server/kubeconfig.ts";
import { ApiObjects, type ObjectDraft, type ObjectId } from "../../orch/support/server/objects.ts";
import { clientOf } from "../../orch/support/server/users.ts";
import { ControlPlane } from "./control_plane.ts";
import { API_PORT, dnsObjects } from "./files.ts";
import { giveAddresses } from "./load_balancers.ts";
import { clusterNetwork } from "./network.ts";
import { removeGroups } from "./control_groups.ts";
import { ClusterNode } from "./node.ts";
import { ApiRelay } from "./relay.ts";

/** Settings of a cluster. */
export interface ClusterOptions {
  /** Default: 1. */
  readonly nodes?: number;
  /** Number of the cluster. Clusters that are linked need different numbers. Default: 0. */
  readonly number?: number;
  /** The plugin that connects pods. Default: bridge. */
  readonly plugin?: "bridge" | "ptp";
  /** Archives of images. */
  readonly images: readonly string[];
  /** Further flags of the API server. */
  readonly apiFlags?: readonly string[];
  /** Receives a line for each step. */
  readonly say?: (line: string) => void;
}

/** Longest wait for the API server and for the nodes, ms. */
const READY = 180_000;

export class Cluster implements AsyncDisposable {
  /** Path of the administrator's kubeconfig, for programs of this machine. */
  readonly kubeconfig: string;
  readonly client: ApiClient;
  readonly objects: ApiObjects;
  readonly #stop = new AbortController();

  private constructor(
    readonly folder: string,
    readonly number: number,
    readonly plane: ControlPlane,
    readonly nodes: readonly ClusterNode[],
    readonly relay: ApiRelay,
    client: ApiClient,
  ) {
    this.kubeconfig = `${folder}/kubeconfig`;
    this.client = client;
    this.objects = new ApiObjects(client);
  }

  /**
   * Starts a cluster. Resolves when all nodes are ready.
   *
   * @throws {Error} with the end of a log, when a part does not get ready
   */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { nodes: count = 1, number = 0, plugin = "bridge", images, apiFlags = [], say = () => {} } = options;
    const folder = await Deno.makeTempDir({ prefix: "mesh-cluster-" });
    const network = clusterNetwork(number);
    const plane = await ControlPlane.start(folder, network, apiFlags);
    const relay = await ApiRelay.start(plane.namespaces, `${network.control}:${API_PORT}`, `${folder}/control`);
    const identity = {
      cert: await read(`${folder}/control/admin.crt`),
      key: await read(`${folder}/control/admin.key`),
    };
    const access = { server: `https://127.0.0.1:${relay.port}`, ca: plane.keys.ca, identity };
    await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfigOf(access));
    const nodes = Array.from(
      { length: count },
      (_, i) => new ClusterNode(plane, folder, network, { number: i + 1, nodes: count, plugin, images }),
    );
    const cluster = new Cluster(folder, number, plane, nodes, relay, clientOf(access));
    try {
      await Promise.all([cluster.#apiReady(say), ...nodes.map((node) => cluster.#prepared(node, say))]);
      plane.startClients();
      for (const node of nodes) node.startKubelet();
      for (const draft of dnsObjects(network)) await cluster.objects.apply(draft as ObjectDraft & ObjectId);
      giveAddresses(cluster.client, network, cluster.#stop.signal);
      await Promise.all(nodes.map((node) => cluster.#nodeReady(node, say)));
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const containers = await Promise.all(this.nodes.map((node) => node.containers()));
    for (const node of this.nodes) await node.end();
    await this.relay[Symbol.asyncDispose]();
    await this.plane.end();
    await removeGroups(containers.flat());
    await Deno.remove(this.folder, { recursive: true });
  }

  async #apiReady(say: (line: string) => void): Promise<void> {
    const program = this.plane.program("kube-apiserver");
    let ended = false;
    program.ended.then(() => ended = true);
    const started = performance.now();
    while (!await this.client.tell({ path: "/readyz", within: 2_000 }).then(() => true, () => false)) {
      if (ended || performance.now() - started > READY) {
        throw new Error(`the API server ${ended ? "ended" : "is not ready in time"}:\n${await program.log()}`);
      }
      // Only an answer tells that the server is ready.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    say("the API server is ready");
  }

  async #prepared(node: ClusterNode, say: (line: string) => void): Promise<void> {
    await node.prepare();
    say(`${node.name} has its images`);
  }

  async #nodeReady(node: ClusterNode, say: (line: string) => void): Promise<void> {
    const started = performance.now();
    while (!await this.#isReady(node.name)) {
      if (performance.now() - started > READY) {
        throw new Error(`${node.name} is not ready in time:\n${await node.program("kubelet").log()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    say(`${node.name} is ready`);
  }

  async #isReady(name: string): Promise<boolean> {
    const node = await this.objects.get({ apiVersion: "v1", kind: "Node", metadata: { name } });
    const { conditions = [] } = (node?.["status"] ?? {}) as { conditions?: { type: string; status: string }[] };
    return conditions.some(({ type, status }) => type === "Ready" && status === "True");
  }
}

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(path);
}
