/**
 * Origins for objects of tests.
 * @module
 */
import type { FileOrigin } from "../../lib/finding/origin.ts";

/** A line of a file of a source without a name. */
export function inFile(file: string, line = 1): FileOrigin {
  return { from: "file", source: "", file, line, within: "" };
}
