/**
 * The places of documents in a file, and whether bytes are the bytes of the last read.
 *
 * @module
 */
import { type DocumentRange, splitDocuments } from "../config/yaml/split.ts";
import { hashBytes } from "./hash.ts";

/** The documents of a file. A JSON file is a single document, unless the file is blank. */
export function documentRanges(path: string, bytes: Uint8Array): DocumentRange[] {
  if (!path.endsWith(".json")) return splitDocuments(bytes);
  const isBlank = bytes.every((byte) => byte === 32 || (byte >= 9 && byte <= 13));
  return isBlank ? [] : [{ start: 0, end: bytes.length, line: 1 }];
}

/** The facts of a file from its last read. */
interface KnownDocuments {
  readonly path: string;
  readonly documents: readonly { readonly line: number; readonly hash: number }[];
}

/** Whether bytes are the bytes of the last read, document by document. */
export function isReadFrom({ path, documents }: KnownDocuments, bytes: Uint8Array): boolean {
  const ranges = documentRanges(path, bytes);
  return ranges.length === documents.length && ranges.every(({ line, start, end }, at) => {
    const { line: readAt, hash } = documents[at]!;
    return line === readAt && hashBytes(bytes, start, end) === hash;
  });
}
