/**
 * Streams of text as lines.
 *
 * @module
 */

/** Calls `take` with each line in turn. Resolves at the end of the stream. */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => void | Promise<void>,
): Promise<void> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) await take(line);
  }
}
