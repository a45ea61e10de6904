/**
 * The estimated work of compiling a regular expression. The compiler goes over the tables of a Unicode property once
 * for each use, and without regard to case over all characters of a range.
 *
 * @module
 */

/** Steps for a use of a Unicode property: up to 190 µs each. */
const PROPERTY_STEPS = 80;

/** Characters of a range in one step, without regard to case: 40 ns each. */
const FOLDED_IN_A_STEP = 64;

/** The last character with another case: the compiler ignores the rest of a range. */
const FOLDED_AREA = 0x1e944;

/** Steps of a group, without its content. */
const GROUP_STEPS = 2;

/** A group of flags with `i`. */
const DISREGARDS_CASE = /\(\?[msU]*i/;

/**
 * Steps for reading the characters of an expression, besides the steps of its program. Repetitions do not count:
 * repeated content is read once.
 */
export function readingSteps(regex: string): number {
  const folds = DISREGARDS_CASE.test(regex);
  let steps = 0;
  let inClass = false;
  let from: number | undefined;
  for (let at = 0; at < regex.length;) {
    const [value, next] = characterAt(regex, at);
    const character = regex[at];
    if (character === "\\" && /[pP]/.test(regex[at + 1] ?? "")) steps += PROPERTY_STEPS;
    if (!inClass && character === "[") {
      inClass = true;
      at = regex[next] === "^" ? next + 1 : next;
      // A bracket at the beginning of a class is a character of the class.
      if (regex[at] === "]") [from, at] = characterAt(regex, at);
      continue;
    }
    if (!inClass) steps += character === "(" ? GROUP_STEPS : 0;
    else if (character === "]") inClass = false;
    else if (folds && character === "-" && regex[next] !== "]") {
      const [to, end] = characterAt(regex, next);
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

/** The code of the single character at a place, or undefined, and the place after it. */
function characterAt(regex: string, at: number): readonly [value: number | undefined, next: number] {
  const value = regex.codePointAt(at);
  if (value === undefined) return [undefined, at + 1];
  if (value !== 0x5c) return [value, at + (value > 0xffff ? 2 : 1)];
  const escaped = regex.codePointAt(at + 1);
  const isPunctuation = escaped !== undefined && escaped < 0x80 && !/[0-9A-Za-z]/.test(String.fromCodePoint(escaped));
  return [isPunctuation ? escaped : undefined, at + 2];
}

/**
 * Letters, digits, characters without a special meaning, the dot, escaped characters and plain classes, each perhaps
 * repeated.
 */
const SIMPLE = /^\^?(?:(?:[\w/:,=@%&~ -]|\.|\\[./?*+()[\]{}|^$-]|\[\^?(?:[A-Za-z0-9_/.]|a-z|A-Z|0-9)+-?\])[*+?]?)*\$?$/;

/** Whether RE2 certainly reads an expression, because the expression is simple. Saves compiling. */
export function isSimple(regex: string): boolean {
  return SIMPLE.test(regex);
}
