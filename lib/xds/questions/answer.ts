/**
 * The response to a question, in runs of bytes: a page is not copied.
 *
 * Fields: `resources` (2) of `DiscoveryResponse`, which are `Any` (type_url 1, value 2), and of `DeltaDiscoveryResponse`,
 * which are `Resource` (resource 2, name 3).
 *
 * @module
 */
import { fieldSize, putFieldHead, putTextField, textFieldSize } from "../../resource/protowire.ts";
import { assemble } from "../ads/response.ts";
import type { DebugResource } from "../protocol/questions.ts";

/** The runs of a response. */
export function answerRuns(
  { delta, typeUrl, nonce }: { readonly delta: boolean; readonly typeUrl: string; readonly nonce: string },
  resources: readonly DebugResource[],
): Uint8Array[] {
  const head = assemble({ delta, typeUrl, nonce, version: "", removed: [], controlPlane: "" }, [], false);
  return [...head.parts, ...resources.flatMap((resource) => field(2, delta ? named(resource) : packed(resource)))];
}

function named(resource: DebugResource): Uint8Array[] {
  return [text(3, resource.name), ...field(2, packed(resource))];
}

function packed({ typeUrl, runs }: DebugResource): Uint8Array[] {
  return [text(1, typeUrl), ...field(2, runs)];
}

function field(number: number, runs: readonly Uint8Array[]): Uint8Array[] {
  const length = runs.reduce((sum, run) => sum + run.length, 0);
  const head = new Uint8Array(fieldSize(length) - length);
  putFieldHead(head, 0, number, length);
  return [head, ...runs];
}

function text(number: number, value: string): Uint8Array {
  const out = new Uint8Array(textFieldSize(value));
  putTextField(out, 0, number, value);
  return out;
}
