/**
 * Pods by the orchestrator's API: one request per question, without a client library. The plugin has a quicker way to its
 * one question.
 *
 * Permissions: net (the API's address).
 *
 * @module
 */
import { isObject, type NetworkJson } from "../config/network.ts";
import type { OrchAccess } from "../install/orch_config.ts";
import { readPod } from "./pod.ts";
import type { Pod } from "./pod.ts";
import { type PodEvent, type PodFilter, type PodNote, type PodSource, PodSourceError } from "./source.ts";
import { watchPods } from "./watch.ts";

/** Longest time for one question, milliseconds. */
const QUESTION_MS = 5000;

/** Time after which the API ends a watch, milliseconds. One that stays silent for longer is a dead connection. */
const WATCH_MS = 300_000;

/** A request to the API. */
interface ApiRequest {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly signal?: AbortSignal;
}

/** Makes an HTTP request; `fetch`, or one that does not check certificates. */
export type ApiExchange = (url: string, init: RequestInit) => Promise<Response>;

/** The API, reached by what an orchestrator config file says; read anew for each question, because tokens change. */
export class RestPods implements PodSource {
  readonly #access: () => OrchAccess;
  readonly #exchange: ApiExchange | undefined;

  /**
   * @param access What the file says now.
   * @param exchange Instead of one made of the access's CA, for tests.
   */
  constructor(access: () => OrchAccess, exchange?: ApiExchange) {
    this.#access = access;
    this.#exchange = exchange;
  }

  async pod(namespace: string, name: string): Promise<Pod | undefined> {
    const found = await this.#get(`${podsPath(namespace)}/${encodeURIComponent(name)}`);
    return found === undefined ? undefined : readPod(found);
  }

  async namespaceLabels(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const found = await this.#get(`/api/v1/namespaces/${encodeURIComponent(name)}`);
    return found === undefined ? undefined : readPod(found).labels;
  }

  watch(filter: PodFilter, signal: AbortSignal, troubled?: (error: PodSourceError) => void): AsyncIterable<PodEvent> {
    const selectors = new URLSearchParams();
    if (filter.labelSelector !== "") selectors.set("labelSelector", filter.labelSelector);
    if (filter.fieldSelector !== "") selectors.set("fieldSelector", filter.fieldSelector);
    return watchPods(
      {
        list: async () => {
          const list = await this.#get(`/api/v1/pods?${selectors}`, signal);
          return { pods: list === undefined ? [] : itemsOf(list).map(readPod), version: resourceVersionOf(list) };
        },
        changes: (version) => this.#changes(selectors, version, signal),
      },
      signal,
      (error) => troubled?.(sourceError(error, "watching pods")),
    );
  }

