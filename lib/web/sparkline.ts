/**
 * Counts over time as a small picture: a bar for each count. The accessible text says the numbers in a sentence.
 *
 * @module
 */
import { type Html, markup } from "./html.ts";

const STEP = 5;
const HEIGHT = 40;

/** @param counts The oldest first. @param text The sentence for readers who cannot see the picture. */
export function sparkline(counts: readonly number[], text: string): Html {
  const most = Math.max(1, ...counts);
  const width = counts.length * STEP;
  const bars = counts.map((count, at) => {
    const height = count === 0 ? 0 : Math.max(2, Math.round(count / most * HEIGHT));
    return height > 0 &&
      markup`<rect class="bar" x="${at * STEP}" y="${HEIGHT - height}" width="${STEP - 1}" height="${height}" />`;
  });
  const box = `0 0 ${width} ${HEIGHT + 1}`;
  return markup`<svg class="spark" viewBox="${box}" preserveAspectRatio="none" role="img" aria-label="${text}">
<title>${text}</title>
${bars}<line class="axis" x1="0" x2="${width}" y1="${HEIGHT + 0.5}" y2="${HEIGHT + 0.5}" /></svg>`;
}

/** Shares of a whole as one bar. A count of zero takes no room. */
export function shareBar(shares: readonly { readonly tone: string; readonly count: number }[], text: string): Html {
  const total = Math.max(1, shares.reduce((sum, { count }) => sum + count, 0));
  let x = 0;
  const parts = shares.map(({ tone, count }) => {
    const width = count / total * 100;
    const part = count > 0 && markup`<rect class="bar ${tone}" x="${x}" y="0" width="${width}" height="3" />`;
    x += width;
    return part;
  });
  return markup`<svg class="share" viewBox="0 0 100 3" preserveAspectRatio="none" role="img" aria-label="${text}">
<title>${text}</title><rect class="ground" x="0" y="0" width="100" height="3" />${parts}</svg>`;
}
