/**
 * Comma-separated lists in settings, flags and annotations.
 *
 * @module
 */

/** The parts of a comma-separated text, without surrounding spaces. Empty parts are left out. */
export function commaList(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
}
