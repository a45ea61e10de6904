/**
 * Events of folders, from a watcher that may go deaf.
 *
 * The runtime opens the path of every event before it reports the event. If the path is a named pipe, opening waits for
 * a writer, perhaps for ever. The process has one thread for all watchers, so from then on no folder gets an event.
 * Watching another folder or closing a watcher would wait as well, and on the thread of the event loop.
 *
 * So this module adds three things to the runtime's watcher. A watcher counts as deaf when a folder's time of change is
 * later than the last event; the owner of a deaf watcher must look for changes without events. {@linkcode mayWatch}
 * says whether calls to the runtime's watcher are safe. While calls are unsafe, watchers stay as they are, and the
 * process ends without closing the watchers.
 *
 * Permissions: read of the folders.
 *
 * @module
 */
import { entriesOf, factsOf } from "./regular.ts";

/** Longest delay of an event after its change, ms. */
const GRACE_MS = 100;
/** Longest wait for the metadata of a folder, ms. */
const LOOK_MS = 1000;
/** Number of folders examined together. */
const AT_ONCE = 16;

/** Folders to be watched, and the listener. */
export interface FolderEventsOptions {
  readonly folders: readonly string[];
  /** Whether to watch everything below the folders, too. */
  readonly recursive: boolean;
  /** Must not throw. Not called after closing has begun. */
  readonly onEvent: (event: Deno.FsEvent) => void;
}

/** The runtime's watching thread, shared by all watchers of the process. */
class WatchingThread {
  readonly watchers = new Set<FolderEvents>();

  /** False when the thread waits for a named pipe, or may start waiting at any moment. */
  async answers(): Promise<boolean> {
    for (const watcher of this.watchers) if (await watcher.isDeaf() || await watcher.hasPipe()) return false;
    return true;
  }
}

const thread = new WatchingThread();

/** Whether watching can begin and end without an endless wait. */
export function mayWatch(): Promise<boolean> {
  return thread.answers();
}

/** A watcher of folders. Create a watcher only after {@linkcode mayWatch} returned true. */
export class FolderEvents {
  readonly #watcher: Deno.FsWatcher;
  readonly #onEvent: (event: Deno.FsEvent) => void;
  readonly #ended: Promise<void>;
  /** Time of the last event or of the start of watching, ms since 1970 as in the times of folders. */
  #heard = Date.now();
  #isClosing = false;
  /** Folders to examine for times of change. */
  #folders: readonly string[];
  /** Time of change of each folder that was listed without finding a named pipe. */
  readonly #listed = new Map<string, number>();

  /** @throws {Deno.errors.NotFound}, PermissionDenied and others, as the runtime's watcher. */
  constructor({ folders, recursive, onEvent }: FolderEventsOptions) {
    this.#folders = folders;
    this.#onEvent = onEvent;
    this.#watcher = Deno.watchFs([...folders], { recursive });
    this.#ended = this.#listen();
    thread.watchers.add(this);
  }

  /** Sets all watched folders, including folders below the given folders. */
  alsoHas(folders: readonly string[]): void {
    this.#folders = folders;
    for (const folder of this.#listed.keys()) if (!folders.includes(folder)) this.#listed.delete(folder);
  }

  /** Whether a change happened without an event. False when the question cannot be answered. */
  async isDeaf(): Promise<boolean> {
    const changed = await this.#changedAt();
    // A file system with a clock ahead of the machine's clock proves nothing about missing events.
    if (changed === undefined || changed <= this.#heard || changed > Date.now() + GRACE_MS) return false;
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
    return changed > this.#heard;
  }

  /** Ends watching. Resolves when no further event is reported. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (!await mayWatch()) return;
    thread.watchers.delete(this);
    this.#watcher.close();
    await this.#ended;
  }

  /** Whether a folder has a named pipe, or does not answer. */
  async hasPipe(): Promise<boolean> {
    for (const folder of this.#folders) {
      const changed = await changeOf(folder);
      if (changed === undefined) return true;
      if (changed === this.#listed.get(folder)) continue;
      if (await hasPipe(folder)) return true;
      this.#listed.set(folder, changed);
    }
    return false;
  }

  async #listen(): Promise<void> {
    for await (const event of this.#watcher) {
      this.#heard = Date.now();
      if (!this.#isClosing) this.#onEvent(event);
    }
  }

  /** The latest time of change of a folder. Undefined when a folder does not answer. */
  async #changedAt(): Promise<number | undefined> {
    let latest = 0;
    for (let from = 0; from < this.#folders.length; from += AT_ONCE) {
      const times = await Promise.all(this.#folders.slice(from, from + AT_ONCE).map(changeOf));
      for (const time of times) {
        if (time === undefined) return undefined;
        latest = Math.max(latest, time);
      }
    }
    return latest;
  }
}

/**
 * Time of change of a folder, ms since 1970. 0 for a removed folder, which the owner detects. Undefined without an
 * answer.
 */
async function changeOf(folder: string): Promise<number | undefined> {
  try {
    const { mtime } = await factsOf(folder, { ms: LOOK_MS });
    return mtime?.getTime() ?? 0;
  } catch (error) {
    return isLate(error) ? undefined : 0;
  }
}

async function hasPipe(folder: string): Promise<boolean> {
  try {
    for (const { name, isFile, isDirectory } of await entriesOf(folder, { ms: LOOK_MS })) {
      if (isFile || isDirectory) continue;
      if (await factsOf(`${folder}/${name}`, { ms: LOOK_MS }).then(({ isFifo }) => isFifo === true, isLate)) {
        return true;
      }
    }
    return false;
  } catch (error) {
    return isLate(error);
  }
}

function isLate(error: unknown): boolean {
  return error instanceof Deno.errors.TimedOut;
}
