/**
 * Reads one file and watches it: mesh configuration, mesh networks.
 *
 * Events of its folder make a change visible at once, also the swap of a mounted config map; a look at the file's identity each second
 * catches what watching does not tell (the folder removed or replaced, file systems without events).
 * @module
 * Permissions: read of the file and its folder.
 */

/** How often the file's identity is looked at, ms. */
const LOOK_MS = 1000;
/** How long an empty file may stay so before it is taken as it is, ms: it may be half-written. */
const SETTLE_MS = 50;

/** A file that is watched. */
export interface WatchedFile {
  /** Ends watching; resolves when nothing runs any more. */
  stop(): Promise<void>;
}

/**
 * Reads a file, reports its text, and again whenever the text changes; undefined while there is no such file, or it cannot be read.
 * @param onText Must not throw. Called once before this resolves.
 */
export async function watchFile(path: string, onText: (text: string | undefined) => void): Promise<WatchedFile> {
  const file = new File(path, onText);
  await file.start();
  return { stop: () => file.stop() };
}

class File {
  readonly #path: string;
  readonly #onText: (text: string | undefined) => void;
  #text: string | undefined;
  #identity = "";
  #watcher: Deno.FsWatcher | undefined;
  #pump: Promise<void> = Promise.resolve();
  #work: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(path: string, onText: (text: string | undefined) => void) {
    this.#path = path;
    this.#onText = onText;
  }

  async start(): Promise<void> {
    this.#watch();
    this.#identity = await this.#look();
    this.#text = await this.#read();
    this.#onText(this.#text);
    this.#lookLater();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#unwatch();
    await this.#pump;
    await this.#work;
  }

  /** Watches the folder, when there is one; else the look each second must do. */
  #watch(): void {
    const slash = this.#path.lastIndexOf("/");
    const folder = slash < 0 ? "." : slash === 0 ? "/" : this.#path.slice(0, slash);
    try {
      this.#watcher = Deno.watchFs(folder, { recursive: false });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return;
    }
    this.#pump = this.#listen(this.#watcher);
  }

  #unwatch(): void {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    watcher?.close();
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    for await (const event of watcher) if (event.kind !== "access") this.#refresh();
  }

  /** Reads again; calls follow one another. */
  #refresh(): void {
    this.#work = this.#work.then(async () => {
      if (this.#stopped) return;
      let text = await this.#read();
      if (text === "" && this.#text) {
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
        text = await this.#read();
      }
      if (text === this.#text || this.#stopped) return;
      this.#text = text;
      this.#onText(text);
    });
  }

  async #read(): Promise<string | undefined> {
    try {
      return await Deno.readTextFile(this.#path);
    } catch {
      return undefined; // Missing or unreadable is one answer; the caller decides what it means.
    }
  }

  async #look(): Promise<string> {
    try {
      const { dev, ino, size, mtime } = await Deno.stat(this.#path);
      return `${dev}:${ino}:${size}:${mtime?.getTime()}`;
    } catch {
      return ""; // As in #read.
    }
  }

  #lookLater(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(async () => {
      const now = await this.#look();
      if (now !== this.#identity && !this.#stopped) {
        this.#identity = now;
        this.#refresh();
        // The folder may be another one now.
        this.#unwatch();
        await this.#pump;
        if (!this.#stopped) this.#watch();
      }
      this.#lookLater();
    }, LOOK_MS);
    this.#timer.unref();
  }
}
