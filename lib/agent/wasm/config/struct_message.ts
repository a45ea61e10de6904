/**
 * A message of an extension's configuration as a structure (`google.protobuf.Struct`) in protobuf's JSON form. The
 * names of fields are those of the proto file, or the same names in camel case.
 *
 * Field numbers: google/protobuf/struct.proto.
 *
 * @module
 */
import { MessageWriter } from "../../../grpc/message_writer.ts";
import { concatBytes } from "../../../resource/block.ts";
import { utf8Bytes } from "../../../resource/protowire.ts";
import type { ConfigField, ConfigMessage } from "./config_message.ts";
import { changeFields, lastText, lastVarint, lengthDelimited, mergedField } from "./wire_fields.ts";

/** `Value`: string_value = 3, bool_value = 4, struct_value = 5. */
const VALUE = { text: 3, flag: 4, structure: 5 };

/** Decodes a field when it is read. Reading throws {@linkcode WireError} if the bytes are not a structure. */
export class StructMessage implements ConfigMessage {
  constructor(readonly bytes: Uint8Array) {}

  child(field: ConfigField): StructMessage | undefined {
    const value = this.#value(field);
    const content = value && mergedField(value, VALUE.structure);
    return content && new StructMessage(content);
  }

  oneOf<F extends ConfigField>(fields: readonly F[]): F | undefined {
    return fields.findLast((field) => this.#value(field) !== undefined);
  }

  text(field: ConfigField): string {
    const value = this.#value(field);
    return value === undefined ? "" : lastText(value, VALUE.text);
  }

  flag(field: ConfigField): boolean {
    const value = this.#value(field);
    return value !== undefined && lastVarint(value, VALUE.flag) !== 0;
  }

  choice(field: ConfigField, names: readonly string[]): number {
    return Math.max(0, names.indexOf(this.text(field)));
  }

  duration(field: ConfigField): number | undefined {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(this.text(field));
    return seconds === null ? undefined : Number(seconds[1]) * 1000;
  }

  texts(field: ConfigField): ReadonlyMap<string, string> {
    const map = this.child(field);
    return new Map(map && entriesOf(map.bytes).map(({ key, value }) => [key, lastText(value, VALUE.text)]));
  }

  filterTexts(field: ConfigField, isKept: (key: string) => boolean): StructMessage {
    const map = this.child(field);
    if (map === undefined) return this;
    return this.with(field, map.#filter(isKept));
  }

  with(field: ConfigField, value: ConfigMessage): StructMessage {
    const names = namesOf(field);
    const without = this.#filter((key) => !names.includes(key));
    return new StructMessage(concatBytes([without.bytes, this.ofChild(field, value).bytes]));
  }

  ofText(field: ConfigField, text: string): StructMessage {
    // Not `string`, which leaves out an empty text.
    return single(field, new MessageWriter().bytes(VALUE.text, utf8Bytes(text)).finish());
  }

  ofChild(field: ConfigField, value: ConfigMessage): StructMessage {
    return single(field, new MessageWriter().bytes(VALUE.structure, value.bytes).finish());
  }

  #value(field: ConfigField): Uint8Array | undefined {
    const names = namesOf(field);
    return entriesOf(this.bytes).findLast(({ key }) => names.includes(key))?.value;
  }

  #filter(isKept: (key: string) => boolean): StructMessage {
    return new StructMessage(changeFields(this.bytes, 1, (entry) => isKept(entryOf(entry).key) ? entry : undefined));
  }
}

/** `Struct`: fields = 1, a map: key = 1, value = 2. */
function entriesOf(struct: Uint8Array) {
  return lengthDelimited(struct).filter(({ number }) => number === 1).map(({ content }) => entryOf(content));
}

function entryOf(entry: Uint8Array) {
  return { key: lastText(entry, 1), value: mergedField(entry, 2) ?? new Uint8Array(0) };
}

function single({ name }: ConfigField, value: Uint8Array): StructMessage {
  const entry = new MessageWriter().string(1, name).bytes(2, value).finish();
  return new StructMessage(new MessageWriter().bytes(1, entry).finish());
}

function namesOf({ name }: ConfigField): readonly string[] {
  return [name, name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
}
