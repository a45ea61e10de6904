/**
 * Pods by the orchestrator's API for the installer, which asks, watches and changes. The plugin has a quicker way for
 * its only question.
 *
 * Permissions: net (the API's address).
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { asApiError } from "../../orch/client/api_error.ts";
import { type ApiCall, ApiClient } from "../../orch/client/client.ts";
import type { CacheChange } from "../../orch/informer/cache.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, listPath, objectPath } from "../../orch/informer/resource.ts";
import { isObject, type NetworkJson } from "../config/network.ts";
import type { OrchAccess } from "../install/orch_config.ts";
import { type NodeView, watchedNode } from "./node_view.ts";
import { type Pod, readPod } from "./pod.ts";
import { type PodEvent, type PodFilter, type PodNote, type PodSource, PodSourceError } from "./source.ts";

/** Longest time for one question, milliseconds. */
const QUESTION_MS = 5000;

const PODS: ApiResource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const NAMESPACES: ApiResource = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const DAEMON_SETS: ApiResource = { ...PODS, group: "apps", plural: "daemonsets", kind: "DaemonSet" };
const EVENTS: ApiResource = { ...PODS, plural: "events", kind: "Event" };

/** The API of an orchestrator config file. The file is read anew for each question, because tokens change. */
export class RestPods implements PodSource {
  readonly #client: ApiClient;

  /**
   * @param access The present access from the file.
   * @param log Gets a line of severity debug for each request. Default: none is written.
   */
  constructor(access: () => OrchAccess, log?: Logger) {
    this.#client = new ApiClient({
      access: { current: () => apiAccess(access()), refused: () => {} },
      within: QUESTION_MS,
      ...(log === undefined ? {} : { log }),
    });
  }

  async pod(namespace: string, name: string): Promise<Pod | undefined> {
    const found = await this.#get(objectPath(PODS, namespace, name));
    return found === undefined ? undefined : readPod(found);
  }

  async namespaceLabels(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const found = await this.#get(objectPath(NAMESPACES, "", name));
    return found === undefined ? undefined : readPod(found).labels;
  }

  async *watch(
    filter: PodFilter,
    signal: AbortSignal,
    troubled?: (error: PodSourceError) => void,
  ): AsyncIterable<PodEvent> {
    const informer = new Informer<Pod>(this.#client, {
      ...filter,
      resource: PODS,
      project: readPod,
      troubled: (error) => troubled?.(sourceError(error, "watching pods")),
    });
    let events: PodEvent[] = [];
    let came = Promise.withResolvers<void>();
    informer.subscribe((change) => {
      events.push(...eventsOf(change));
      came.resolve();
    });
    const ended = () => came.resolve();
    signal.addEventListener("abort", ended, { once: true });
    informer.start();
    try {
      while (!signal.aborted) {
        await came.promise;
        came = Promise.withResolvers();
        const now = events;
        events = [];
        for (const event of now) if (!signal.aborted) yield event;
      }
    } finally {
      signal.removeEventListener("abort", ended);
      await informer.stop();
    }
  }

  async label(pod: Pod, key: string, value: string): Promise<void> {
    // The status sub-resource takes labels too, and needs fewer rights than the pod itself.
    await this.#tell({
      method: "PATCH",
      path: `${podPath(pod)}/status`,
      type: "application/merge-patch+json",
      body: { metadata: { uid: pod.uid, labels: { [key]: value } } },
    });
  }

  async annotate(pod: Pod, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#tell({
      method: "PATCH",
      path: `${podPath(pod)}/status`,
      type: "application/merge-patch+json",
      body: { metadata: { uid: pod.uid, annotations } },
    });
  }

  node(name: string): NodeView {
    return watchedNode(this.#client, { pods: PODS, namespaces: NAMESPACES }, name);
  }

  async remove(pod: Pod): Promise<void> {
    const preconditions = { uid: pod.uid, resourceVersion: pod.resourceVersion };
    await this.#tell({
      method: "DELETE",
      path: podPath(pod),
      body: { apiVersion: "v1", kind: "DeleteOptions", preconditions },
    });
  }

  async note(pod: Pod, note: PodNote): Promise<void> {
    const now = new Date().toISOString();
    await this.#tell({
      method: "POST",
      path: listPath(EVENTS, pod.namespace),
      body: {
        apiVersion: "v1",
        kind: "Event",
        metadata: { generateName: `${pod.name.slice(0, 200)}.`, namespace: pod.namespace },
        involvedObject: { apiVersion: "v1", kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid },
        reason: note.reason,
        message: note.message,
        type: "Warning",
        source: { component: "mesh-cni" },
        firstTimestamp: now.replace(/\.\d+/, ""),
        lastTimestamp: now.replace(/\.\d+/, ""),
        count: 1,
      },
    });
  }

  async setStays(namespace: string, podName: string): Promise<boolean> {
    const pod = await this.#get(objectPath(PODS, namespace, podName));
    if (pod === undefined) throw new PodSourceError(`pod ${namespace}/${podName} is not there`, 404);
    const owners = metaOf(pod)["ownerReferences"];
    const set = (Array.isArray(owners) ? owners.filter(isObject) : []).find((owner) => owner["kind"] === "DaemonSet");
    if (set === undefined) return false;
    const found = await this.#get(objectPath(DAEMON_SETS, namespace, String(set["name"])));
    return found !== undefined && metaOf(found)["uid"] === set["uid"] &&
      metaOf(found)["deletionTimestamp"] === undefined;
  }

  async #get(path: string): Promise<NetworkJson | undefined> {
    try {
      return await this.#client.get(path);
    } catch (error) {
      throw sourceError(error, `GET ${path}`);
    }
  }

  async #tell(call: ApiCall): Promise<void> {
    try {
      await this.#client.tell(call);
    } catch (error) {
      throw sourceError(error, `${call.method} ${call.path}`);
    }
  }
}

function apiAccess({ server, ca, token }: OrchAccess) {
  return { server, ca, unchecked: ca === undefined, authorization: `Bearer ${token}` };
}

function eventsOf({ upserted, removed }: CacheChange<Pod>): PodEvent[] {
  return [
    ...removed.map(({ namespace, name }): PodEvent => ({ type: "gone", namespace, name })),
    ...upserted.map(({ value }): PodEvent => ({ type: "pod", pod: value })),
  ];
}

function sourceError(error: unknown, what: string): PodSourceError {
  const { message, status } = asApiError(error, what);
  return new PodSourceError(message.startsWith(what) ? message : `${what}: ${message}`, status, { cause: error });
}

function podPath(pod: Pod): string {
  return objectPath(PODS, pod.namespace, pod.name);
}

function metaOf(value: NetworkJson | undefined): NetworkJson {
  const meta = value?.["metadata"];
  return isObject(meta) ? meta : {};
}
