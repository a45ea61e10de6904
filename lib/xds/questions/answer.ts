/**
 * The response to a question, in runs of bytes, so that a page is not copied.
 *
 * Fields: `resources` (2) of `DiscoveryResponse` holds `Any` (type_url 1, value 2). `resources` (2) of
 * `DeltaDiscoveryResponse` holds `Resource` (resource 2, name 3).
 *
 * @module
 */
import { anyRuns, fieldRuns, textRun } from "../../resource/field_runs.ts";
import { assemble, type ResponseHead } from "../ads/response.ts";
import type { DebugResource } from "../protocol/questions.ts";

/** The runs of a response. */
export function answerRuns(
  head: Pick<ResponseHead, "delta" | "typeUrl" | "nonce"> & Partial<Pick<ResponseHead, "controlPlane">>,
  resources: readonly DebugResource[],
): Uint8Array[] {
  const { parts } = assemble({ controlPlane: "", ...head, version: "", removed: [] }, [], false);
  const content = head.delta ? named : packed;
  return [...parts, ...resources.flatMap((resource) => fieldRuns(2, content(resource)))];
}

function named(resource: DebugResource): Uint8Array[] {
  return [textRun(3, resource.name), ...fieldRuns(2, packed(resource))];
}

function packed({ typeUrl, runs }: DebugResource): Uint8Array[] {
  return anyRuns(typeUrl, runs);
}
