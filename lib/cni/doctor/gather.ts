/**
 * Gathers the facts of a node for {@link examine}, and changes nothing on the node.
 *
 * Permissions: read (the node's folders), run (nsenter), net (the orchestrator's API).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { VERSION } from "../../kernel/program/build_info.ts";
import { PLUGIN } from "../config/network.ts";
import { neededFiles } from "../install/executable.ts";
import { configFiles, currentRecord, type NodeFolders } from "../install/installer.ts";
import { readOrchConfig } from "../install/orch_config.ts";
import type { FileCalls } from "../node/file_calls.ts";
import { ORCH_CONFIG_FILE } from "../node/run_folder.ts";
import { type CallRow, lastCalls } from "../plugin/calls.ts";
import { decide, NO_AMBIENT } from "../plugin/decide.ts";
import { CniError } from "../plugin/protocol.ts";
import { type PodRedirection, podRedirection } from "../plugin/redirection.ts";
import type { Redirector } from "../plugin/redirector.ts";
import { readPod } from "../pods/pod.ts";
import { type PodLookup, PodSourceError } from "../pods/source.ts";
import type { NodeFacts, PodFacts } from "./examine.ts";
import { forRoot } from "./probe.ts";

/** The inputs of a look at a node. */
export interface DoctorWorld {
  readonly folders: NodeFolders;
  readonly calls: FileCalls;
  /** A new redirector for each call: a redirector caches its reads. */
  readonly redirector: () => Redirector;
  /** Pods, by the orchestrator config's text. */
  readonly pods: (orchConfig: string) => PodLookup;
  /** Does work in a new network namespace with an address, and removes the namespace afterwards. */
  readonly inScratch: <T>(work: (netns: string) => Promise<T>) => Promise<T>;
  /** Dials through the redirection in a network namespace; failures, a line each. */
  readonly probe: (netns: string) => Promise<string[]>;
}

/** Limit of shown calls. */
const SHOWN_CALLS = 10;

/** Limit of pods whose rules are compared, the latest pods first. */
const SHOWN_PODS = 20;

/** Looks at the node. Parts without permission to read are reported as such. */
export async function gather(world: DoctorWorld): Promise<NodeFacts> {
  const { folders, calls } = world;
  const unseen: string[] = [];
  const seen = <T>(work: () => T, otherwise: T): T => {
    try {
      return work();
    } catch (error) {
      unseen.push(`${errorMessage(error)}: run it as root, where the node's folders are mounted`);
      return otherwise;
    }
  };
  const path = `${folders.run}/${ORCH_CONFIG_FILE}`;
  const file = seen(() => calls.read(path), undefined);
  const orchConfig = file && new TextDecoder().decode(file.bytes);
  const rows = seen(() => lastCalls(folders.run, 10_000), []);
  const executable = seen(() => {
    const mode = calls.stat(`${folders.bin}/${PLUGIN}`)?.mode;
    return { mode, needed: neededFiles(folders.bin, calls) };
  }, undefined);
  return {
    files: seen(() => configFiles(folders.net, calls), []),
    executableMode: executable?.mode,
    needed: executable?.needed,
    version: VERSION,
    orchConfigProblem: orchConfigProblem(orchConfig),
    record: seen(() => currentRecord(folders, calls), undefined),
    calls: rows.slice(-SHOWN_CALLS),
    obstacles: await asked(world, (redirector) => redirector.obstacles()),
    trial: await trial(world),
    pods: orchConfig === undefined ? [] : await podFacts(rows, world.pods(orchConfig), world),
    unseen,
  };
}

function orchConfigProblem(text: string | undefined): string | undefined {
  if (text === undefined) return `there is no ${ORCH_CONFIG_FILE}: no injected pod can start`;
  try {
    readOrchConfig(text);
    return undefined;
  } catch (error) {
    return `${ORCH_CONFIG_FILE}: ${errorMessage(error)}`;
  }
}

/** Redirection of an injected pod without annotations, but with root as the proxy's user. */
export function sample(): PodRedirection {
  const pod = readPod({ spec: { containers: [{ name: "mesh-proxy" }] } });
  const [proxy] = pod.containers;
  if (proxy === undefined) throw new Error("the sample pod has no proxy");
  return forRoot(podRedirection(pod, proxy));
}

async function trial(world: DoctorWorld): Promise<string> {
  try {
    return await world.inScratch(async (netns) => {
      await asked(world, (redirector) => redirector.apply(netns, sample()));
      const lines = await asked(world, (redirector) => redirector.check(netns, sample()));
      if (lines.length === 0) lines.push(...await world.probe(netns));
      return lines.length === 0 ? "passed" : lines.join("; ");
    });
  } catch (error) {
    return errorMessage(error);
  }
}

/** Redirected pods without a later take-down. */
export function redirectedPods(rows: readonly CallRow[]): CallRow[] {
  const open = new Map<string, CallRow>();
  for (const row of rows) {
    if (row.command === "DEL") open.delete(row.container);
    else if (row.command === "ADD" && row.code === 0 && row.outcome.startsWith("redirected")) {
      open.set(row.container, row);
    }
  }
  // A row may be missing, for example because the disk was full: the last sandbox of a pod counts.
  const last = new Map([...open.values()].map((row) => [row.pod, row]));
  return [...last.values()].slice(-SHOWN_PODS);
}

async function podFacts(rows: readonly CallRow[], pods: PodLookup, world: DoctorWorld): Promise<PodFacts[]> {
  const facts: PodFacts[] = [];
  for (const { pod, netns } of redirectedPods(rows)) {
    try {
      const found = await differencesOf(pod, netns, pods, world);
      if (found !== undefined) facts.push({ pod, netns, differences: found });
    } catch (error) {
      if (!(error instanceof PodSourceError)) throw error;
      // The node would not answer for the other pods either, and each pod would cost a wait.
      facts.push({
        pod,
        netns,
        differences: [`its rules, and those of others, could not be compared: ${error.message}`],
      });
      break;
    }
  }
  return facts;
}

/** Undefined for a pod that is gone: the runtime may have lost the pod's DEL, for example by a restart of the node. */
async function differencesOf(
  name: string,
  netns: string,
  pods: PodLookup,
  world: DoctorWorld,
): Promise<string[] | undefined> {
  const [namespace = "", pod = ""] = name.split("/");
  try {
    const found = await pods.pod(namespace, pod);
    if (found === undefined) return undefined;
    const decision = decide(found, NO_AMBIENT, {});
    if (decision.do !== "redirect") return [`it has rules, but would not be redirected now`];
    return await asked(world, (redirector) => redirector.check(netns, podRedirection(found, decision.proxy)));
  } catch (error) {
    if (error instanceof PodSourceError) throw error;
    const details = error instanceof CniError ? error.details : "";
    return [`its rules could not be compared: ${[errorMessage(error), details].filter((t) => t !== "").join(": ")}`];
  }
}

/** Asks a new redirector, because a redirector caches its reads. */
async function asked<T>(
  world: Pick<DoctorWorld, "redirector">,
  ask: (redirector: Redirector) => Promise<T>,
): Promise<T> {
  const redirector = world.redirector();
  try {
    return await ask(redirector);
  } finally {
    await redirector.end();
  }
}
