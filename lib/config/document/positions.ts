/**
 * Positions of fields in the files that objects were read from.
 *
 * @module
 */
import type { FileOrigin } from "../../finding/origin.ts";
import { placeOf, places, type YamlPlace } from "../yaml/locate.ts";
import { type DocumentRange, documentText, splitDocuments } from "../yaml/split.ts";

/** 1-based line and column in the file of a document that starts at a line. */
export interface FieldPosition {
  readonly line: number;
  readonly column?: number;
}

/** Position of a field of an object in a document that starts at a line. Without `root` that line. */
export function positionOf(root: YamlPlace | undefined, start: number, field: string): FieldPosition {
  if (root === undefined) return { line: start };
  const { line, column } = placeOf(root, field);
  return { line: start + line, column };
}

/** The documents of one file, to find fields in. The file is cut once, and each document parsed when it is asked for. */
export class FileDocuments {
  readonly #bytes: Uint8Array;
  readonly #isJson: boolean;
  /** By the line where they begin. */
  #ranges: ReadonlyMap<number, DocumentRange> | undefined;
  /** The document that was asked for last: a list of objects is asked for once for each of them. */
  #last: { readonly line: number; readonly root: YamlPlace | undefined } | undefined;

  /**
   * @param bytes The file as it is now.
   * @param file Its name: one that ends in `.json` is one document.
   */
  constructor(bytes: Uint8Array, file: string) {
    this.#bytes = bytes;
    this.#isJson = file.endsWith(".json");
  }

  /** Places of the values of the document that begins at a line; undefined: there is none, or it does not parse. */
  root(line: number): YamlPlace | undefined {
    if (this.#last?.line !== line) this.#last = { line, root: this.#rootAt(line) };
    return this.#last.root;
  }

  #rootAt(line: number): YamlPlace | undefined {
    const range = this.#isJson ? { start: 0, end: this.#bytes.length, line: 1 } : this.#rangeAt(line);
    try {
      return range && places(documentText(this.#bytes, range));
    } catch (error) {
      // Bytes that are no text: the file has changed since it was read.
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  #rangeAt(line: number): DocumentRange | undefined {
    this.#ranges ??= new Map(splitDocuments(this.#bytes).map((range) => [range.line, range]));
    return this.#ranges.get(line);
  }
}

/**
 * Where fields of an object stand in the file that it was read from.
 *
 * @param documents The file as it is now; when it is another one than was read, the object's own line is all that is known.
 * @returns The positions in the order of the fields.
 */
export function fieldPositions(
  documents: FileDocuments,
  { line, within }: FileOrigin,
  fields: readonly string[],
): FieldPosition[] {
  const whole = documents.root(line);
  const root = whole && placeOf(whole, within);
  return fields.map((field) => positionOf(root, line, field));
}