  async label(pod: Pod, key: string, value: string): Promise<void> {
    // The status sub-resource takes labels too, and needs less rights than the pod itself.
    await this.#send({
      method: "PATCH",
      path: `${podPath(pod)}/status`,
      type: "application/merge-patch+json",
      body: { metadata: { uid: pod.uid, labels: { [key]: value } } },
    });
  }

  async remove(pod: Pod): Promise<void> {
    const preconditions = { uid: pod.uid, resourceVersion: pod.resourceVersion };
    await this.#send({
      method: "DELETE",
      path: podPath(pod),
      body: { apiVersion: "v1", kind: "DeleteOptions", preconditions },
    });
  }

  async note(pod: Pod, note: PodNote): Promise<void> {
    const now = new Date().toISOString();
    await this.#send({
      method: "POST",
      path: `/api/v1/namespaces/${encodeURIComponent(pod.namespace)}/events`,
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
    const pod = await this.#get(`${podsPath(namespace)}/${encodeURIComponent(podName)}`);
    if (pod === undefined) throw new PodSourceError(`pod ${namespace}/${podName} is not there`, 404);
    const owners = itemsOf(metaOf(pod), "ownerReferences");
    const set = owners.find((owner) => owner["kind"] === "DaemonSet");
    if (set === undefined) return false;
    const found = await this.#get(
      `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/daemonsets/${encodeURIComponent(String(set["name"]))}`,
    );
    return found !== undefined && metaOf(found)["uid"] === set["uid"] &&
      metaOf(found)["deletionTimestamp"] === undefined;
  }

  /** Changes after a version, until the connection ends. */
  async *#changes(selectors: URLSearchParams, version: string, signal: AbortSignal): AsyncIterable<PodEvent> {
    const query = new URLSearchParams(selectors);
    query.set("watch", "true");
    query.set("resourceVersion", version);
    query.set("timeoutSeconds", String(WATCH_MS / 1000));
    const answer = await this.#send({ path: `/api/v1/pods?${query}`, signal: within(WATCH_MS + QUESTION_MS, signal) });
    for await (const line of linesOf(answer)) {
      const event: unknown = JSON.parse(line);
      if (!isObject(event)) continue;
      if (event["type"] === "ERROR") return endOf(event["object"]);
      if (event["type"] === "BOOKMARK") continue;
      const pod = readPod(event["object"]);
      yield event["type"] === "DELETED"
        ? { type: "gone", namespace: pod.namespace, name: pod.name }
        : { type: "pod", pod };
    }
  }

  /** One client per CA: its connections are used again, so that only the first question pays for TLS. */
  async #exchangeBy(server: string, ca: string | undefined): Promise<ApiExchange> {
    const by = `${server} ${ca}`;
    if (this.#made?.by !== by) this.#made = { by, exchange: await exchangeFor(server, ca) };
    return this.#made.exchange;
  }

  #made: { readonly by: string; readonly exchange: ApiExchange } | undefined;

  async #get(path: string, signal?: AbortSignal): Promise<NetworkJson | undefined> {
    try {
      const answer = await this.#send({ path, signal: within(QUESTION_MS, signal) });
      const value: unknown = await answer.json();
      if (!isObject(value)) throw new PodSourceError(`GET ${path}: got no object`, undefined);
      return value;
    } catch (error) {
      if (error instanceof PodSourceError && error.status === 404) return undefined;
      throw sourceError(error, `GET ${path}`);
    }
  }

  async #send(request: ApiRequest): Promise<Response> {
    const { server, ca, token } = this.#access();
    const method = request.method ?? "GET";
    const exchange = this.#exchange ?? await this.#exchangeBy(server, ca);
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: "application/json" };
    if (request.body !== undefined) headers["content-type"] = request.type ?? "application/json";
    const init: RequestInit = { method, headers, signal: request.signal ?? within(QUESTION_MS) };
    if (request.body !== undefined) init.body = JSON.stringify(request.body);
    let answer: Response;
    try {
      answer = await exchange(server + request.path, init);
    } catch (error) {
      throw sourceError(error, `${method} ${request.path}`);
    }
    if (answer.ok) return answer;
    const said = (await answer.text()).slice(0, 300);
    throw new PodSourceError(`${method} ${request.path}: status ${answer.status}: ${said}`, answer.status);
  }
}

/** `fetch` that trusts a CA; without one, an exchange that checks no certificates, as the user asked. */
async function exchangeFor(server: string, ca: string | undefined): Promise<ApiExchange> {
  if (!server.startsWith("https:")) return fetch;
  if (ca === undefined) return (await import("../../kernel/fetch/unchecked.ts")).uncheckedExchange;
  const client = Deno.createHttpClient({ caCerts: [ca] });
  return (url, init) => fetch(url, { ...init, client });
}

function sourceError(error: unknown, what: string): PodSourceError {
  if (error instanceof PodSourceError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PodSourceError(`${what}: ${message}`, undefined, { cause: error });
}

function within(ms: number, signal?: AbortSignal): AbortSignal {
  return signal === undefined ? AbortSignal.timeout(ms) : AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}

function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
}

function podPath(pod: Pod): string {
  return `${podsPath(pod.namespace)}/${encodeURIComponent(pod.name)}`;
}

/** A version that is too old is no trouble: everything is listed anew. What else a watch ends by is thrown. */
function endOf(status: unknown): void {
  const { code, message } = isObject(status) ? status : {};
  if (code !== 410) throw new PodSourceError(`the watch was ended: ${code}: ${message}`, undefined);
}

function metaOf(value: NetworkJson | undefined): NetworkJson {
  const meta = value?.["metadata"];
  return isObject(meta) ? meta : {};
}

function itemsOf(value: NetworkJson, key = "items"): NetworkJson[] {
  const items = value[key];
  return Array.isArray(items) ? items.filter(isObject) : [];
}

function resourceVersionOf(list: NetworkJson | undefined): string {
  const version = metaOf(list)["resourceVersion"];
  return typeof version === "string" ? version : "";
}

async function* linesOf(answer: Response): AsyncIterable<string> {
  let rest = "";
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line.trim() !== "");
  }
}
