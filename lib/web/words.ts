/**
 * Numbers and times as people read them, and states with a mark beside the colour.
 *
 * @module
 */
import { type Html, markup } from "./html.ts";

/** A state: how good it is, and its word. */
export interface StateWord {
  readonly tone: "good" | "warn" | "bad" | "dim";
  readonly word: string;
}

const MARKS = { good: "✓", warn: "!", bad: "✗", dim: "·" } as const;

/** A state as HTML. */
export function stateHtml({ tone, word }: StateWord): Html {
  return markup`
    <span class="${tone}">${MARKS[tone]} ${word}</span>
  `;
}

/** Bytes as `1.2 kB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Milliseconds as `35 ms` or `1.2 s`. */
export function millisecondsText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A time of day in UTC, with the whole date beside it; nothing for 0, which is never. */
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

/** `1 proxy`, `2 proxies`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
