/**
 * Times as people read them, and states with a mark beside the colour.
 *
 * @module
 */
import type { StateWord } from "../debug/list_page.ts";
import { type Html, markup } from "./html.ts";

const MARKS = { good: "✓", warn: "!", bad: "✗", dim: "·" } as const;

/** A state as HTML. */
export function stateHtml({ tone, word }: StateWord): Html {
  return markup`<span class="${tone}">${MARKS[tone]} ${word}</span>`;
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
