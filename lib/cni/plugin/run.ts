/**
 * A call, from its values to the answer for the runtime.
 *
 * Fail closed: a fault that keeps an injected pod from being redirected is an error. The runtime then takes the pod's
 * network away again and tries later. There is no way to a network past the proxy.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { protocolVersions } from "../config/network.ts";
import type { Pod } from "../pods/pod.ts";
import { type PodLookup, PodSourceError } from "../pods/source.ts";
import type { PluginCall, PodName } from "./call.ts";
import { decide, decideByName, type Decision } from "./decide.ts";
import { missingAddresses, podAddresses } from "./ownership.ts";
import { CniError, codes, NEWEST, resultText } from "./protocol.ts";
import { type PodRedirection, podRedirection } from "./redirection.ts";
import type { NamespaceView, Redirector } from "./redirector.ts";

/** The inputs of a call. */
export interface CallWorld {
  /** Pods; made when a pod is asked for. Throws when the node has no credentials. */
  readonly pods: () => PodLookup;
  readonly redirector: Redirector;
  /** Hands a pod of the node tunnel to the node agent. */
  readonly tellAgent: (call: PluginCall, pod: PodName) => Promise<void>;
  /**
   * The identity of the namespace at a path, to notice that the namespace was replaced. Undefined: the namespace cannot
   * be seen.
   */
  readonly identityOf: (netns: string) => string | undefined;
  /** A monotonic clock, milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Logs a step. */
  readonly said: (outcome: string) => void;
}

/** Waits between questions about a pod, milliseconds. */
const WAITS = [100, 200, 400, 800, 1500, 2000];

/**
 * Time for the beginning of the last question about a pod, milliseconds, however slow earlier answers were. Runtimes
 * try again by themselves, and report the reason. A waiting process holds 60 MB of the node's memory.
 */
const PATIENCE_MS = 5000;

/**
 * Logged for a pod whose namespace could not be compared: the plugin was called alone, or after a plugin without a
 * result.
 */
const UNVERIFIED = "the runtime gave no address of the pod, so that it is not known whether the namespace is the pod's";

/** Carries out a call. Resolves with the text for standard output. */
export async function runCall(call: PluginCall, world: CallWorld): Promise<string> {
  const { config } = call;
  switch (call.command) {
    case "VERSION":
      return JSON.stringify({ cniVersion: config.version || NEWEST, supportedVersions: protocolVersions }) + "\n";
    case "STATUS":
      await status(world);
      return "";
    case "ADD":
      await add(call, world);
      return resultText(config.previous, config.version);
    case "CHECK":
      await check(call, world);
      return "";
    case "DEL":
    case "GC":
      // Rules disappear with the pod's namespace, and nothing is kept outside of the namespace.
      world.said("nothing is kept");
      return "";
  }
}

/**
 * Whether this node can set up redirection. Neither the orchestrator nor the node agent is asked: after the answer
 * "no", a node would not start the pod that repairs the node.
 */
async function status(world: CallWorld): Promise<void> {
  const obstacles = await world.redirector.obstacles();
  if (obstacles.length > 0) {
    throw new CniError(codes.notAvailable, "redirection cannot be set up", obstacles.join("; "));
  }
}

async function add(call: PluginCall, world: CallWorld): Promise<void> {
  const judged = await judge(call, world);
  if (judged.do === "pass") return world.said(`passed on: ${judged.why}`);
  if (judged.do === "ambient") {
    await tellAgent(call, world);
    return world.said("handed to the node agent");
  }
  const { wanted } = judged;
  const before = world.identityOf(call.netns);
  const verified = await verifyNamespace(call, world);
  let done: string;
  try {
    done = await world.redirector.apply(call.netns, wanted);
  } catch (error) {
    throw new CniError(codes.rules, "redirection could not be set up, so the pod gets no network", errorMessage(error));
  }
  if (world.identityOf(call.netns) !== before) {
    throw new CniError(codes.wrongNamespace, `${call.netns} became another network namespace during the call`);
  }
  world.said(["redirected", done, ...verified ? [] : [UNVERIFIED], ...wanted.warnings].join("; "));
}

