/**
 * Keeps the self-signed authority in a file that its owner alone may read.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */
import { inTime } from "../kernel/files/bounded.ts";
import { readRegularText } from "../kernel/files/regular.ts";
import type { RootStore } from "./root_store.ts";

/** Name of the file in its folder. */
const FILE = "authority.pem";

/** A {@linkcode RootStore} in a folder, which is made when it is missing. */
export class FolderRootStore implements RootStore {
  readonly place: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.place = `${folder}/${FILE}`;
  }

  async read(): Promise<string | undefined> {
    try {
      return await readRegularText(this.place);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  /** The file is there with all of its content, or not at all: it is written beside its place and linked there. */
  async create(text: string): Promise<boolean> {
    const written = await this.#write(text);
    try {
      await Deno.link(written, this.place);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) return false;
      throw error;
    } finally {
      await Deno.remove(written);
    }
  }

  async replace(text: string, old: string): Promise<boolean> {
    if (await this.read() !== old) return false;
    await Deno.rename(await this.#write(text), this.place);
    return true;
  }

  async #write(text: string): Promise<string> {
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = `${this.#folder}/.${crypto.randomUUID()}`;
    await inTime(path, () => Deno.writeTextFile(path, text, { mode: 0o600, createNew: true }));
    return path;
  }
}
