/**
 * Repairs broken pods: redirects the pods in place, deletes the pods, so that their owner creates new pods, or labels
 * the pods for people.
 *
 * Each pod has a single owner: a loop that works on the pod's latest state until the state needs no repair.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { Pod } from "../pods/pod.ts";
import { type PodSource, PodSourceError } from "../pods/source.ts";
import { isBroken, repairFilter, type RepairOptions } from "./broken.ts";
import { redirectInPlace, type RepairPlace } from "./in_place.ts";

/** The environment of a repair. */
export interface RepairWorld {
  readonly pods: PodSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Name of the cluster, for metrics. */
  readonly cluster: string;
  /** The node of the redirected pods. */
  readonly place: RepairPlace;
}

/** A way to repair a pod, with the event and its words. */
interface RepairWay {
  readonly type: "repair" | "delete" | "label";
  readonly reason: string;
  readonly done: string;
  readonly act: (pod: Pod, options: RepairOptions, world: RepairWorld) => Promise<unknown>;
}

/** The ways, in order of precedence. */
const WAYS: readonly (RepairWay & { readonly wanted: (options: RepairOptions) => boolean })[] = [
  {
    wanted: ({ repairPods }) => repairPods,
    ...{ type: "repair", reason: "RepairBrokenPod", done: "redirected where it is" },
    act: (pod, _, { place }) => redirectInPlace(pod, place),
  },
  {
    wanted: ({ deletePods }) => deletePods,
    ...{ type: "delete", reason: "DeleteBrokenPod", done: "deleted" },
    act: (pod, _, { pods }) => pods.remove(pod),
  },
  {
    wanted: ({ labelPods }) => labelPods,
    ...{ type: "label", reason: "LabelBrokenPod", done: "labeled" },
    act: (pod, { labelKey, labelValue }, { pods }) => pods.label(pod, labelKey, labelValue),
  },
];

/** Attempts for one state of a pod. */
const ATTEMPTS = 5;

/** First wait between attempts, milliseconds. Each further wait is twice as long. */
const FIRST_WAIT_MS = 200;

/** Watches and repairs until the signal aborts. */
export async function runRepair(options: RepairOptions, world: RepairWorld, signal: AbortSignal): Promise<void> {
  const way = WAYS.find(({ wanted }) => wanted(options));
  if (way === undefined) {
    world.log.info("broken pods are neither redirected, deleted nor labelled: nothing to repair");
    return;
  }
  /** Redirected pods by uid. The pods count as broken until their validation container runs again. */
  const redirected = new Map<string, string>();
  const latest = new Map<string, Pod | undefined>();
  const owners = new Map<string, Promise<void>>();
  const own = async (key: string) => {
    while (latest.has(key)) {
      const pod = latest.get(key);
      latest.delete(key);
      if (pod === undefined || redirected.get(key) === pod.uid) continue;
      const done = await repairPod(pod, way, options, world, signal, () => latest.has(key));
      if (done && way.type === "repair") redirected.set(key, pod.uid);
    }
  };
  const ensureOwner = (key: string) => {
    if (owners.has(key) || !latest.has(key)) return;
    const ended = own(key).finally(() => {
      owners.delete(key);
      // Changes since the last look.
      ensureOwner(key);
    });
    owners.set(key, ended);
  };
  for await (const event of world.pods.watch(repairFilter(options), signal, tellOfTrouble(world))) {
    const key = event.type === "pod" ? `${event.pod.namespace}/${event.pod.name}` : `${event.namespace}/${event.name}`;
    if (event.type === "gone") redirected.delete(key);
    latest.set(key, event.type === "pod" && isBroken(event.pod, options) ? event.pod : undefined);
    ensureOwner(key);
  }
  await Promise.all(owners.values());
}

/** Every failed attempt is counted. A lasting fault is reported once. */
function tellOfTrouble({ log, metrics, cluster }: RepairWorld): (error: PodSourceError) => void {
  let last: string | undefined;
  return ({ message }) => {
    metrics.counter("controller_sync_errors_total").inc({ cluster });
    if (message !== last) log.warn("pods cannot be watched for repair; the installer tries again", { why: message });
    last = message;
  };
}

/** Resolves with true once the pod is repaired. */
async function repairPod(
  pod: Pod,
  { type, reason, done, act }: RepairWay,
  options: RepairOptions,
  world: RepairWorld,
  signal: AbortSignal,
  outdated: () => boolean,
): Promise<boolean> {
  const counter = world.metrics.counter("mesh_cni_repair_pods_repaired_total");
  const log = world.log.with({ pod: `${pod.namespace}/${pod.name}` });
  if (type === "label" && Object.hasOwn(pod.labels, options.labelKey)) {
    counter.inc({ type, result: "skip" });
    return false;
  }
  for (let attempt = 1, wait = FIRST_WAIT_MS; attempt <= ATTEMPTS && !outdated() && !signal.aborted; attempt++) {
    try {
      const said = await act(pod, options, world);
      counter.inc({ type, result: "success" });
      log.info("broken pod repaired", { by: type, ...typeof said === "string" && { said } });
      await note(pod, reason, `pod detected as broken, ${done}`, world);
      return true;
    } catch (error) {
      const status = error instanceof PodSourceError ? error.status : undefined;
      const said = errorMessage(error);
      counter.inc({ type, result: "fail" });
      log.warn("broken pod could not be repaired", { by: type, attempt, error });
      // The pod changed or disappeared meanwhile: the watch brings its present state.
      if (status === 404 || status === 409) return false;
      if (attempt === ATTEMPTS) {
        await note(pod, reason, `pod detected as broken, but failed to ${type}: ${said}`, world);
      } else await world.clock.sleep(wait, signal).catch(() => {});
      wait *= 2;
    }
  }
  return false;
}

/** Publishes an event. A repair does not depend on the event. */
async function note(pod: Pod, reason: string, message: string, world: RepairWorld): Promise<void> {
  try {
    await world.pods.note(pod, { reason, message });
  } catch (error) {
    world.log.debug("the event could not be written", { error });
  }
}
