/**
 * The options of watching a folder, and the handle of a watched folder.
 *
 * @module
 */
import type { Clock } from "../kernel/time/clock.ts";
import type { FolderOptions } from "./file.ts";
import type { FolderChanges, FolderIndex } from "./index.ts";

/** How to watch a folder. */
export interface WatchOptions {
  /** Path of the folder. */
  readonly root: string;
  readonly parse: FolderOptions;
  /** Times how long files are held back (see `./held_back.ts`). Default: the machine's clock. */
  readonly clock?: Pick<Clock, "after">;
  /**
   * Gets each batch of changes in order, and the present content before `watchFolder` resolves. The next batch waits
   * for the promise. Must not throw, except for the signal's reason; the signal aborts when watching ends.
   */
  readonly onChanges: (changes: FolderChanges, signal: AbortSignal) => Promise<void> | void;
  /**
   * Called when changes give no events, for example while a named pipe holds the runtime's watcher. Sweeps then find
   * changes.
   */
  readonly onDeaf?: () => void;
  /** Called when the folder goes missing (`false`) and is back (`true`). */
  readonly onPresence?: (present: boolean) => void;
}

export interface WatchedFolder {
  /** The present objects and problems. */
  readonly index: FolderIndex;
  /**
   * Reads the present content of the folder without waiting for events, by a sweep; concurrent callers share a sweep.
   * @returns when all earlier writes have been read and reported, with the files that are held back (see `./held_back.ts`)
   */
  settled(): Promise<void>;
  /** Ends watching; resolves when nothing runs any more. */
  stop(): Promise<void>;
}
