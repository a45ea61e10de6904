/**
 * Repairs broken pods: deletes them, so that their owner makes new ones, or labels them for people.
 *
 * Each pod has one owner: a loop that works on its latest state until that needs nothing.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { Pod } from "../pods/pod.ts";
import { type PodSource, PodSourceError } from "../pods/source.ts";
import { isBroken, repairFilter, type RepairOptions } from "./broken.ts";

/** What repair works with. */
export interface RepairWorld {
  readonly pods: PodSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Name of the cluster, for metrics. */
  readonly cluster: string;
}

/** How often one state of a pod is tried. */
const ATTEMPTS = 5;

/** First wait between attempts, milliseconds; each further one is twice as long. */
const FIRST_WAIT_MS = 200;

/** Watches and repairs until the signal aborts. */
export async function runRepair(options: RepairOptions, world: RepairWorld, signal: AbortSignal): Promise<void> {
  if (!options.deletePods && !options.labelPods) {
    world.log.info("broken pods are neither deleted nor labelled: nothing to repair");
    return;
  }
  const latest = new Map<string, Pod | undefined>();
  const owners = new Map<string, Promise<void>>();
  const own = async (key: string) => {
    while (latest.has(key)) {
      const pod = latest.get(key);
      latest.delete(key);
      if (pod !== undefined) await repairPod(pod, options, world, signal, () => latest.has(key));
    }
  };
  const ensureOwner = (key: string) => {
    if (owners.has(key) || !latest.has(key)) return;
    const ended = own(key).finally(() => {
      owners.delete(key);
      // Changes between its last look and now.
      ensureOwner(key);
    });
    owners.set(key, ended);
  };
  for await (const event of world.pods.watch(repairFilter(options), signal, tellOfTrouble(world))) {
    const key = event.type === "pod" ? `${event.pod.namespace}/${event.pod.name}` : `${event.namespace}/${event.name}`;
    latest.set(key, event.type === "pod" && isBroken(event.pod, options) ? event.pod : undefined);
    ensureOwner(key);
  }
  await Promise.all(owners.values());
}

/** Every attempt that fails is counted; a fault that lasts is reported once. */
function tellOfTrouble({ log, metrics, cluster }: RepairWorld): (error: PodSourceError) => void {
  let last: string | undefined;
  return ({ message }) => {
    metrics.counter("controller_sync_errors_total").inc({ cluster });
    if (message !== last) log.warn("pods cannot be watched for repair; the installer tries again", { why: message });
    last = message;
  };
}

async function repairPod(
  pod: Pod,
  options: RepairOptions,
  world: RepairWorld,
  signal: AbortSignal,
  outdated: () => boolean,
): Promise<void> {
  const type = options.deletePods ? "delete" : "label";
  const counter = world.metrics.counter("mesh_cni_repair_pods_repaired_total");
  const log = world.log.with({ pod: `${pod.namespace}/${pod.name}` });
  if (type === "label" && Object.hasOwn(pod.labels, options.labelKey)) {
    counter.inc({ type, result: "skip" });
    return;
  }
  const reason = options.deletePods ? "DeleteBrokenPod" : "LabelBrokenPod";
  for (let attempt = 1, wait = FIRST_WAIT_MS; attempt <= ATTEMPTS && !outdated() && !signal.aborted; attempt++) {
    try {
      if (options.deletePods) await world.pods.remove(pod);
      else await world.pods.label(pod, options.labelKey, options.labelValue);
      counter.inc({ type, result: "success" });
      log.info("broken pod repaired", { by: type });
      await note(pod, reason, `pod detected as broken, ${type === "delete" ? "deleted" : "labeled"}`, world);
      return;
    } catch (error) {
      const status = error instanceof PodSourceError ? error.status : undefined;
      const said = error instanceof Error ? error.message : String(error);
      counter.inc({ type, result: "fail" });
      log.warn("broken pod could not be repaired", { by: type, attempt, error });
      // It changed or went meanwhile: the watch brings its present state.
      if (status === 404 || status === 409) return;
      if (attempt === ATTEMPTS) {
        await note(pod, reason, `pod detected as broken, but failed to ${type}: ${said}`, world);
      } else await world.clock.sleep(wait, signal).catch(() => {});
      wait *= 2;
    }
  }
}

/** Publishes an event; a repair does not depend on it. */
async function note(pod: Pod, reason: string, message: string, world: RepairWorld): Promise<void> {
  try {
    await world.pods.note(pod, { reason, message });
  } catch (error) {
    world.log.debug("the event could not be written", { error });
  }
}
