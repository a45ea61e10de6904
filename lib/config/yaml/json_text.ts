/**
 * JSON in a YAML file: programs write such text, in one line and often long. YAML contains JSON, but the full parser
 * takes thirty times as long as a parser of JSON, and blocks the event loop.
 *
 * So JSON text is read as JSON if YAML gives the same meaning: no duplicate keys, no characters that YAML refuses, no
 * merge keys.
 *
 * @module
 */

/** The answer of {@link parseJsonText} to a text that is not JSON, or that may have another meaning in YAML. */
export const NOT_JSON: unique symbol = Symbol("not JSON");

/** Characters with the same meaning in both languages. Tabs are left to YAML, which has rules about tabs. */
const TAKEN = /^[\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** Parses a text that begins like JSON. @returns the value, or {@link NOT_JSON} */
export function parseJsonText(text: string): unknown {
  if (!beginsAsJson(text) || text.includes('"<<"') || !TAKEN.test(text)) return NOT_JSON;
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
  return keysOf(tree) === writtenKeys(text) ? tree : NOT_JSON;
}

/** Whether the first character that is not blank opens a JSON object, or a list. `{{` opens a template. */
function beginsAsJson(text: string): boolean {
  const at = afterBlanks(text, 0);
  return text[at] === "[" || text[at] === "{" && text[at + 1] !== "{";
}

/** The place of the next character that is not blank. */
export function afterBlanks(text: string, from: number): number {
  let at = from;
  while (" \n\r\t".includes(text[at] ?? "x")) at++;
  return at;
}

/** The place behind a string. @param start Place of the opening quotation mark */
export function afterString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let before = quote;
    while (text[before - 1] === "\\") before--;
    if ((quote - before) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** How many keys the objects of a tree have. */
function keysOf(tree: unknown): number {
  let count = 0;
  const pending = [tree];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    const inside = Object.values(value);
    if (!Array.isArray(value)) count += inside.length;
    for (const one of inside) pending.push(one);
  }
  return count;
}

/** The number of keys in a JSON text. With duplicate keys the tree has fewer. */
function writtenKeys(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = afterString(text, at);
    if (text[afterBlanks(text, at)] === ":") count++;
  }
  return count;
}
