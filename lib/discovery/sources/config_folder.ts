/**
 * Configuration from a folder: files to a source of the store and one of the facts, findings to the log.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { StoreSource } from "../../config/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isReadFrom } from "../../folder/document_ranges.ts";
import type { PassedOver } from "../../folder/index.ts";
import { watchFolder } from "../../folder/watch.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { paced } from "../../kernel/time/paced.ts";
import { logFindings } from "./finding_log.ts";

export interface ConfigFolder {
  /** Name of the source: the folder's path. */
  readonly name: string;
  /** The present findings about the folder. */
  findings(): Iterable<Finding>;
  /** The documents of the folder that are neither configuration nor facts, by kind. */
  passedOver(): ReadonlyMap<string, PassedOver>;
  /** Whether the present text of an object is refused, so that its last good version is in force. */
  isStale(object: ConfigObject): boolean;
  /** Whether the objects of a file were read from these bytes. */
  isAsRead(file: string, bytes: Uint8Array): boolean;
  /** Resolves when the present content of the folder has been read and handed on. */
  settled(): Promise<void>;
  /** Since when the folder is gone, milliseconds since the epoch; undefined: the folder is there. */
  goneSince(): number | undefined;
  stop(): Promise<void>;
}

/** The targets of a folder's objects. */
export interface FolderTarget {
  /** The name of the source is the folder's path. */
  readonly objects: StoreSource;
  readonly facts: StoreSource<Fact>;
  /** Keys the hashes of facts; see `FactOptions`. */
  readonly digestKey: Uint8Array;
  /** Whether a finding is reported. Default: all are. */
  readonly reports?: (finding: Finding) => boolean;
}

/**
 * Reads a folder into its sources and keeps them up to date.
 *
 * @param handedOn Resolves when the store's changes have been handed on.
 * @returns When the whole folder has been handed on once.
 * @throws Deno.errors.NotFound and others when the folder cannot be read at the start.
 */
export async function startConfigFolder(
  { objects, facts, digestKey, reports = () => true }: FolderTarget,
  handedOn: () => Promise<void>,
  kernel: Pick<Kernel, "log" | "metrics" | "clock">,
): Promise<ConfigFolder> {
  const log = kernel.log.scope("file");
  const { name } = objects;
  let gone: number | undefined;
  const folder = await watchFolder({
    root: name,
    parse: { defaultNamespace: "default", source: name, facts: { digestKey } },
    clock: kernel.clock,
    onChanges: async (changes, signal) => {
      const { appeared, resolved } = changes;
      await paced(logFindings({ appeared: appeared.filter(reports), resolved: resolved.filter(reports) }, kernel), {
        signal,
      });
      // Facts first: a listener for a changed object then finds the facts from the same file.
      facts.apply(changes.facts);
      objects.apply(changes);
      await handedOn();
    },
    onDeaf: () => {
      log.warn("changes of the configuration folder give no events now; the folder is searched each second", {
        folder: name,
        expected: "no named pipe in a watched folder",
      });
    },
    onPresence: (present) => {
      gone = present ? undefined : kernel.clock.now();
      if (present) log.info("the configuration folder is back", { folder: name });
      else log.error("the configuration folder is gone; its objects stay in force", { folder: name });
    },
  });
  const passedOver = folder.index.passedOver();
  if (passedOver.size > 0) log.info(`passed over: ${listed(passedOver)}`, { folder: name });
  return {
    name,
    passedOver: () => folder.index.passedOver(),
    findings: () => folder.index.findings().filter(reports),
    isStale: ({ key, origin }) =>
      origin.from === "file" && origin.source === name && (folder.index.file(origin.file)?.stale.has(key) ?? false),
    isAsRead: (path, bytes) => {
      const state = folder.index.file(path);
      return state !== undefined && isReadFrom(state, bytes);
    },
    goneSince: () => gone,
    settled: () => folder.settled(),
    stop: () => folder.stop(),
  };
}

/** Most kinds in one log line. */
const SORTS_NAMED = 12;

/** `6 Ingress, 1 HTTPRoute`: the most frequent first. */
function listed(passedOver: ReadonlyMap<string, PassedOver>): string {
  const sorts = [...passedOver].sort(([a, { count: x }], [b, { count: y }]) => y - x || (a < b ? -1 : 1));
  const named = sorts.slice(0, SORTS_NAMED).map(([label, { count }]) => `${count} ${label}`);
  const others = sorts.slice(SORTS_NAMED).reduce((sum, [, { count }]) => sum + count, 0);
  return [...named, ...(others > 0 ? [`${others} of ${sorts.length - SORTS_NAMED} other kinds`] : [])].join(", ");
}
