/**
 * How a folder is watched, and what is known of a folder that is.
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
   * Gets each batch of changes in order, what is there at the start before `watchFolder` resolves. The next batch waits
   * for its promise. Must not throw, except for the reason of the signal, which aborts when watching ends.
   */
  readonly onChanges: (changes: FolderChanges, signal: AbortSignal) => Promise<void> | void;
  /** Told when the folder goes missing (`false`) and is back (`true`). */
  readonly onPresence?: (present: boolean) => void;
}

/** A folder that is watched. */
export interface WatchedFolder {
  /** Objects and problems as they are now. */
  readonly index: FolderIndex;
  /**
   * Reads what lies in the folder now, whatever events have told of it; costs one sweep, which all who ask meanwhile share.
   * @returns when everything that was written before the call has been read and reported, half-written files too
   */
  settled(): Promise<void>;
  /** Ends watching; resolves when nothing runs any more. */
  stop(): Promise<void>;
}
