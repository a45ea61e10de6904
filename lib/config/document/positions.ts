/**
 * Positions of fields in the files that objects were read from.
 *
 * @module
 */
import type { FileOrigin } from "../finding/origin.ts";
import { placeOf, places, type YamlPlace } from "../yaml/locate.ts";
import { documentText, splitDocuments } from "../yaml/split.ts";

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

/**
 * Where fields of an object stand in the file that it was read from.
 *
 * @param bytes The file as it is now; when it is another one than was read, the object's own line is all that is known.
 * @returns The positions in the order of the fields.
 */
export function fieldPositions(bytes: Uint8Array, origin: FileOrigin, fields: readonly string[]): FieldPosition[] {
  const root = rootOf(bytes, origin);
  return fields.map((field) => positionOf(root, origin.line, field));
}

function rootOf(bytes: Uint8Array, { file, line, within }: FileOrigin): YamlPlace | undefined {
  try {
    const range = file.endsWith(".json")
      ? { start: 0, end: bytes.length, line: 1 }
      : splitDocuments(bytes).find((one) => one.line === line);
    const whole = range && places(documentText(bytes, range));
    return whole && placeOf(whole, within);
  } catch (error) {
    // Bytes that are no text: the file has changed since it was read.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
