/**
 * The duty that removes the taint of a node when the node plugin is ready on the node. Until then no pod of the mesh
 * may start on the node. A node gets the taint from its maker, such as an autoscaler.
 *
 * Permissions: the permissions of the client. Rights at the API: `list` and `watch` of nodes and pods, `patch` of
 * nodes.
 *
 * @module
 */
import * as z from "zod";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, objectPath } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { type PluginPod, PluginPods, readPluginPod, readTime } from "./plugin_pods.ts";

const NODES: ApiResource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const PODS: ApiResource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

/** The taint, in our spelling and in Istio's. */
const TAINTS: ReadonlySet<string> = new Set(["cni.mesh.io/not-ready", "cni.istio.io/not-ready"]);

/** The plugin's pods, in both spellings. */
const PLUGIN = "k8s-app in (mesh-cni-node,istio-cni-node)";

/** Nodes written at a time. */
const WORKERS = 5;

/** Inputs of the duty. */
export interface UntaintParts {
  readonly client: ApiClient;
  /** Namespace of the plugin's pods (`--cniNamespace`). */
  readonly namespace: string;
  readonly log: Logger;
  /** Default: the queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

type Taint = Readonly<Record<string, unknown>>;

interface TaintedNode {
  readonly taints: readonly Taint[];
  /** When the node was made, milliseconds since the epoch. */
  readonly madeAt: number;
}

const nodeSchema = z.object({
  metadata: z.object({ creationTimestamp: z.string().nullish() }).nullish(),
  spec: z.object({ taints: z.array(z.record(z.string(), z.unknown())).nullish() }).nullish(),
});

export function untaintNodes(parts: UntaintParts): Duty {
  return {
    lock: "mesh-node-untaint",
    about: `taints of nodes with a ready plugin of namespace ${parts.namespace}`,
    run: (signal) => new Untaint(parts).run(signal),
  };
}

/** One term of the duty. */
class Untaint {
  readonly #parts: UntaintParts;
  readonly #nodes: Informer<TaintedNode>;
  readonly #informer: Informer<PluginPod>;
  readonly #pods = new PluginPods();
  readonly #queue: KeyedQueue;

  constructor(parts: UntaintParts) {
    this.#parts = parts;
    const { client, namespace, log, metrics } = parts;
    this.#nodes = new Informer<TaintedNode>(client, {
      ...{ resource: NODES, log },
      project: (node) => {
        const { metadata, spec } = nodeSchema.safeParse(node).data ?? {};
        return { taints: spec?.taints ?? [], madeAt: readTime(metadata?.creationTimestamp) };
      },
    });
    this.#informer = new Informer<PluginPod>(client, {
      ...{ resource: PODS, namespace, labelSelector: PLUGIN, log, project: readPluginPod },
    });
    this.#queue = new KeyedQueue({
      ...{ id: "untaint", workers: WORKERS, clock: client.clock, metrics, outage: { client, log } },
      work: (node, stop) => this.#untaint(node, stop),
      failed: (node, error, said) =>
        said || log.warn("the taint of a node cannot be removed; the server tries again", { node, error }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    const ends = [
      this.#nodes.subscribe(({ upserted }) => {
        for (const { name } of upserted) this.#queue.add(name);
      }),
      this.#informer.subscribe((change) => {
        for (const node of this.#pods.take(change)) this.#queue.add(node);
      }),
    ];
    this.#nodes.start();
    this.#informer.start();
    if (!signal.aborted) await ended;
    for (const end of ends) end();
    await Promise.all([this.#queue.stop(), this.#nodes.stop(), this.#informer.stop()]);
  }

  async #untaint(name: string, signal: AbortSignal): Promise<void> {
    const node = this.#nodes.get("", name);
    if (node === undefined) return;
    const { taints, madeAt } = node.value;
    const others = taints.filter(({ key }) => !TAINTS.has(String(key)));
    if (others.length === taints.length) return;
    const { client, log } = this.#parts;
    const readiness = this.#pods.readiness(name, madeAt);
    if (readiness === "of an earlier node") {
      log.info("the plugin's pod was ready before this node was made, and must become ready again", { node: name });
    }
    if (readiness !== "ready") return;
    const path = "/spec/taints";
    const body = [
      // A node that was made anew under the same name waits for its own plugin.
      { op: "test", path: "/metadata/uid", value: node.uid },
      // All taints as they were read. If a taint was added meanwhile, the patch fails.
      { op: "test", path, value: taints },
      others.length === 0 ? { op: "remove", path } : { op: "replace", path, value: others },
    ];
    await client.tell({
      ...{ method: "PATCH", path: objectPath(NODES, "", name), type: "application/json-patch+json", body, signal },
    });
    log.info("the plugin is ready: the node takes pods", { node: name });
  }
}
