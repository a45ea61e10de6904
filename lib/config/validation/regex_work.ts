/**
 * The work of compiling a regular expression, before it is done: the compiler goes over the tables of a Unicode property
 * once for each time that it is named, and without regard to case over all characters of a range.
 *
 * @module
 */

/** Steps that the name of a Unicode property counts for: up to 190 µs each. */
const PROPERTY_STEPS = 80;

/** Characters of a range that count for one step where case is disregarded: 40 ns each. */
const FOLDED_IN_A_STEP = 64;

/** Characters that have another case, and those between them: the compiler goes over no more of a range. */
const FOLDED_AREA = 0x1e944;

/** Steps of a group, beside what is in it. */
const GROUP_STEPS = 2;

/** A group of flags among which is `i`. */
const DISREGARDS_CASE = /\(\?[msU]*i/;

/**
 * Steps that the signs of an expression cost beside those of its program. Repetitions do not count: what is repeated
 * is read once.
 */
export function readingSteps(regex: string): number {
  const folds = DISREGARDS_CASE.test(regex);
  let steps = 0;
  let inClass = false;
  let from: number | undefined;
  for (let at = 0; at < regex.length;) {
    const [value, next] = signAt(regex, at);
    const sign = regex[at];
    if (sign === "\\" && /[pP]/.test(regex[at + 1] ?? "")) steps += PROPERTY_STEPS;
    if (!inClass && sign === "[") {
      inClass = true;
      at = regex[next] === "^" ? next + 1 : next;
      // A bracket at the beginning of a class is one of its characters.
      if (regex[at] === "]") [from, at] = signAt(regex, at);
      continue;
    }
    if (!inClass) steps += sign === "(" ? GROUP_STEPS : 0;
    else if (sign === "]") inClass = false;
    else if (folds && sign === "-" && regex[next] !== "]") {
      const [to, end] = signAt(regex, next);
      steps += Math.ceil(widthOf(from, to) / FOLDED_IN_A_STEP);
      at = end;
      continue;
    }
    from = value;
    at = next;
  }
  return steps;
}

function widthOf(from: number | undefined, to: number | undefined): number {
  return from === undefined || to === undefined ? FOLDED_AREA : Math.min(FOLDED_AREA, Math.max(0, to - from));
}

/** The character that begins at a place, undefined where it is no single one, and the place after it. */
function signAt(regex: string, at: number): readonly [value: number | undefined, next: number] {
  const value = regex.codePointAt(at);
  if (value === undefined) return [undefined, at + 1];
  if (value !== 0x5c) return [value, at + (value > 0xffff ? 2 : 1)];
  const escaped = regex.codePointAt(at + 1);
  const isSign = escaped !== undefined && escaped < 0x80 && !/[0-9A-Za-z]/.test(String.fromCodePoint(escaped));
  return [isSign ? escaped : undefined, at + 2];
}

/** Letters, digits and signs without a meaning, the any-sign, escaped signs and plain classes, each perhaps repeated. */
const SIMPLE = /^\^?(?:(?:[\w/:,=@%&~ -]|\.|\\[./?*+()[\]{}|^$-]|\[\^?(?:[A-Za-z0-9_/.]|a-z|A-Z|0-9)+-?\])[*+?]?)*\$?$/;

/** Whether an expression is so simple that RE2 reads it for sure, which saves compiling it. */
export function isSimple(regex: string): boolean {
  return SIMPLE.test(regex);
}
