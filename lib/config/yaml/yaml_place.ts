/**
 * Where a value of a document stands.
 *
 * @module
 */

/** A value of a document: its place and parts. */
export interface YamlPlace {
  /** Line inside the document, from 0: of the value's key, or of a value without a key. */
  readonly line: number;
  /** Column of the value, from 1, or of its key if the value begins on another line. */
  readonly column: number;
  /** Places of an object's fields, or of a list's items by their index in decimal. */
  readonly inside: ReadonlyMap<string, YamlPlace>;
}
