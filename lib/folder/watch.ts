/**
 * Reads a folder of configuration and watches it. `./index.ts` reads the meaning of the bytes.
 *
 *     file system events ──> set of paths ──> stat, read ──> FolderIndex ──> onChanges
 *
 * No event waits for a fixed delay: events that arrive during the read of a batch make the next batch. Only a file that
 * looks half-written or has disappeared waits, for its next event or a moment (see `./held_back.ts`). While the folder
 * itself is missing, its content is kept. A large batch is parsed in steps, and the event loop turns between steps.
 *
 * Events get lost (see `./sweep.ts`), so the whole folder is swept regularly: the identity of each file (see
 * `./files.ts`) is compared with the identity at the last read, and differing files are read.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import { factsOf, realPathOf } from "../kernel/files/regular.ts";
import { systemClock } from "../kernel/time/clock.ts";
import { paced } from "../kernel/time/paced.ts";
import { type FileLook, FolderFiles } from "./files.ts";
import { HeldBack, type HoldReason } from "./held_back.ts";
import { type FileRead, FolderIndex } from "./index.ts";
import { scanTaskOf } from "./paths.ts";
import { SweepPlan } from "./sweep.ts";
import { TreeEvents } from "./tree.ts";
import type { WatchedFolder, WatchOptions } from "./watched_folder.ts";

/** How often the folder's identity is checked, ms: no event reports the removal or replacement of the folder. */
const IDENTITY_CHECK_MS = 1000;
/**
 * Reads the folder and goes on watching the folder.
 * @returns when the present content has been read and reported once
 * @throws Deno.errors.NotFound, NotADirectory or PermissionDenied when the folder cannot be read at the start
 */
export async function watchFolder(options: WatchOptions): Promise<WatchedFolder> {
  const folder = new Folder(options);
  await folder.attach();
  return { index: folder.index, settled: () => folder.settled(), stop: () => folder.stop() };
}

class Folder {
  readonly index: FolderIndex;
  readonly #options: WatchOptions;
  /** The files at the folder's real path. Symbolic links are resolved by `attach`. */
  #files = new FolderFiles("");
  #identity = "";
  readonly #events = new TreeEvents((event) => this.#hear(event));
  #work: Promise<void> | undefined;
  #dirty = new Set<string>();
  readonly #held: HeldBack;
  #check: ReturnType<typeof setTimeout> | undefined;
  #checking: Promise<void> | undefined;
  /** Callers waiting for a sweep that has not begun. */
  readonly #askers: (() => void)[] = [];
  /** Callers whose sweep is done, and the files that were held back then. Files of later writes are not waited for. */
  readonly #swept = new Map<() => void, Set<string>>();
  readonly #sweeps = new SweepPlan();
  #sweep: ReturnType<typeof setTimeout> | undefined;
  readonly #ending = new AbortController();

