/**
 * Asks the ambient node agent of this node about a pod.
 *
 * Permissions: read and write (the agent's socket).
 *
 * @module
 */
import type { PodReport } from "../ambient/redirection.ts";
import { isObject } from "../config/network.ts";
import { EVENT_SOCKET } from "../plugin/report.ts";
import { quickExchange } from "../pods/quick_get.ts";

/** Longest wait, milliseconds: the agent looks into the pod's network namespace. */
const ANSWER_MS = 20_000;

/**
 * The agent's report. Undefined: there is no such pod on this node.
 * @throws {Error} When no agent answers.
 */
export async function askAgent(runDir: string, namespace: string, pod: string): Promise<PodReport | undefined> {
  const open = () => Deno.connect({ transport: "unix", path: `${runDir}/${EVENT_SOCKET}` });
  const path = `/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
  const { status, body } = await quickExchange(open, new URL(path, "http://node"), {}, ANSWER_MS);
  if (status !== 200) throw new Error(`the agent answered ${status}: ${body.slice(0, 300)}`);
  const value: unknown = JSON.parse(body);
  return isObject(value) ? value as unknown as PodReport : undefined;
}
