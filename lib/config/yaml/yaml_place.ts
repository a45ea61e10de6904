/**
 * Where a value of a document stands.
 *
 * @module
 */

/** A value of a document: its place and its parts. */
export interface YamlPlace {
  /** 0-based line inside the document: of the value's key, or of the value where it has none. */
  readonly line: number;
  /** 1-based column of the value, or of its key where it begins on another line. */
  readonly column: number;
  /** Places of an object's fields, or of a list's items by their index in decimal. */
  readonly inside: ReadonlyMap<string, YamlPlace>;
}
