/**
 * Where the documents of a file lie, and whether bytes are those that a file was read from.
 *
 * @module
 */
import { type DocumentRange, splitDocuments } from "../config/yaml/split.ts";
import { hashBytes } from "./hash.ts";

/** The documents of a file; one of JSON is one document, unless it is blank. */
export function documentRanges(path: string, bytes: Uint8Array): DocumentRange[] {
  if (!path.endsWith(".json")) return splitDocuments(bytes);
  const isBlank = bytes.every((byte) => byte === 32 || (byte >= 9 && byte <= 13));
  return isBlank ? [] : [{ start: 0, end: bytes.length, line: 1 }];
}

/** What is known of a file that was read. */
interface KnownDocuments {
  readonly path: string;
  readonly documents: readonly { readonly line: number; readonly hash: number }[];
}

/** Whether bytes are those that a file was read from, document by document. */
export function isReadFrom({ path, documents }: KnownDocuments, bytes: Uint8Array): boolean {
  const ranges = documentRanges(path, bytes);
  return ranges.length === documents.length && ranges.every(({ line, start, end }, at) => {
    const { line: readAt, hash } = documents[at]!;
    return line === readAt && hashBytes(bytes, start, end) === hash;
  });
}
