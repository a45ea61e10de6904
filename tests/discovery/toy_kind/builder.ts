/**
 * The second file of a kind: the builder.
 *
 * @module
 */
import { type EncodedResource, encodeResource } from "../../../lib/resource/encoded.ts";
import type { ThingQuery } from "../../../lib/translate/reader/queries.ts";
import type { OpenReader } from "../../../lib/translate/reader/reader.ts";

/** Type URL of toys on the wire. */
export const TOY_TYPE = "type.googleapis.com/example.Toy";

/** The toy of a host; a text that says so breaks. */
export function toyOf(read: OpenReader, toy: ThingQuery<string | undefined>, host: string): EncodedResource[] {
  const text = read.ask(toy, host);
  if (text === "breaks") throw new Error(`the toy of ${host} breaks`);
  return text === undefined ? [] : [encodeResource(TOY_TYPE, host, new TextEncoder().encode(text))];
}
