/**
 * One message of an extension's configuration, in either of two forms: protobuf bytes, or a structure with the fields
 * of protobuf's JSON (`udpa.type.v1.TypedStruct`). Fields that are not asked for stay as they are, known or not.
 *
 * @module
 */

/** A field: its name in the proto file, and its number there. */
export interface ConfigField {
  readonly name: string;
  readonly number: number;
}

/** A message. It is never changed; a method that changes something returns another one. */
export interface ConfigMessage {
  /** The message as it is written. */
  readonly bytes: Uint8Array;
  /** The message of a field; undefined: it is not there. */
  child(field: ConfigField): ConfigMessage | undefined;
  /** The one of some fields that the message has, where a message may have one; undefined: none. */
  oneOf<F extends ConfigField>(fields: readonly F[]): F | undefined;
  /** The text of a field; empty: it is not there. */
  text(field: ConfigField): string;
  /** The value of a boolean field. */
  flag(field: ConfigField): boolean;
  /** The number of an enumerated field, whose names are in the order of their numbers; 0: it is not there. */
  choice(field: ConfigField, names: readonly string[]): number;
  /** Milliseconds of a duration; undefined: it is not there. */
  duration(field: ConfigField): number | undefined;
  /** A map of texts. */
  texts(field: ConfigField): ReadonlyMap<string, string>;
  /** Without the entries of a map whose keys are not kept. */
  filterTexts(field: ConfigField, isKept: (key: string) => boolean): ConfigMessage;
  /** With another message in a field. */
  with(field: ConfigField, value: ConfigMessage): ConfigMessage;
  /** A message of the same form with one text. */
  ofText(field: ConfigField, text: string): ConfigMessage;
  /** A message of the same form with one message. */
  ofChild(field: ConfigField, value: ConfigMessage): ConfigMessage;
}
