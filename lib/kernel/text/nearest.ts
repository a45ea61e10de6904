/**
 * "Did you mean": the known name that is nearest to an unknown name.
 *
 * @module
 */

/**
 * Longest name with a suggestion, in characters: a client's long text must not cost more than a suggestion is worth.
 */
const MAX_LENGTH = 64;

/**
 * The candidate with the fewest edits (insert, delete, replace, swap of neighbours). The edits must be few enough for a
 * typing error: a third of the name's length, at least one. Without such a candidate, the only candidate that begins
 * with the name. Case, dashes and underscores do not count.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = plain(name);
  if (wanted.length > MAX_LENGTH) return undefined;
  const known = [...candidates].map((candidate) => ({ candidate, text: plain(candidate) }));
  let best: string | undefined;
  let limit = Math.max(1, Math.floor(wanted.length / 3));
  for (const { candidate, text } of known) {
    if (Math.abs(text.length - wanted.length) > limit) continue;
    const found = editsBetween(wanted, text);
    // Of several candidates at the same distance, the first is kept.
    if (found <= limit) [best, limit] = [candidate, found - 1];
  }
  if (best !== undefined || wanted.length < 3) return best;
  const longer = known.filter(({ text }) => text.startsWith(wanted));
  return longer.length === 1 ? longer[0]!.candidate : undefined;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[-_]/g, "");
}

function editsBetween(a: string, b: string): number {
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
