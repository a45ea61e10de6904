/**
 * Looks up pods by the orchestrator's API for the plugin. {@link quickGet} says why the plugin does not use the other
 * programs' client.
 *
 * Permissions: net (the API's address).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { isObject, type NetworkJson } from "../config/network.ts";
import type { OrchAccess } from "../install/orch_config.ts";
import { type Pod, readPod } from "./pod.ts";
import { quickGet } from "./quick_get.ts";
import { type PodLookup, PodSourceError } from "./source.ts";

/**
 * Longest time for one question, milliseconds. On a node that starts 200 pods at once each call has a hundredth of a
 * core.
 */
const QUESTION_MS = 20_000;

/** Looks up pods in the API of an orchestrator config file. */
export class QuickPods implements PodLookup {
  readonly #access: OrchAccess;

  /**
   * @param access The access from the file.
   * @param ms Longest time for one question, milliseconds.
   */
  constructor(access: OrchAccess, private readonly ms = QUESTION_MS) {
    this.#access = access;
  }

  async pod(namespace: string, name: string): Promise<Pod | undefined> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
    const found = await this.#get(path);
    return found && readPod(found);
  }

  async namespaceLabels(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const found = await this.#get(`/api/v1/namespaces/${encodeURIComponent(name)}`);
    return found && readPod(found).labels;
  }

  async #get(path: string): Promise<NetworkJson | undefined> {
    const { server, ca, token } = this.#access;
    const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
    try {
      const unchecked = server.startsWith("https:") && ca === undefined;
      const answer = unchecked
        ? await (await import("../../kernel/fetch/unchecked.ts")).uncheckedGet(server + path, headers, this.ms)
        : await quickGet(new URL(server + path), headers, ca, this.ms);
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) {
        throw new PodSourceError(`GET ${path}: status ${answer.status}: ${answer.body.slice(0, 300)}`, answer.status);
      }
      const value: unknown = JSON.parse(answer.body);
      if (!isObject(value)) throw new PodSourceError(`GET ${path}: expected an object`, undefined);
      return value;
    } catch (error) {
      if (error instanceof PodSourceError) throw error;
      const message = errorMessage(error);
      throw new PodSourceError(`GET ${path}: ${message}`, undefined, { cause: error });
    }
  }
}
