/**
 * The pods of the node plugin by node, and whether the plugin is ready on a node.
 *
 * @module
 */
import * as z from "zod";
import { type CacheChange, cacheKey } from "../../orch/informer/cache.ts";

/** A pod of the plugin. Times are milliseconds since the epoch, in whole seconds as in the API; 0: not known. */
export interface PluginPod {
  /** Empty: the pod has no node yet. */
  readonly node: string;
  readonly ready: boolean;
  /** Whether the pod is being deleted. */
  readonly leaving: boolean;
  readonly madeAt: number;
  readonly readySince: number;
}

/** Known facts about the plugin on a node. */
export type PluginReadiness = "ready" | "not ready" | "of an earlier node";

const podSchema = z.object({
  metadata: z.object({ creationTimestamp: z.string().nullish(), deletionTimestamp: z.string().nullish() }).nullish(),
  spec: z.object({ nodeName: z.string().nullish() }).nullish(),
  status: z.object({
    conditions: z.array(z.object({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() }))
      .nullish(),
  }).nullish(),
});

/** Reads a pod. An unreadable pod is not ready. */
export function readPluginPod(pod: unknown): PluginPod {
  const { metadata, spec, status } = podSchema.safeParse(pod).data ?? {};
  const ready = status?.conditions?.find((one) => one.type === "Ready" && one.status === "True");
  return {
    node: spec?.nodeName ?? "",
    ready: ready !== undefined,
    leaving: typeof metadata?.deletionTimestamp === "string",
    madeAt: readTime(metadata?.creationTimestamp),
    readySince: readTime(ready?.lastTransitionTime),
  };
}

/** A time of the API, milliseconds since the epoch; 0: the text is missing or invalid. */
export function readTime(text: string | null | undefined): number {
  return Date.parse(text ?? "") || 0;
}

export class PluginPods {
  readonly #nodeOf = new Map<string, string>();
  readonly #byNode = new Map<string, Map<string, PluginPod>>();

  /** Takes in changed pods. @returns the nodes with a pod that is ready now */
  take({ upserted, removed }: CacheChange<PluginPod>): ReadonlySet<string> {
    const ready = new Set<string>();
    for (const one of removed) this.#drop(cacheKey(one));
    for (const one of upserted) {
      const key = cacheKey(one);
      const { node } = one.value;
      this.#drop(key);
      if (node === "") continue;
      this.#nodeOf.set(key, node);
      const pods = this.#byNode.get(node);
      if (pods === undefined) this.#byNode.set(node, new Map([[key, one.value]]));
      else pods.set(key, one.value);
      if (counts(one.value)) ready.add(node);
    }
    return ready;
  }

  /**
   * Whether the plugin is ready on a node.
   *
   * @param madeAt When the node was made. A pod that was ready earlier belonged to a previous node with the same name,
   * and says nothing about the plugin on the present node.
   */
  readiness(node: string, madeAt: number): PluginReadiness {
    let readiness: PluginReadiness = "not ready";
    for (const pod of this.#byNode.get(node)?.values() ?? []) {
      if (!counts(pod)) continue;
      if (Math.max(pod.madeAt, pod.readySince) >= madeAt) return "ready";
      readiness = "of an earlier node";
    }
    return readiness;
  }

  #drop(key: string): void {
    const node = this.#nodeOf.get(key);
    if (node === undefined) return;
    this.#nodeOf.delete(key);
    const pods = this.#byNode.get(node);
    pods?.delete(key);
    if (pods?.size === 0) this.#byNode.delete(node);
  }
}

/** A pod that is being deleted says nothing about its successor. */
function counts({ ready, leaving }: PluginPod): boolean {
  return ready && !leaving;
}