  constructor(options: WatchOptions) {
    this.#options = options;
    this.index = new FolderIndex(options.parse);
    this.#held = new HeldBack(options.clock ?? systemClock, (path) => {
      this.#dirty.add(path);
      void this.#schedule();
    });
  }

  /** Watches first and then reads, so that no change is missed in between. */
  async attach(): Promise<void> {
    const { signal } = this.#ending;
    const { real, info } = await this.#root();
    if (!info.isDirectory) throw new Deno.errors.NotADirectory(`${this.#options.root} is not a folder`);
    const identity = identityOf(real, info);
    if (identity !== this.#identity) this.#files = new FolderFiles(real, signal);
    this.#identity = identity;
    await this.#events.watch(real);
    if (signal.aborted) await this.#events.close();
    signal.throwIfAborted();
    this.#dirty.add("");
    await this.#schedule();
    while (this.#dirty.size > 0) await this.#schedule();
    this.#checkLater();
  }

  async settled(): Promise<void> {
    await this.#checking; // The check under way may have looked before the caller's write.
    await this.#checkNow();
    if (this.#ending.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#askers.push(resolve);
    this.#dirty.add("");
    void this.#schedule();
    await promise;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#check);
    clearTimeout(this.#sweep);
    this.#held.stop();
    await this.#events.close();
    await this.#work;
    for (const done of [...this.#swept.keys(), ...this.#askers]) done();
  }

  #hear(event: Deno.FsEvent): void {
    this.#sweeps.event();
    if (event.kind === "access") return;
    if (event.flag === "rescan") this.#dirty.add("");
    for (const path of event.paths) this.#note(path);
    void this.#schedule();
  }

  #note(path: string): void {
    const { root } = this.#files;
    if (path !== root && !path.startsWith(`${root}/`)) return;
    const task = scanTaskOf(path.slice(root.length + 1));
    if (task.kind !== "nothing") this.#dirty.add(task.path);
  }

  /** Runs batches until none is left; at most one run at a time. */
  #schedule(): Promise<void> {
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined;
      if (this.#dirty.size > 0 && !this.#ending.signal.aborted) void this.#schedule();
    });
    return this.#work;
  }

  async #run(): Promise<void> {
    while (this.#dirty.size > 0 && !this.#ending.signal.aborted) {
      const batch = this.#dirty;
      const due = this.#held.takeDue();
      const askers = batch.has("") ? this.#askers.splice(0) : [];
      this.#dirty = new Set();
      const isSweep = batch.has("");
      if (isSweep) this.#sweeps.begin(performance.now());
      const { changed, gone } = await this.#changesAmong(batch);
      if (isSweep) {
        this.#sweeps.end(performance.now());
        this.#events.found(this.#files.found);
        this.#sweeps.blind = this.#events.isBlind;
      }
      if (!await this.#handOn(changed, gone, due)) return;
      for (const asker of askers) this.#swept.set(asker, new Set(this.#held.paths));
      this.#answer();
    }
    this.#sweepLater();
  }

  /**
   * Reads and parses files and reports the changes, in steps; false when watching ended meanwhile.
   *
   * @param due Files that have been held back long enough.
   */
  async #handOn(
    changed: readonly FileLook[],
    missing: readonly string[],
    due: ReadonlyMap<string, HoldReason>,
  ): Promise<boolean> {
    const { signal } = this.#ending;
    const admit = (read: FileRead) => this.#held.admit(read, this.index.file(read.path), due) ?? [];
    const reading = this.index.begin();
    const gone = missing.flatMap((path) => admit({ path, bytes: undefined }));
    let taken = 0;
    const take = async (reads: readonly FileRead[]) => {
      taken += reads.length;
      await paced(reading.take(reads), { signal });
    };
    try {
      for await (const some of this.#files.readAll(changed)) {
        const reads = some.flatMap(admit);
        gone.push(...reads.filter((read) => read.bytes === undefined));
        await take(reads.filter((read) => read.bytes !== undefined));
      }
      // A missing folder removes nothing: the folder may be about to come back.
      if (gone.length > 0 && await this.#isPresent()) await take(gone);
      if (taken > 0) await this.#options.onChanges(await paced(reading.end(), { signal }), signal);
      return true;
    } catch (error) {
      if (!signal.aborted) throw error;
      return false;
    }
  }

  /** Answers the callers whose files are held back no longer. */
  #answer(): void {
    for (const [done, left] of this.#swept) {
      for (const path of left) if (!this.#held.has(path)) left.delete(path);
      if (left.size > 0) continue;
      this.#swept.delete(done);
      done();
    }
  }

  /** Sweeps at the time of the plan; at most one sweep waits. */
  #sweepLater(): void {
    const wait = this.#sweeps.wait(performance.now());
    if (wait === undefined || this.#sweep !== undefined || this.#ending.signal.aborted) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      this.#dirty.add("");
      void this.#schedule();
    }, wait);
    this.#sweep.unref();
  }

  /** The files at or below some paths that may have changed, sorted, and the files that are gone. */
  async #changesAmong(paths: ReadonlySet<string>): Promise<{ changed: FileLook[]; gone: string[] }> {
    const files = new Set<string>();
    const missing = new Set<string>();
    for (const path of paths) await this.#visit(path, files, missing);
    const gone = [...missing].filter((path) => !files.has(path));
    for (const path of gone) this.#files.forget(path);
    const looks = await this.#files.lookAll([...files].sort());
    return { changed: looks.filter(({ path, differs }) => differs || paths.has(path)), gone };
  }

  /** Finds the files at or below a path, and the known files there that are gone. */
  async #visit(path: string, files: Set<string>, gone: Set<string>): Promise<void> {
    const { files: found, unanswered } = await this.#files.find(path);
    const prefix = path === "" ? "" : `${path}/`;
    const mayBeThere = (known: string) => unanswered.some((one) => one === "" || known.startsWith(`${one}/`));
    if (!found.has(path)) {
      for (const known of this.index.paths) {
        if (!(known === path || known.startsWith(prefix)) || found.has(known) || mayBeThere(known)) continue;
        gone.add(known);
      }
    }
    for (const file of found) files.add(file);
  }

  async #isPresent(): Promise<boolean> {
    return (await this.#currentIdentity()) === this.#identity;
  }

  async #currentIdentity(): Promise<string> {
    try {
      const { real, info } = await this.#root();
      return identityOf(real, info);
    } catch {
      return ""; // Missing, or without an answer: there is nothing to read now.
    }
  }

  async #root(): Promise<{ readonly real: string; readonly info: Deno.FileInfo }> {
    const { signal } = this.#ending;
    const real = await realPathOf(this.#options.root, { signal });
    return { real, info: await factsOf(real, { signal }) };
  }

  #checkLater(): void {
    if (this.#ending.signal.aborted) return;
    this.#check = setTimeout(() => void this.#checkNow(), IDENTITY_CHECK_MS);
    this.#check.unref();
  }

  #checkNow(): Promise<void> {
    clearTimeout(this.#check);
    return this.#checking ??= this.#checkIdentity().finally(() => this.#checking = undefined);
  }

  /** Attaches anew when the folder was replaced, or was missing and is back. */
  async #checkIdentity(): Promise<void> {
    const now = await this.#currentIdentity();
    if (this.#ending.signal.aborted) return;
    const same = now === this.#identity && this.#events.isOn;
    const sees = same && await this.#events.seesAgain();
    if (same && await this.#events.wentDeaf()) {
      this.#options.onDeaf?.();
      this.#dirty.add("");
      void this.#schedule();
    }
    this.#sweeps.blind = this.#events.isBlind;
    if (same && !sees) {
      this.#sweepLater();
      return this.#checkLater();
    }
    if (this.#events.isOn) {
      await this.#events.close();
      if (now === "") this.#options.onPresence?.(false);
    }
    if (now === "" || this.#ending.signal.aborted) return this.#checkLater();
    try {
      await this.attach();
      if (!same) this.#options.onPresence?.(true);
    } catch {
      await this.#events.close(); // The folder has gone again between the check and the attempt; the next check tries again.
      this.#checkLater();
    }
  }
}

function identityOf(real: string, info: Deno.FileInfo): string {
  return `${real}:${info.dev}:${info.ino}`;
}