async function check(call: PluginCall, world: CallWorld): Promise<void> {
  const judged = await judge(call, world);
  if (judged.do !== "redirect") return world.said("nothing to check");
  await verifyNamespace(call, world);
  const lines = await world.redirector.check(call.netns, judged.wanted);
  if (lines.length > 0) {
    throw new CniError(codes.drift, "the pod's redirection is not as it should be", lines.join("; "));
  }
  world.said("rules are as expected");
}

type Judged = Exclude<Decision, { do: "redirect" }> | { readonly do: "redirect"; readonly wanted: PodRedirection };

/** The decision for the call's pod. The pod's namespace is examined meanwhile. */
async function judge(call: PluginCall, world: CallWorld): Promise<Judged> {
  const early = decideByName(call.pod, call.config);
  if (early !== undefined && early.do !== "redirect") return early;
  // The examination takes about as long as the look-up of the pod. The namespace is asked again where the answer
  // counts.
  world.redirector.look(call.netns).catch(() => {});
  const name = call.pod as PodName;
  const pods = lookup(world);
  const pod = await findPod(name, pods, world);
  const labels = call.config.ambientEnabled
    ? await asked(`namespace ${name.namespace}`, () => pods.namespaceLabels(name.namespace)) ?? {}
    : {};
  const decision = decide(pod, call.config, labels);
  return decision.do === "redirect" ? { do: "redirect", wanted: podRedirection(pod, decision.proxy) } : decision;
}

function lookup(world: CallWorld): PodLookup {
  try {
    return world.pods();
  } catch (error) {
    throw new CniError(codes.tryAgain, "the node has no credentials for the orchestrator yet", errorMessage(error));
  }
}

async function findPod(name: PodName, pods: PodLookup, world: CallWorld): Promise<Pod> {
  const shown = `${name.namespace}/${name.name}`;
  const end = world.now() + PATIENCE_MS;
  let last: unknown;
  for (const wait of [...WAITS, undefined]) {
    try {
      const pod = await pods.pod(name.namespace, name.name);
      if (pod !== undefined && isThatPod(pod, name)) return pod;
      last = pod === undefined ? "there is no such pod" : `the pod of that name has uid ${pod.uid}, not ${name.uid}`;
    } catch (error) {
      if (error instanceof PodSourceError && !error.transient) {
        throw new CniError(codes.io, `pod ${shown} could not be looked up`, error.message);
      }
      last = error;
    }
    if (wait === undefined || world.now() + wait > end) break;
    await world.sleep(wait);
  }
  throw new CniError(codes.tryAgain, `pod ${shown} could not be looked up`, errorMessage(last));
}

/**
 * Whether the orchestrator's pod is the runtime's: a new pod may have the name of an old one. Static pods have the
 * node's uid. The orchestrator keeps this uid in an annotation of its copy.
 */
export function isThatPod(pod: Pick<Pod, "uid" | "annotations">, name: Pick<PodName, "uid">): boolean {
  if (name.uid === "" || pod.uid === name.uid) return true;
  return ["kubernetes.io/config.hash", "kubernetes.io/config.mirror"].some((key) => pod.annotations[key] === name.uid);
}

async function asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new CniError(codes.tryAgain, `${what} could not be looked up`, errorMessage(error));
  }
}

/** The namespace must have the pod's addresses. Resolves with false when the call names none. */
async function verifyNamespace(call: PluginCall, world: CallWorld): Promise<boolean> {
  let seen: NamespaceView;
  try {
    seen = await world.redirector.look(call.netns);
  } catch (error) {
    throw new CniError(codes.io, `network namespace ${call.netns} cannot be entered`, errorMessage(error));
  }
  if (seen.isNode) {
    throw new CniError(codes.wrongNamespace, `network namespace ${call.netns} is the node's own, not the pod's`);
  }
  const missing = missingAddresses(call.config.previous, seen.addresses);
  if (missing.length > 0) {
    throw new CniError(
      codes.wrongNamespace,
      `network namespace ${call.netns} is not the pod's`,
      `it lacks ${missing.join(", ")}, which the pod was given`,
    );
  }
  return podAddresses(call.config.previous).length > 0;
}

async function tellAgent(call: PluginCall, world: CallWorld): Promise<void> {
  try {
    await world.tellAgent(call, call.pod as PodName);
  } catch (error) {
    throw new CniError(codes.tryAgain, "the node agent did not take the pod over", errorMessage(error));
  }
}
