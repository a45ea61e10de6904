/**
 * A text as an entry of the `binaryData` of a config map: compressed, as base64.
 *
 * @module
 */

/** Most characters of an entry. A config map holds 1 MiB, and these are 900 kB without base64. */
const MAX_ENTRY = 1_200_000;

/** Most bytes of a text. */
const MAX_UNPACKED = 64 * 1024 * 1024;

/** Packs a text into an entry. Undefined: the text does not fit into a config map. */
export async function packedEntry(text: string): Promise<string | undefined> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  const entry = (await new Response(stream).bytes()).toBase64();
  return entry.length > MAX_ENTRY ? undefined : entry;
}

/**
 * The text of an entry.
 *
 * @param entry Foreign JSON.
 * @throws {Error} when the entry is not a packed text, or is longer than a config map holds, or its text is longer than
 * 64 MiB
 */
export async function unpackedEntry(entry: unknown): Promise<string> {
  if (typeof entry !== "string") throw new Error(`got ${typeof entry}, expected a text in gzip as base64`);
  if (entry.length > MAX_ENTRY) throw new Error(`got ${entry.length} characters, expected at most ${MAX_ENTRY}`);
  const stream = new Blob([Uint8Array.fromBase64(entry)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const part of stream) {
    size += part.length;
    if (size > MAX_UNPACKED) throw new Error(`the text is longer than ${MAX_UNPACKED} bytes`);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}
