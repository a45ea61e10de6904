/**
 * Where a field of an object is written: file, line and column, found in the text when somebody asks.
 *
 * @module
 */
import { FileDocuments } from "../config/document/positions.ts";
import type { FileOrigin, Origin } from "../finding/origin.ts";
import { placeOf, type YamlPlace } from "../config/yaml/locate.ts";
import type { FieldPlace } from "../debug/explanation.ts";
import { withoutEnd } from "../kernel/text/edges.ts";

/** Answers where fields are written. Each file is cut, and each document parsed, at most once. */
export class FieldPlaces {
  readonly #textOf: (file: string) => string | undefined;
  readonly #files = new Map<string, FileDocuments | undefined>();
  readonly #documents = new Map<string, YamlPlace | undefined>();

  /** @param textOf The text of a file; undefined: no text, so places are places of whole objects. */
  constructor(textOf: (file: string) => string | undefined) {
    this.#textOf = textOf;
  }

  /**
   * The place of a field, or of the nearest written field around it.
   *
   * @param field Path from the object, such as `spec.http[0].match[1]`; empty: the object as a whole.
   * @returns Undefined for an object outside of files.
   */
  of(origin: Origin, field: string): FieldPlace | undefined {
    const from = fileOrigin(origin);
    if (from === undefined) return undefined;
    const file = from.source === "" ? from.file : `${withoutEnd(from.source, "/")}/${from.file}`;
    const root = field === "" && from.within === "" ? undefined : this.#document(from, file);
    const path = [from.within, field].filter((part) => part !== "").join(".");
    if (root === undefined) return { file, line: from.line };
    const { line, column } = placeOf(root, path);
    return { file, line: from.line + line, column };
  }

  #document({ line }: FileOrigin, file: string): YamlPlace | undefined {
    const key = `${line} ${file}`;
    if (this.#documents.has(key)) return this.#documents.get(key);
    const place = this.#file(file)?.root(line);
    this.#documents.set(key, place);
    return place;
  }

  #file(file: string): FileDocuments | undefined {
    if (this.#files.has(file)) return this.#files.get(file);
    const text = this.#textOf(file);
    const documents = text === undefined ? undefined : new FileDocuments(new TextEncoder().encode(text), file);
    this.#files.set(file, documents);
    return documents;
  }
}

/** The place of a derived object is the place of its parent. */
function fileOrigin(origin: Origin): FileOrigin | undefined {
  if (origin.from === "derived") return fileOrigin(origin.parent);
  return origin.from === "file" ? origin : undefined;
}
