/**
 * Words in colour, by their meaning.
 *
 * @module
 */
import type { Terminal } from "./terminal.ts";

/** Escape codes by meaning: strong, secondary, how bad something is, added and removed. */
const CODES = {
  strong: "1",
  faint: "2",
  error: "1;31",
  warning: "1;33",
  info: "1;36",
  good: "32",
  added: "32",
  removed: "31",
} as const;

/** The meaning of a piece of text. */
export type Meaning = keyof typeof CODES;

/** Marks a text with its meaning. */
export type Style = (meaning: Meaning, text: string) => string;

/** How texts are marked on a terminal: by colour, or not at all. */
export function styleOf({ colour }: Pick<Terminal, "colour">): Style {
  if (!colour) return (_, text) => text;
  return (meaning, text) => text === "" ? "" : `\x1b[${CODES[meaning]}m${text}\x1b[0m`;
}

/**
 * A text without control characters, except line breaks, tabs and colours. The content of a file must not move the
 * cursor, or set the title of the window.
 */
export function safeText(text: string): string {
  return text.replace(STEERING, (found) => found.length > 1 ? found : "\ufffd");
}

// deno-lint-ignore no-control-regex -- control characters are what is looked for; colours are matched whole, to stay
const STEERING = /\x1b\[[\d;]*m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text without its colours. */
export function plainText(text: string): string {
  // deno-lint-ignore no-control-regex -- the escape character is what colours begin with
  return text.replace(/\x1b\[[\d;]*m/g, "");
}
