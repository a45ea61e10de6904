/**
 * The duty that takes the taint off a node once the node's plugin is ready there: until then no pod of the mesh may start
 * on it. Whoever makes nodes (an autoscaler) makes them with the taint.
 *
 * Permissions: those of the client. The API's: `list` and `watch` of nodes and pods, `patch` of nodes.
 *
 * @module
 */
import { z } from "zod";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, objectPath } from "../../orch/informer/resource.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";

const NODES: ApiResource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const PODS: ApiResource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

/** The taint, in our spelling and in Istio's. */
const TAINTS: ReadonlySet<string> = new Set(["cni.mesh.io/not-ready", "cni.istio.io/not-ready"]);

/** The plugin's pods, in both spellings. */
const PLUGIN = "k8s-app in (mesh-cni-node,istio-cni-node)";

/** Nodes written at a time. */
const WORKERS = 5;

/** What the duty is made of. */
export interface UntaintParts {
  readonly client: ApiClient;
  /** That of the plugin's pods (`--cniNamespace`). */
  readonly namespace: string;
  readonly log: Logger;
  /** Default: its queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

/** A taint of a node, with all its fields. */
type Taint = Readonly<Record<string, unknown>>;

interface PluginPod {
  readonly node: string;
  readonly ready: boolean;
}

const nodeSchema = z.object({
  spec: z.object({ taints: z.array(z.record(z.string(), z.unknown())).nullish() }).nullish(),
});
const podSchema = z.object({
  spec: z.object({ nodeName: z.string().nullish() }).nullish(),
  status: z.object({
    conditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish(),
  }).nullish(),
});

/** See the module. */
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
  readonly #nodes: Informer<readonly Taint[]>;
  readonly #pods: Informer<PluginPod>;
  readonly #queue: KeyedQueue;

  constructor(parts: UntaintParts) {
    this.#parts = parts;
    const { client, namespace, log, metrics } = parts;
    this.#nodes = new Informer<readonly Taint[]>(client, {
      ...{ resource: NODES, log },
      project: (node) => nodeSchema.safeParse(node).data?.spec?.taints ?? [],
    });
    this.#pods = new Informer<PluginPod>(client, {
      ...{ resource: PODS, namespace, labelSelector: PLUGIN, log },
      project: (pod) => {
        const { spec, status } = podSchema.safeParse(pod).data ?? {};
        const ready = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
        return { node: spec?.nodeName ?? "", ready };
      },
    });
    this.#queue = new KeyedQueue({
      ...{ id: "untaint", workers: WORKERS, clock: client.clock, metrics },
      work: (node, stop) => this.#untaint(node, stop),
      failed: (node, error) => log.warn("the taint of a node cannot be taken off; it is tried again", { node, error }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    const ends = [
      this.#nodes.subscribe(({ upserted }) => {
        for (const { name } of upserted) this.#queue.add(name);
      }),
      this.#pods.subscribe(({ upserted }) => {
        for (const { value } of upserted) if (value.ready && value.node !== "") this.#queue.add(value.node);
      }),
    ];
    this.#nodes.start();
    this.#pods.start();
    if (!signal.aborted) await ended;
    for (const end of ends) end();
    await Promise.all([this.#queue.stop(), this.#nodes.stop(), this.#pods.stop()]);
  }

  async #untaint(name: string, signal: AbortSignal): Promise<void> {
    const taints = this.#nodes.get("", name)?.value ?? [];
    const others = taints.filter(({ key }) => !TAINTS.has(String(key)));
    if (others.length === taints.length || !this.#isReady(name)) return;
    const path = "/spec/taints";
    // All of them as they were read: another one that has come meanwhile makes the patch fail.
    const body = [
      { op: "test", path, value: taints },
      others.length === 0 ? { op: "remove", path } : { op: "replace", path, value: others },
    ];
    const { client, log } = this.#parts;
    await client.tell({
      ...{ method: "PATCH", path: objectPath(NODES, "", name), type: "application/json-patch+json", body, signal },
    });
    log.info("the plugin is ready: the node takes pods", { node: name });
  }

  #isReady(node: string): boolean {
    for (const { value } of this.#pods.values()) if (value.ready && value.node === node) return true;
    return false;
  }
}
