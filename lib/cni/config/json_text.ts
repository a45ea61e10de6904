/**
 * Positions in a JSON text: where members and elements begin and end. So a single element can be inserted or cut out,
 * and every other byte stays (order, spaces, the spelling of numbers).
 *
 * @module
 */

/** A piece of a text: from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object: the key, and the position of the value. */
export interface MemberSpan extends Span {
  readonly key: string;
}

/** Members of the object at index `at`, in order. The text must be valid JSON from there. */
export function membersAt(text: string, at: number): MemberSpan[] {
  const found: MemberSpan[] = [];
  let i = skipSpace(text, at + 1);
  while (text[i] !== "}") {
    const keyEnd = valueEnd(text, i);
    const key = JSON.parse(text.slice(i, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    found.push({ key, start, end });
    i = skipSpace(text, end);
    if (text[i] === ",") i = skipSpace(text, i + 1);
  }
  return found;
}

/** Elements of the array at index `at`, in order. The text must be valid JSON from there. */
export function elementsAt(text: string, at: number): Span[] {
  const found: Span[] = [];
  let i = skipSpace(text, at + 1);
  while (text[i] !== "]") {
    const end = valueEnd(text, i);
    found.push({ start: i, end });
    i = skipSpace(text, end);
    if (text[i] === ",") i = skipSpace(text, i + 1);
  }
  return found;
}

/** First index from `at` on that is not white space. */
export function skipSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && " \t\r\n".includes(text[i] ?? "")) i++;
  return i;
}

/** End of the value at index `at`. */
function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  if (first !== "{" && first !== "[") {
    let i = at;
    while (i < text.length && !",]} \t\r\n".includes(text[i] ?? "")) i++;
    return i;
  }
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const c = text[i];
    if (c === '"') i = stringEnd(text, i) - 1;
    else if (c === "{" || c === "[") depth++;
    else if ((c === "}" || c === "]") && --depth === 0) return i + 1;
  }
  throw new RangeError("the text ends within a value; check it with JSON.parse first");
}

/** End of the string at index `at`. */
function stringEnd(text: string, at: number): number {
  let i = at + 1;
  while (text[i] !== '"') {
    if (i >= text.length) throw new RangeError("the text ends within a string; check it with JSON.parse first");
    i += text[i] === "\\" ? 2 : 1;
  }
  return i + 1;
}
