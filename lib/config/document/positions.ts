/**
 * Positions of fields in the objects' files.
 *
 * @module
 */
import type { FileOrigin } from "../../finding/origin.ts";
import { placeOf, places, type YamlPlace } from "../yaml/locate.ts";
import { type DocumentRange, documentText, splitDocuments } from "../yaml/split.ts";

/** Line and column in the file, from 1, of a field in a document. */
export interface FieldPosition {
  readonly line: number;
  readonly column?: number;
}

/** Position of a field of an object in a document at line `start`; without `root`: this line. */
export function positionOf(root: YamlPlace | undefined, start: number, field: string): FieldPosition {
  if (root === undefined) return { line: start };
  const { line, column } = placeOf(root, field);
  return { line: start + line, column };
}

/** The documents of one file, for positions of fields. The file is cut once, and each document is parsed on demand. */
export class FileDocuments {
  readonly #bytes: Uint8Array;
  readonly #isJson: boolean;
  /** By the line of the document's beginning. */
  #ranges: ReadonlyMap<number, DocumentRange> | undefined;
  /** The document of the last question: for a list of objects the questions come object by object. */
  #last: { readonly line: number; readonly root: YamlPlace | undefined } | undefined;

  /**
   * @param bytes The present file.
   * @param file The file's name; a file whose name ends in `.json` is one document.
   */
  constructor(bytes: Uint8Array, file: string) {
    this.#bytes = bytes;
    this.#isJson = file.endsWith(".json");
  }

  /** Places of the values of the document at a line; undefined: no document there, or the document does not parse. */
  root(line: number): YamlPlace | undefined {
    if (this.#last?.line !== line) this.#last = { line, root: this.#rootAt(line) };
    return this.#last.root;
  }

  #rootAt(line: number): YamlPlace | undefined {
    const range = this.#isJson ? { start: 0, end: this.#bytes.length, line: 1 } : this.#rangeAt(line);
    try {
      return range && places(documentText(this.#bytes, range));
    } catch (error) {
      // The bytes are not text: the file has changed since its read.
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
 * Positions of an object's fields in the object's file.
 *
 * @param documents The present file. If the file has changed since its read, only the object's own line is known.
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
