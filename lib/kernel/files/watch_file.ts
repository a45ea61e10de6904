/**
 * Reads a file and watches it: mesh configuration, mesh networks.
 *
 * Events of the folder make a change visible at once, including the swap of a mounted config map. A look at the file's
 * identity each second catches changes without events (the folder removed or replaced, file systems without events).
 *
 * Permissions: read of the file and its folder.
 *
 * @module
 */

import { errorMessage } from "../text/error_message.ts";
import { FolderEvents, mayWatch } from "./events.ts";
import { factsOf, readRegularText } from "./regular.ts";

/** Interval between looks at the file's identity, ms. */
const LOOK_MS = 1000;
/**
 * Delay before an absent or empty file, or a file without a last newline, is reported, ms. Such a file may be
 * half-written.
 */
const SETTLE_MS = 50;

/** The state of a watched file: the text, undefined for an absent file, or the reason for a failed read. */
export type FileText = string | undefined | { readonly unreadable: string };

export interface WatchedFile {
  /** Ends watching. Resolves when no work is left. */
  stop(): Promise<void>;
}

/**
 * Reads a file and reports the text, now and after every change.
 * @param onText Must not throw. Called once before the promise resolves.
 * @throws {Deno.errors.PermissionDenied} and others when the file's folder cannot be watched.
 */
export async function watchFile(path: string, onText: (text: FileText) => void): Promise<WatchedFile> {
  const file = new FollowedFile(path, onText);
  await file.start();
  return { stop: () => file.stop() };
}

class FollowedFile {
  readonly #path: string;
  readonly #onText: (text: FileText) => void;
  #text: FileText;
  /** The last text that was not empty: a file may be half-written after a removal as well as after an edit. */
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

  /** Watches the folder if there is one. Otherwise only the look each second finds changes. */
  async #watch(): Promise<void> {
    const slash = this.#path.lastIndexOf("/");
    const folder = slash < 0 ? "." : slash === 0 ? "/" : this.#path.slice(0, slash);
    try {
      // The runtime's watcher starts on the thread of the event loop, so detect an unresponsive folder first.
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

  /** Reads again. Calls run one after the other. */
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
      return { unreadable: errorMessage(error) };
    }
  }

  async #look(): Promise<string> {
    try {
      const { dev, ino, size, mtime } = await factsOf(this.#path, { signal: this.#ending.signal });
      return `${dev}:${ino}:${size}:${mtime?.getTime()}`;
    } catch {
      return ""; // Missing or unreadable: #read finds the difference.
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
    // The folder may have been replaced.
    await this.#unwatch();
    try {
      if (!this.#stopped) await this.#watch();
    } catch {
      // The looks continue.
    }
    if (this.#stopped) await this.#unwatch();
  }
}

/**
 * Whether a file may be half-written: absent or empty as between `rm` and `cp`, or cut off in the middle of a line.
 *
 * @param written The last text that was not empty, or an empty text at the start.
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
