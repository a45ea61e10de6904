/**
 * One message of an extension's configuration, in one of two forms: protobuf bytes, or a structure with the fields of
 * protobuf's JSON (`udpa.type.v1.TypedStruct`). A change of one field keeps the other fields, known or not.
 *
 * @module
 */

/** A field: its name and its number in the proto file. */
export interface ConfigField {
  readonly name: string;
  readonly number: number;
}

/** An immutable message. Methods that change a field return a new message. */
export interface ConfigMessage {
  /** The encoded message. */
  readonly bytes: Uint8Array;
  /** The message in a field; undefined: the field is missing. */
  child(field: ConfigField): ConfigMessage | undefined;
  /** The present field of a `oneof`; undefined: no field is present. If several are present, the last one counts. */
  oneOf<F extends ConfigField>(fields: readonly F[]): F | undefined;
  /** The text of a field; empty: the field is missing. */
  text(field: ConfigField): string;
  /** The value of a boolean field. */
  flag(field: ConfigField): boolean;
  /**
   * The number of an enumerated field; 0: the field is missing.
   *
   * @param names The names of the values, in the order of their numbers.
   */
  choice(field: ConfigField, names: readonly string[]): number;
  /** Milliseconds of a duration; undefined: the field is missing. */
  duration(field: ConfigField): number | undefined;
  /** The entries of a map of texts. */
  texts(field: ConfigField): ReadonlyMap<string, string>;
  /** The message without the entries of a map whose keys are not kept. */
  filterTexts(field: ConfigField, isKept: (key: string) => boolean): ConfigMessage;
  /** The message with another message in a field. */
  with(field: ConfigField, value: ConfigMessage): ConfigMessage;
  /** A new message of the same form with a text in a single field. */
  ofText(field: ConfigField, text: string): ConfigMessage;
  /** A new message of the same form with a message in a single field. */
  ofChild(field: ConfigField, value: ConfigMessage): ConfigMessage;
}
