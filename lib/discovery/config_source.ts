/**
 * Configuration from a folder: files to the store, the store's changes to the pipeline, findings to people.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import type { Finding } from "../config/finding/finding.ts";
import { watchFolder } from "../folder/watch.ts";
import { type ChangeSet, ConfigStore } from "../config/store.ts";
import type { ConfigObject, Kind } from "../config/types.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { paced } from "../kernel/time/paced.ts";
import { logFindings } from "./finding_log.ts";
import { HandOver } from "./hand_over.ts";
import { inertKinds, inertText } from "../translate/inert_kinds.ts";
import type { Pipeline } from "./pipeline.ts";
import { isUnenforced } from "./policies.ts";

/** A folder that feeds a pipeline. */
export interface ConfigSource {
  readonly store: ConfigStore;
  /** What is wrong in the folder now. */
  findings(): Iterable<Finding>;
  /** Whether an object is in force in its last good version only, since what is written now is refused. */
  isStale(object: ConfigObject): boolean;
  /** Resolves when everything that lies in the folder now has been read and handed to the pipeline. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Reads a folder into a store and keeps both the store and the pipeline up to date.
 *
 * @returns When everything in the folder has been handed to the pipeline once.
 * @throws Deno.errors.NotFound and others when the folder cannot be read at the start.
 */
export async function startConfigFolder(root: string, pipeline: Pipeline, kernel: Kernel): Promise<ConfigSource> {
  const log = kernel.log.scope("file");
  const store = new ConfigStore();
  const source = store.addSource(root, 0);
  const handOver = new HandOver(pipeline);
  const updates = kernel.metrics.counter("pilot_inbound_updates");
  store.subscribe((changes) => {
    updates.inc({ type: "config" }, changes.added.length + changes.updated.length + changes.removed.length);
    handOver.take(changes);
  });
  store.subscribe(inertKindsTold(store, kernel));
  const folder = await watchFolder({
    root,
    parse: { defaultNamespace: "default", source: root },
    onChanges: async (changes, signal) => {
      await paced(logFindings(changes, kernel), { signal });
      source.apply(changes);
      await handOver.done();
    },
    onPresence: (present) => {
      if (present) log.info("the configuration folder is back", { folder: root });
      else log.error("the configuration folder is gone; what it held stays in force", { folder: root });
    },
  });
  return {
    store,
    findings: () => folder.index.findings(),
    isStale: ({ key, origin }) => origin.from === "file" && (folder.index.file(origin.file)?.stale.has(key) ?? false),
    settled: () => folder.settled(),
    stop: () => {
      handOver.end();
      return folder.stop();
    },
  };
}

/** Tells of kinds that steer nothing, each when its first object comes; of policies `./policies.ts` tells one by one. */
function inertKindsTold(store: ConfigStore, kernel: Kernel): (changes: ChangeSet) => void {
  const told = new Set<Kind>();
  return () => {
    for (const kind of Object.keys(inertKinds) as Kind[]) {
      if (isUnenforced(kind)) continue;
      const objects = store.list(kind);
      if (objects.length === 0) told.delete(kind);
      else if (!told.has(kind)) {
        told.add(kind);
        const first = objects.slice(0, 10).map(({ key }) => key);
        kernel.log.scope("model").warn(inertText(kind) ?? "", { objects: first, count: objects.length });
      }
    }
  };
}
