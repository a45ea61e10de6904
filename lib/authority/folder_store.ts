/**
 * Keeps the self-signed authority in a file that only the owner may read. The file is on the disk before the authority
 * is used, because certificates are worth nothing after the loss of their authority.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */
import { readRegularText } from "../kernel/files/regular.ts";
import { dropFile, prepareFile, removeUnfinishedFiles, syncFolder } from "../kernel/files/whole_file.ts";
import type { RootStore } from "./root_store.ts";

/** Name of the file in its folder. */
const FILE = "authority.pem";
/** Names of unfinished files that servers of earlier versions left behind when they were killed. */
const EARLIER = /^\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/**
 * Most attempts to write a file. A starting instance may remove the unfinished file of another instance as a leftover.
 */
const MOST_ATTEMPTS = 5;

/** A {@linkcode RootStore} in a folder. A missing folder is created. */
export class FolderRootStore implements RootStore {
  readonly place: string;
  readonly #folder: string;
  #cleaned: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.place = `${folder}/${FILE}`;
  }

  async read(): Promise<string | undefined> {
    await (this.#cleaned ??= removeUnfinishedFiles(this.#folder, [FILE], EARLIER));
    try {
      return await readRegularText(this.place);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  /** The file appears with its whole content, or not at all: it is written under another name, and then linked. */
  async create(text: string): Promise<boolean> {
    return await this.#write(text, async (beside) => {
      try {
        await Deno.link(beside, this.place);
        return true;
      } catch (error) {
        if (error instanceof Deno.errors.AlreadyExists) return false;
        throw error;
      }
    });
  }

  async replace(text: string, old: string): Promise<boolean> {
    if (await this.read() !== old) return false;
    return await this.#write(text, async (beside) => {
      await Deno.rename(beside, this.place);
      return true;
    });
  }

  async #write(text: string, place: (beside: string) => Promise<boolean>): Promise<boolean> {
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (let attempt = 1;; attempt++) {
      const { beside } = await prepareFile(this.place, text, 0o600);
      try {
        const isPlaced = await place(beside);
        await syncFolder(this.#folder);
        return isPlaced;
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound) || attempt === MOST_ATTEMPTS) throw error;
      } finally {
        await dropFile(beside);
      }
    }
  }
}
