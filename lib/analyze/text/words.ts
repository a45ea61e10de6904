/**
 * Words for messages.
 *
 * @module
 */

/** Most names that are compared; and their length. */
const MOST_NAMES = 100;
const LONGEST_NAME = 64;

/** The name nearest to one that does not exist; undefined: none is near. */
export function didYouMean(name: string, names: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const other of names.slice(0, MOST_NAMES)) {
    if (other.length > LONGEST_NAME) continue;
    const steps = editDistance(name, other);
    if (steps >= least) continue;
    least = steps;
    best = other;
  }
  return best;
}

/** How many letters must be put in, taken out or replaced to make one word the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
