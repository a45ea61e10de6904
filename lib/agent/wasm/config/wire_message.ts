/**
 * A message of an extension's configuration as protobuf bytes.
 *
 * @module
 */
import { MessageWriter } from "../../../grpc/message_writer.ts";
import type { ConfigField, ConfigMessage } from "./config_message.ts";
import { changeFields, lastText, lastVarint, lengthDelimited, mergedField, setField } from "./wire_fields.ts";

/** Decodes a field when it is read. */
export class WireMessage implements ConfigMessage {
  constructor(readonly bytes: Uint8Array) {}

  child({ number }: ConfigField): WireMessage | undefined {
    const content = mergedField(this.bytes, number);
    return content && new WireMessage(content);
  }

  oneOf<F extends ConfigField>(fields: readonly F[]): F | undefined {
    const last = lengthDelimited(this.bytes).findLast(({ number }) => fields.some((field) => field.number === number));
    return fields.find(({ number }) => number === last?.number);
  }

  text({ number }: ConfigField): string {
    return lastText(this.bytes, number);
  }

  flag({ number }: ConfigField): boolean {
    return lastVarint(this.bytes, number) !== 0;
  }

  choice({ number }: ConfigField): number {
    return lastVarint(this.bytes, number);
  }

  duration(field: ConfigField): number | undefined {
    // google.protobuf.Duration: seconds = 1, nanos = 2.
    const content = this.child(field)?.bytes;
    return content && lastVarint(content, 1) * 1000 + lastVarint(content, 2) / 1e6;
  }

  texts({ number }: ConfigField): ReadonlyMap<string, string> {
    const entries = lengthDelimited(this.bytes).filter((field) => field.number === number);
    return new Map(entries.map(({ content }) => [lastText(content, 1), lastText(content, 2)]));
  }

  filterTexts({ number }: ConfigField, isKept: (key: string) => boolean): WireMessage {
    return new WireMessage(
      changeFields(this.bytes, number, (entry) => isKept(lastText(entry, 1)) ? entry : undefined),
    );
  }

  with({ number }: ConfigField, value: ConfigMessage): WireMessage {
    return new WireMessage(setField(this.bytes, number, value.bytes));
  }

  ofText({ number }: ConfigField, text: string): WireMessage {
    return new WireMessage(new MessageWriter().string(number, text).finish());
  }

  ofChild({ number }: ConfigField, value: ConfigMessage): WireMessage {
    return new WireMessage(new MessageWriter().bytes(number, value.bytes).finish());
  }
}
