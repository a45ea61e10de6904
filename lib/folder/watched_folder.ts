/**
 * The options of watching a folder, and the handle of a watched folder.
 *
 * @module
 */
import type { FolderOptions } from "./file.ts";
import type { FolderChanges, FolderIndex } from "./index.ts";

/** How to watch a folder. */
export interface WatchOptions {
  /** Path of the folder. */
  readonly root: string;
  readonly parse: FolderOptions;
  /**
   * Gets each batch of changes in order, the present content before `watchFolder` resolves. The next batch waits
   * for its promise. Must not throw, except for the reason of the signal, which aborts when watching ends.
   */
  readonly onChanges: (changes: FolderChanges, signal: AbortSignal) => Promise<void> | void;
  /** Called when changes give no event, as when a named pipe holds the runtime's watcher; sweeps find them then. */
  readonly onDeaf?: () => void;
  /** Called when the folder goes missing (`false`) and is back (`true`). */
  readonly onPresence?: (present: boolean) => void;
}

/** A folder that is watched. */
export interface WatchedFolder {
  /** Objects and problems as they are now. */
  readonly index: FolderIndex;
  /**
   * Reads the present content of the folder without waiting for events; costs one sweep, which concurrent callers
   * share.
   * @returns when everything that was written before the call has been read and reported, half-written files too
   */
  settled(): Promise<void>;
  /** Ends watching; resolves when nothing runs any more. */
  stop(): Promise<void>;
}
