/**
 * A mistake planted in a text.
 *
 * @module
 */
import type { Mutation } from "./list.ts";

/**
 * The text of a file with the mistake.
 *
 * @throws {RangeError} When the text to replace is not in the file exactly once, or equals its replacement.
 */
export function mutated(text: string, { file, find, replace }: Mutation): string {
  const times = text.split(find).length - 1;
  if (times !== 1) throw new RangeError(`${file}: ${JSON.stringify(find)} stands there ${times} times, not once`);
  if (find === replace) throw new RangeError(`${file}: ${JSON.stringify(find)} is replaced by itself`);
  return text.replace(find, () => replace);
}
