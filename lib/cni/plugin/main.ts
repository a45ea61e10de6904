/**
 * The plugin as a process: variables and standard input in, standard output and exit code out.
 *
 * Nothing heavy is imported here: with every pod a runtime waits for this process.
 *
 * Permissions: env (CNI_*), read and write (the run folder), run (nsenter), net (the orchestrator's API).
 *
 * @module
 */
import { identityOf } from "../node/namespace_identity.ts";
import { readRegularTextSync } from "../../kernel/files/regular.ts";
import { type PluginCall, type PodName, readCall, versionOfInput } from "./call.ts";
import { callVariables } from "../config/network.ts";
import { rememberCall } from "./calls.ts";
import { CniError, codes, errorText } from "./protocol.ts";
import { type CallWorld, runCall } from "./run.ts";
import { systemRedirector } from "./system_redirector.ts";
import { EVENT_SOCKET, LOG_SOCKET, post } from "./report.ts";
import { readOrchConfig } from "../install/orch_config.ts";
import { FACTS_FILE, ORCH_CONFIG_FILE } from "../node/run_folder.ts";
import { QuickPods } from "../pods/lookup.ts";
import { NearPods } from "../pods/near.ts";

/** Time for the node agent to take over a pod, milliseconds. The node agent sets up rules in this time. */
const AGENT_MS = 30_000;

/** Largest input, bytes: many times the need of a network with many plugins, or of a node with many pods. */
const MAX_INPUT = 16 * 1024 * 1024;

/** Time for a log line, milliseconds: a pod's start must not wait for logs. */
const LOG_MS = 100;

/** Runs a call and resolves with the exit code. */
export async function pluginMain(): Promise<number> {
  let input = "";
  const env = Object.fromEntries(callVariables.map((name) => [name, Deno.env.get(name)]));
  let call: PluginCall | undefined;
  let outcome = "";
  let error: CniError | undefined;
  let world: CallWorld | undefined;
  try {
    input = readInput();
    call = readCall(env, input);
    world = systemWorld(call, (said) => (outcome = said));
    const text = await runCall(call, world);
    write(text);
  } catch (thrown) {
    error = thrown instanceof CniError ? thrown : new CniError(codes.io, "the plugin failed", stackOf(thrown));
    write(errorText(error, versionOfInput(input)));
    outcome = [error.message, error.details].filter((part) => part !== "").join(": ");
  }
  if (call !== undefined) await Promise.all([recordCall(call, outcome, error), world?.redirector.end()]);
  return error === undefined ? 0 : 1;
}

/**
 * Reads standard input as a whole. The runtime writes at once, so waiting in the background would gain nothing.
 * @throws {CniError} When the input is too large. Even then the input is read to its end, because the runtime waits
 * until all is read.
 */
function readInput(): string {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(64 * 1024);
  let text = "";
  let size = 0;
  for (let length; (length = Deno.stdin.readSync(buffer)) !== null;) {
    size += length;
    if (size <= MAX_INPUT) text += decoder.decode(buffer.subarray(0, length), { stream: true });
  }
  if (size > MAX_INPUT) throw new CniError(codes.badInput, `standard input is larger than ${MAX_INPUT} bytes`);
  return text + decoder.decode();
}

function systemWorld(call: PluginCall, said: (outcome: string) => void): CallWorld {
  const { runDir } = call.config;
  return {
    pods: () => {
      const access = readOrchConfig(readRegularTextSync(`${runDir}/${ORCH_CONFIG_FILE}`));
      return new NearPods(`${runDir}/${LOG_SOCKET}`, new QuickPods(access));
    },
    redirector: systemRedirector({ scopedLock: call.config.scopedLock, factsFile: `${runDir}/${FACTS_FILE}` }),
    tellAgent: (of, pod) => post(`${runDir}/${EVENT_SOCKET}`, "/cmdadd", agentEvent(of, pod), AGENT_MS),
    identityOf,
    now: () => performance.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    said,
  };
}

/** The message to the node agent about a pod, with Istio's names; `PodUID` is an addition. */
function agentEvent(call: PluginCall, pod: PodName): unknown {
  const ips = call.config.previous?.["ips"];
  return {
    Netns: call.netns,
    PodName: pod.name,
    PodNamespace: pod.namespace,
    PodUID: pod.uid,
    IPs: Array.isArray(ips) ? ips : [],
  };
}

/** Records and logs the call. A failure of either must not spoil the given answer. */
async function recordCall(call: PluginCall, outcome: string, error: CniError | undefined): Promise<void> {
  if (call.command === "VERSION" || call.command === "STATUS" && error === undefined) return;
  const { runDir, logLevel } = call.config;
  const pod = call.pod === undefined ? "" : `${call.pod.namespace}/${call.pod.name}`;
  const row = {
    at: new Date().toISOString(),
    command: call.command,
    pod,
    container: call.containerId,
    netns: call.netns,
    outcome,
    code: error?.code ?? 0,
    took: Math.round(performance.now()),
  };
  const level = error === undefined ? "info" : "error";
  try {
    rememberCall(runDir, row);
    const quiet = ["warn", "error", "fatal"].includes(logLevel) && level === "info" || logLevel === "none";
    if (quiet) return;
    const line = { level, time: row.at, scope: "cni-plugin", msg: `${call.command}: ${outcome}`, pod, ms: row.took };
    await post(`${runDir}/${LOG_SOCKET}`, "/log", [JSON.stringify(line)], LOG_MS);
  } catch {
    // The run folder is full, or no node agent listens. The runtime has its answer.
  }
}

function write(text: string): void {
  for (let rest = new TextEncoder().encode(text); rest.length > 0;) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

function stackOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
