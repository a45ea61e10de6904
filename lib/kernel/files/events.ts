/**
 * Events of folders, from a watcher that may go deaf.
 *
 * The runtime opens the path of every event before it hands the event on. Where that path is a named pipe, the open waits
 * for a writer, perhaps for ever. The process has one thread for all its watchers: no event of any folder comes any more,
 * and to watch another folder, or to end watching, would wait as well, on the thread of the event loop. So three things
 * are done here that the runtime does not do. A watcher is known to be deaf when a folder's time of change is later than
 * the last event; its owner looks for changes by itself then. {@linkcode mayWatch} says whether the runtime can be asked
 * for something. As long as it cannot, watchers stay as they are, and the process ends without closing them.
 *
 * Permissions: read of the folders.
 *
 * @module
 */
import { entriesOf, factsOf } from "./regular.ts";

/** How long an event may take after the change that it is about, ms. */
const GRACE_MS = 100;
/** Longest wait for the facts of one folder, ms. */
const LOOK_MS = 1000;
/** Folders that are looked at together. */
const AT_ONCE = 16;

/** Folders to be watched, and the listener. */
export interface FolderEventsOptions {
  readonly folders: readonly string[];
  /** With all that is below them. */
  readonly recursive: boolean;
  /** Must not throw. Not called any more once closing has begun. */
  readonly onEvent: (event: Deno.FsEvent) => void;
}

/** The runtime's watching thread, which all watchers of the process share. */
class WatchingThread {
  readonly watchers = new Set<FolderEvents>();

  /** False when it waits for a named pipe, or may begin to at any moment. */
  async answers(): Promise<boolean> {
    for (const watcher of this.watchers) if (await watcher.isDeaf() || await watcher.hasPipe()) return false;
    return true;
  }
}

const thread = new WatchingThread();

/** Whether folders can be watched, and watching can be ended, without a wait that may never end. */
export function mayWatch(): Promise<boolean> {
  return thread.answers();
}

/** A watcher of folders. To be made only where {@linkcode mayWatch} says so. */
export class FolderEvents {
  readonly #watcher: Deno.FsWatcher;
  readonly #onEvent: (event: Deno.FsEvent) => void;
  readonly #ended: Promise<void>;
  /** When the last event came, or watching began, ms since 1970 as in the times of folders. */
  #heard = Date.now();
  #isClosing = false;
  /** Folders whose times are looked at. */
  #folders: readonly string[];
  /** When each folder was changed that has been listed and has no named pipe. */
  readonly #listed = new Map<string, number>();

  /** @throws Deno.errors.NotFound, PermissionDenied and others, as the runtime's watcher */
  constructor({ folders, recursive, onEvent }: FolderEventsOptions) {
    this.#folders = folders;
    this.#onEvent = onEvent;
    this.#watcher = Deno.watchFs([...folders], { recursive });
    this.#ended = this.#listen();
    thread.watchers.add(this);
  }

  /** All folders that are watched, those below the given ones too. */
  alsoHas(folders: readonly string[]): void {
    this.#folders = folders;
    for (const folder of this.#listed.keys()) if (!folders.includes(folder)) this.#listed.delete(folder);
  }

  /** Whether something changed of which no event came. False where that cannot be told. */
  async isDeaf(): Promise<boolean> {
    const changed = await this.#changedAt();
    // A file system with a clock of its own that is ahead of ours says nothing about our events.
    if (changed === undefined || changed <= this.#heard || changed > Date.now() + GRACE_MS) return false;
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
    return changed > this.#heard;
  }

  /** Ends watching; resolves when no event is reported any more. */
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

  /** The latest time at which a folder was changed; undefined: a folder did not answer. */
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

/** When a folder was changed, ms since 1970; 0: it is gone, which its owner looks for; undefined: it does not answer. */
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
