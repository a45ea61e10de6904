/**
 * Times as people read them, and states with a mark beside the colour.
 *
 * @module
 */
import type { StateWord } from "../debug/list_page.ts";
import { escapeHtml } from "../debug/html.ts";
import { Html, markup } from "./html.ts";

const MARKS = { good: "✓", warn: "!", bad: "✗", dim: "·" } as const;

/** The most letters of a state that stays in one line. */
const SHORT_STATE = 24;

/** A state as HTML. */
export function stateHtml({ tone, word }: StateWord): Html {
  return markup`<span class="${tone}${word.length <= SHORT_STATE && " state"}">${MARKS[tone]} ${word}</span>`;
}

/** The most letters of a word that no line breaks. */
const WHOLE_WORD = 16;

/** A text whose lines break between words, and in long words after the separators of names. */
export function breakable(text: string): Html {
  return new Html(
    text.split(" ").map((word) => word.length <= WHOLE_WORD ? escapeHtml(word) : longWord(word)).join(" "),
  );
}

/** The most letters between two separators. A longer part breaks anywhere. */
const WHOLE_PART = 22;

function longWord(word: string): string {
  // Parts and separators in turn.
  const pieces = word.split(/([/.:|~_=,])/);
  const text = pieces.map((piece, at) => at % 2 === 0 ? escapeHtml(piece) : `${piece}<wbr>`).join("");
  // The browser breaks lines after hyphens, too.
  const longest = Math.max(...pieces.flatMap((piece) => piece.split("-")).map(({ length }) => length));
  return longest <= WHOLE_PART ? text : `<span class="long">${text}</span>`;
}

/** A time of day in UTC with the whole date as its title; for 0: never. */
export function timeHtml(ms: number): Html {
  if (ms === 0) {
    return markup`
      <span class="dim">never</span>
    `;
  }
  const iso = new Date(ms).toISOString();
  return markup`
    <time datetime="${iso}" title="${iso}">${iso.slice(11, 19)}</time>
  `;
}
