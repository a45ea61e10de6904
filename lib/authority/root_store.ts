/**
 * Where a self-signed authority keeps its key and its roots: one text, so that what is read always fits together.
 *
 * @module
 */

/** Keeps one text for all instances of the server. */
export interface RootStore {
  /** For messages: the path of a file, the name of a secret. */
  readonly place: string;
  /** The text; undefined: there is none yet. */
  read(): Promise<string | undefined>;
  /** Writes the first text; false: another instance was first. */
  create(text: string): Promise<boolean>;
  /** Writes another text in the place of one that was read; false: it is another one by now. */
  replace(text: string, old: string): Promise<boolean>;
}

/** A store that ends with the process. */
export class MemoryRootStore implements RootStore {
  readonly place = "memory";
  #text: string | undefined;

  /** @param text What it holds. Default: nothing. */
  constructor(text?: string) {
    this.#text = text;
  }

  read(): Promise<string | undefined> {
    return Promise.resolve(this.#text);
  }

  create(text: string): Promise<boolean> {
    if (this.#text !== undefined) return Promise.resolve(false);
    this.#text = text;
    return Promise.resolve(true);
  }

  replace(text: string, old: string): Promise<boolean> {
    if (this.#text !== old) return Promise.resolve(false);
    this.#text = text;
    return Promise.resolve(true);
  }
}
