/**
 * Events of a whole folder, or of its readable part.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import { FolderEvents, mayWatch } from "../kernel/files/events.ts";

/** Part of the time spent on checks whether a watcher is deaf. */
const LISTEN_SHARE = 0.05;

/** Watches a folder and all folders below, by one watcher after another. */
export class TreeEvents {
  readonly #onEvent: (event: Deno.FsEvent) => void;
  #events: FolderEvents | undefined;
  #root = "";
  #listenAt = 0;
  /** Changes give no event now: see `lib/kernel/files/events.ts`. */
  #isDeaf = false;
  /** Only the uppermost folder is watched, because a folder below may not be read. */
  #isPartial = false;
  #hasPipe = false;

  /** @param onEvent Must not throw. */
  constructor(onEvent: (event: Deno.FsEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Whether a folder is watched, as far as possible. */
  get isOn(): boolean {
    return this.#events !== undefined || this.#isDeaf;
  }

  /** Whether some changes give no event. A watcher may go deaf at any time beside a named pipe. */
  get isBlind(): boolean {
    return this.#isPartial || this.#hasPipe || this.#isDeaf;
  }

  /**
   * Watches a folder and all folders below. The system refuses the watch if a folder below may not be read; then only
   * the root folder is watched.
   *
   * @throws Deno.errors.PermissionDenied when the root may not be read, and others
   */
  async watch(root: string): Promise<void> {
    const [folders, onEvent] = [[root], this.#onEvent];
    this.#root = root;
    this.#isDeaf = !await mayWatch();
    if (this.#isDeaf) return;
    try {
      this.#events = new FolderEvents({ folders, recursive: true, onEvent });
      this.#isPartial = false;
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      this.#events = new FolderEvents({ folders, recursive: false, onEvent });
      this.#isPartial = true;
    }
  }

  /** Notes the results of a sweep: all folders, and whether there is a named pipe. */
  found({ folders, hasPipe }: { readonly folders: readonly string[]; readonly hasPipe: boolean }): void {
    this.#hasPipe = hasPipe;
    this.#events?.alsoHas(this.#isPartial ? [this.#root] : folders);
  }

  /** Ends watching. */
  async close(): Promise<void> {
    const events = this.#events;
    this.#events = undefined;
    this.#isDeaf = false;
    await events?.close();
  }

  /** Whether the watcher has just missed a change, so that the folder must be swept. */
  async wentDeaf(): Promise<boolean> {
    const events = this.#events;
    const began = performance.now();
    if (events === undefined || began < this.#listenAt) return false;
    const was = this.#isDeaf;
    this.#isDeaf = await events.isDeaf();
    const now = performance.now();
    this.#listenAt = now + (now - began) / LISTEN_SHARE;
    return this.#isDeaf && !was;
  }

  /** Whether the whole folder can be watched again. */
  async seesAgain(): Promise<boolean> {
    const isUnwatched = this.isOn && this.#events === undefined;
    if (!(isUnwatched || this.#isPartial) || !await mayWatch()) return false;
    if (isUnwatched) return true;
    try {
      await new FolderEvents({ folders: [this.#root], recursive: true, onEvent: () => {} }).close();
      return true;
    } catch {
      return false; // The folder may have gone meanwhile: then the caller notices.
    }
  }
}
