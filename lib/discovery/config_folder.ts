/**
 * Configuration from a folder: files to a source of the store, findings to the log.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import type { Finding } from "../config/finding/finding.ts";
import type { StoreSource } from "../config/store.ts";
import type { ConfigObject } from "../config/types.ts";
import { watchFolder } from "../folder/watch.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { paced } from "../kernel/time/paced.ts";
import { logFindings } from "./finding_log.ts";

/** A folder that feeds a store. */
export interface ConfigFolder {
  /** Name of the source: the folder's path. */
  readonly name: string;
  /** The present findings about the folder. */
  findings(): Iterable<Finding>;
  /** Whether an object of the folder is in force in its last good version only, because the present text is refused. */
  isStale(object: ConfigObject): boolean;
  /** Resolves when everything that lies in the folder now has been read and handed on. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Reads a folder into a source and keeps it up to date.
 *
 * @param source Has the folder's path as its name.
 * @param handedOn Resolves when what the store has taken in has been handed on.
 * @returns When everything in the folder has been handed on once.
 * @throws Deno.errors.NotFound and others when the folder cannot be read at the start.
 */
export async function startConfigFolder(
  source: StoreSource,
  handedOn: () => Promise<void>,
  kernel: Kernel,
): Promise<ConfigFolder> {
  const log = kernel.log.scope("file");
  const { name } = source;
  const folder = await watchFolder({
    root: name,
    parse: { defaultNamespace: "default", source: name },
    onChanges: async (changes, signal) => {
      await paced(logFindings(changes, kernel), { signal });
      source.apply(changes);
      await handedOn();
    },
    onPresence: (present) => {
      if (present) log.info("the configuration folder is back", { folder: name });
      else log.error("the configuration folder is gone; its objects stay in force", { folder: name });
    },
  });
  return {
    name,
    findings: () => folder.index.findings(),
    isStale: ({ key, origin }) =>
      origin.from === "file" && origin.source === name && (folder.index.file(origin.file)?.stale.has(key) ?? false),
    settled: () => folder.settled(),
    stop: () => folder.stop(),
  };
}
