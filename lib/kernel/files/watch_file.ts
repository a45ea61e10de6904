/**
 * Reads one file and watches it: mesh configuration, mesh networks.
 *
 * Events of its folder make a change visible at once, also the swap of a mounted config map; a look at the file's identity each second
 * catches changes that give no event (the folder removed or replaced, file systems without events).
 *
 * Permissions: read of the file and its folder.
 *
 * @module
 */

import { FolderEvents, mayWatch } from "./events.ts";
import { factsOf, readRegularText } from "./regular.ts";

/** How often the file's identity is looked at, ms. */
const LOOK_MS = 1000;
/**
 * How long a file that is gone, empty or without its last newline may stay so before that is reported, ms: it may be
 * half-written.
 */
const SETTLE_MS = 50;

/** The state of a watched file: its text; undefined: there is no such file; or why it cannot be read. */
export type FileText = string | undefined | { readonly unreadable: string };

/** A file that is watched. */
export interface WatchedFile {
  /** Ends watching; resolves when nothing runs any more. */
  stop(): Promise<void>;
}

/**
 * Reads a file, reports its text, and again whenever that changes.
 * @param onText Must not throw. Called once before this resolves.
 * @throws Deno.errors.PermissionDenied and others when the file's folder cannot be watched
 */
export async function watchFile(path: string, onText: (text: FileText) => void): Promise<WatchedFile> {
  const file = new File(path, onText);
  await file.start();
  return { stop: () => file.stop() };
}

class File {
  readonly #path: string;
  readonly #onText: (text: FileText) => void;
  #text: FileText;
  /** The last text: a file is as easily half-written after a removal as after an edit. */
  #written = "";
  #identity = "";
  #events: FolderEvents | undefined;
  readonly #ending = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(path: string, onText: (text: FileText) => void) {
    this.#path = path;
    this.#onText = onText;
  }

  async start(): Promise<void> {
    await this.#watch();
    this.#identity = await this.#look();
    this.#report(await this.#read());
    this.#lookLater();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#ending.abort(new Error("watching ended"));
    await this.#unwatch();
    await this.#work;
  }

  /** Watches the folder, when there is one; else the look each second must do. */
  async #watch(): Promise<void> {
    const slash = this.#path.lastIndexOf("/");
    const folder = slash < 0 ? "." : slash === 0 ? "/" : this.#path.slice(0, slash);
    try {
      // The runtime's watcher begins on the thread of the event loop: a folder that does not answer is found out here.
      await factsOf(folder);
      const onEvent = (event: Deno.FsEvent) => {
        if (event.kind !== "access") this.#refresh();
      };
      if (await mayWatch()) this.#events = new FolderEvents({ folders: [folder], recursive: false, onEvent });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  async #unwatch(): Promise<void> {
    const events = this.#events;
    this.#events = undefined;
    await events?.close();
  }

  /** Reads again; calls follow one another. */
  #refresh(): void {
    this.#work = this.#work.then(async () => {
      if (this.#stopped) return;
      let text = await this.#read();
      if (looksUnfinished(text, this.#written)) {
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
        text = await this.#read();
      }
      if (!isSame(text, this.#text) && !this.#stopped) this.#report(text);
    });
  }

  #report(text: FileText): void {
    this.#text = text;
    if (typeof text === "string" && text !== "") this.#written = text;
    this.#onText(text);
  }

  async #read(): Promise<FileText> {
    try {
      return await readRegularText(this.#path, { signal: this.#ending.signal });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      return { unreadable: error instanceof Error ? error.message : String(error) };
    }
  }

  async #look(): Promise<string> {
    try {
      const { dev, ino, size, mtime } = await factsOf(this.#path, { signal: this.#ending.signal });
      return `${dev}:${ino}:${size}:${mtime?.getTime()}`;
    } catch {
      return ""; // Missing or unreadable: #read finds out which.
    }
  }

  #lookLater(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#lookNow().finally(() => this.#lookLater()), LOOK_MS);
    this.#timer.unref();
  }

  async #lookNow(): Promise<void> {
    const now = await this.#look();
    if (now === this.#identity || this.#stopped) return;
    this.#identity = now;
    this.#refresh();
    // The folder may be another one now.
    await this.#unwatch();
    try {
      if (!this.#stopped) await this.#watch();
    } catch {
      // The looks go on.
    }
    if (this.#stopped) await this.#unwatch();
  }
}

/**
 * Whether a file may be half-written: gone or empty as between `rm` and `cp`, or cut off in the middle of a line.
 *
 * @param written the last text that was not empty; empty: there was none
 */
export function looksUnfinished(now: FileText, written: string): boolean {
  if (typeof now === "object") return false;
  if (now === undefined) return written !== "";
  return now === "" || (!now.endsWith("\n") && (written === "" || written.endsWith("\n")));
}

function isSame(a: FileText, b: FileText): boolean {
  if (typeof a === "object" && typeof b === "object") return a.unreadable === b.unreadable;
  return a === b;
}
