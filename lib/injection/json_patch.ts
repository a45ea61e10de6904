/**
 * The difference of two trees as the orchestrator's API takes it (RFC 6902).
 *
 * @module
 */
import { createPatch } from "rfc6902";

/** Operations that make one tree the other; none: they are equal. */
export function jsonPatch(from: unknown, to: unknown): object[] {
  return createPatch(from, to);
}
