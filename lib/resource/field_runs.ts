/**
 * Fields of messages as runs of bytes, for messages that share fields with others: none of these is copied.
 *
 * @module
 */
import { type ByteRun, sizeOf } from "./block.ts";
import { fieldSize, putFieldHead, putTextField, textFieldSize } from "./protowire.ts";

/** A length-delimited field (number below 16) whose content is these runs. */
export function fieldRuns<R extends ByteRun>(number: number, runs: readonly R[]): (R | Uint8Array)[] {
  const length = sizeOf(runs);
  const head = new Uint8Array(fieldSize(length) - length);
  putFieldHead(head, 0, number, length);
  return [head, ...runs];
}

/** A field (number below 16) that holds a text. */
export function textRun(number: number, value: string): Uint8Array {
  const out = new Uint8Array(textFieldSize(value));
  putTextField(out, 0, number, value);
  return out;
}

/** Content of a `google.protobuf.Any` whose message is these runs. */
export function anyRuns<R extends ByteRun>(typeUrl: string, runs: readonly R[]): (R | Uint8Array)[] {
  return [textRun(1, typeUrl), ...fieldRuns(2, runs)];
}
