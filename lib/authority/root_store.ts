/**
 * Stores the key and the roots of a self-signed authority in one text, so that key and roots always fit together.
 *
 * @module
 */

/** Keeps one text for all instances of the server. */
export interface RootStore {
  /** For messages: the path of a file, the name of a secret. */
  readonly place: string;
  /** The text; undefined: there is no text yet. */
  read(): Promise<string | undefined>;
  /** Writes the first text; false: another instance was first. */
  create(text: string): Promise<boolean>;
  /** Replaces a text that was read; false: another instance has replaced the text first. */
  replace(text: string, old: string): Promise<boolean>;
}

/** A store that ends with the process. */
export class MemoryRootStore implements RootStore {
  readonly place = "memory";
  #text: string | undefined;

  /** @param text The first content. Default: the store is empty. */
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
