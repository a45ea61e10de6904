/**
 * Fields of messages as runs of bytes, for messages that share fields with others: none of these is copied.
 *
 * @module
 */
import { fieldSize, putFieldHead, putTextField, textFieldSize } from "./protowire.ts";

/** A length-delimited field (number below 16) whose content is these runs. */
export function fieldRuns(number: number, runs: readonly Uint8Array[]): Uint8Array[] {
  const length = runs.reduce((sum, run) => sum + run.length, 0);
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
export function anyRuns(typeUrl: string, runs: readonly Uint8Array[]): Uint8Array[] {
  return [textRun(1, typeUrl), ...fieldRuns(2, runs)];
}
