/**
 * Lists in one text, as settings, flags and annotations have them.
 *
 * @module
 */

/** The parts of a comma-separated text, without spaces around them; empty ones are left out. */
export function commaList(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
}
