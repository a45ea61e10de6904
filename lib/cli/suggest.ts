/**
 * "Did you mean": the nearest known name.
 *
 * @module
 */

/** The candidate nearest to `text`, when it is near enough to be a slip: two edits, one for short words, or a prefix. */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  const wanted = plain(text);
  let best: string | undefined;
  let distance = wanted.length < 5 ? 2 : 3;
  for (const candidate of candidates) {
    const known = plain(candidate);
    const found = edits(wanted, known);
    if (found < distance) [best, distance] = [candidate, found];
  }
  if (best !== undefined || wanted.length < 3) return best;
  const starting = [...candidates].filter((c) => plain(c).startsWith(wanted));
  return starting.length === 1 ? starting[0] : undefined;
}

/** Case, dashes and underscores are the commonest slips: they do not count. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[-_]/g, "");
}

/** Edits between two words: insert, delete, replace, swap neighbours. */
function edits(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
