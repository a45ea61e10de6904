/**
 * Fields of messages as runs of bytes, for messages with shared fields: no run is copied.
 *
 * @module
 */
import { type ByteRun, sizeOf } from "./block.ts";
import { fieldSize, putFieldHead, putTextField, textFieldSize } from "./protowire.ts";

/** A length-delimited field (number below 16) with the runs as content. */
export function fieldRuns<R extends ByteRun>(number: number, runs: readonly R[]): (R | Uint8Array)[] {
  const length = sizeOf(runs);
  const head = new Uint8Array(fieldSize(length) - length);
  putFieldHead(head, 0, number, length);
  return [head, ...runs];
}

/** A text field (number below 16). */
export function textRun(number: number, value: string): Uint8Array {
  const out = new Uint8Array(textFieldSize(value));
  putTextField(out, 0, number, value);
  return out;
}

/** Content of a `google.protobuf.Any` whose message consists of the runs. */
export function anyRuns<R extends ByteRun>(typeUrl: string, runs: readonly R[]): (R | Uint8Array)[] {
  return [textRun(1, typeUrl), ...fieldRuns(2, runs)];
}
