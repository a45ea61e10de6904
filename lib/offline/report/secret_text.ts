/**
 * Texts without credentials: logs, messages, metrics, and texts inside of objects.
 *
 * More is taken out than necessary: a report is read by others, and a hidden word harms less than a shown key.
 *
 * @module
 */
import { HIDDEN } from "./hidden.ts";
import { withoutPatterns } from "./secret_patterns.ts";

/** The beginning of a private key in text, and its end. */
const KEY_START = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/i;
const KEY_END = /-{4,5} ?END [^\n-]{0,80}-{4,5}/;

/** The end of a private key whose beginning is not in the text: a log begins anywhere. */
const LOST_KEY_END = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/gi;

/** Signs of a token. */
const TOKEN_RUN = /[A-Za-z0-9_.-]+/g;

/** The beginning of the first part of a JWT: base64 of `{"`. */
const JWT_START = "eyJ";

/** First signs of tokens that services mark, and the fewest signs of such a token. */
const MARKS: readonly string[] = [
  "ghp_",
  "gho_",
  "ghs_",
  "ghu_",
  "github_pat_",
  "glpat-",
  "xoxb-",
  "xoxp-",
  "sk_live_",
];
const MARKED_TOKEN = 20;

/** Base64 of `-----BEGIN`. */
const PEM_START = "LS0tLS1CRUdJTi";

/** Characters of base64 that hold the first line of a key. */
const PEM_FIRST_LINE = 120;

/** `PRIVATE KEY` inside of base64, at each of the three places in which base64 may cut it. */
const KEY_IN_BASE64 = ["UFJJVkFURSBLRV", "QUklWQVRFIEtFW", "BSSVZBVEUgS0VZ"];

/** Signs of base64, and the fewest of a key. */
const BASE64_RUN = /[A-Za-z0-9+/=]+/g;
const SHORTEST_KEY = 60;

/** Words for a credential, and ends of names for one. */
const WORD =
  /password|passwd|passphrase|passcode|secret|token|credential|signature|hmac|cookie|authorization|mnemonic|seed[-_]?phrase|keyring|connection[-_]?string|sess(?:ion)?[-_]?id|(?:api|access|private|shared|account|signing|encryption|master|root|auth|session|license)[-_]?key|client[-_]key|(?<![a-z])(?:pass|pwd|dsn|psk|bind[-_]?pw)(?![a-z])|(?<=[a-z0-9])[-_](?:key|auth|pw)(?![a-z0-9_-])|\bx-[a-z0-9-]{0,40}(?:key|auth|session)\b|[?&](?:sig|key|auth|code|pw|jwt|assertion)(?==)/gi;

/** Headers whose values have blanks and signs of every kind. */
const WHOLE_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie"]);

/** Longest rest of a name behind such a word. */
const MAX_REST = 40;

/** Most blanks between a name and its value. */
const MAX_BLANKS = 80;

/** Signs between a name and its value. */
const SIGN = /:=|=>|->|={1,3}|:/y;

/** What stands between the name of a credential in an entry and the value: `"name": "password", "value": "x"`. */
const ENTRY_VALUE = /[\s,]{1,80}\\{0,7}["']?(?:value|exact)\\{0,7}["']?[ \t]{0,3}[:=]/y;

/** Most signs `\` before a quote of JSON in JSON. */
const MAX_ESCAPES = 7;

/** A text without private keys, tokens, and passwords. */
export function withoutSecretText(text: string): string {
  return withoutNamed(
    withoutPatterns(withoutKeys(text).replace(BASE64_RUN, withoutEncodedKey).replace(TOKEN_RUN, withoutToken)),
  );
}

/** A run of signs without the JWT in it. */
function withoutToken(run: string): string {
  const at = run.indexOf(JWT_START);
  if (run.length >= MARKED_TOKEN && MARKS.some((mark) => run.startsWith(mark))) return HIDDEN;
  const pem = run.indexOf(PEM_START);
  if (pem >= 0 && KEY_START.test(decoded(run.slice(pem, pem + PEM_FIRST_LINE)))) return `${run.slice(0, pem)}${HIDDEN}`;
  const [first = "", second = ""] = at < 0 ? [] : run.slice(at).split(".", 2);
  return first.length > JWT_START.length + 4 && second.length > 4 ? `${run.slice(0, at)}${HIDDEN}` : run;
}

/** Whether DER is a sequence that begins with the number 0 or 1, its version. A certificate begins with a sequence. */
function isKeyInDer(start: string): boolean {
  const [tag, length = 0] = [...start].map((sign) => sign.charCodeAt(0));
  const at = length < 0x80 ? 2 : 2 + length - 0x80;
  const number = [...start.slice(at, at + 3)].map((sign) => sign.charCodeAt(0));
  return tag === SEQUENCE && number[0] === INTEGER && number[1] === 1 && number[2]! <= 1;
}

/** Tags of DER. */
const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** Base64 without a private key in it, as text or as DER. */
function withoutEncodedKey(base64: string): string {
  if (base64.length < SHORTEST_KEY) return base64;
  if (KEY_IN_BASE64.some((sign) => base64.includes(sign))) return HIDDEN;
  return isKeyInDer(decoded(base64.slice(0, 16))) ? HIDDEN : base64;
}

/** The text behind base64; empty: it is none. */
function decoded(base64: string): string {
  try {
    return atob(base64.slice(0, base64.length - base64.length % 4));
  } catch {
    return "";
  }
}

/** Takes out values behind words for credentials: `password=x`, `"client_secret": "x"`. */
function withoutNamed(text: string): string {
  let kept = "";
  let from = 0;
  for (const { index, 0: word } of text.matchAll(WORD)) {
    if (index < from) continue;
    const value = valueAfter(text, index + word.length, word);
    if (value === undefined) continue;
    kept += `${text.slice(from, value.start)}${HIDDEN}`;
    from = value.end;
  }
  return kept + text.slice(from);
}

/** The place of the value behind a word; undefined: no value follows. */
function valueAfter(text: string, behind: number, word: string): TextPlace | undefined {
  let at = skipped(text, behind, MAX_REST, (sign) => /[a-z0-9_-]/i.test(sign));
  // Behind a quote is JSON: the value has quotes of its own.
  const isWholeHeader = at === behind && WHOLE_HEADERS.has(word.toLowerCase()) && !/[\\"']/.test(text[at] ?? "");
  const isFlag = text[at] === " " && isFlagBefore(text, behind - word.length);
  const nameEnd = skipped(text, at, MAX_ESCAPES + 1, (sign) => sign === "\\" || sign === '"' || sign === "'");
  at = afterBlanks(text, nameEnd);
  const encoded = ENCODED_SIGNS.has(text.slice(at, at + 3).toLowerCase());
  if (encoded) return { start: at + 3, end: skipped(text, at + 3, Infinity, (sign) => !/[\s&"',;]/.test(sign)) };
  const sign = endOf(SIGN, text, at);
  const entry = sign === undefined ? endOf(ENTRY_VALUE, text, nameEnd) : undefined;
  if (entry !== undefined) return plainValue(text, afterBlanks(text, entry));
  if (sign === undefined && (!isFlag || text[at] === "-")) return undefined;
  const start = afterBlanks(text, sign ?? at);
  const block = text[at] === ":" ? blockAfter(text, start, behind) : undefined;
  if (block !== undefined) return block;
  return isWholeHeader && sign !== undefined ? placeUntil(text, start, /[\r\n]/) : plainValue(text, start);
}

/** A value in quotes or brackets, or up to the next sign that ends a value. Undefined: nothing is there. */
function plainValue(text: string, start: number): TextPlace | undefined {
  const quoted = endOfQuoted(text, start);
  if (quoted !== undefined) return { start, end: quoted };
  return bracketAfter(text, start) ?? placeUntil(text, start, /[\s,;}\]]/);
}

function placeUntil(text: string, start: number, ends: RegExp): TextPlace | undefined {
  const end = skipped(text, start, Infinity, (sign) => !ends.test(sign));
  return end === start ? undefined : { start, end };
}

/** A list or a map in brackets, up to its end, or up to the end of the text. */
function bracketAfter(text: string, start: number): TextPlace | undefined {
  if (text[start] !== "[" && text[start] !== "{") return undefined;
  // What an earlier pass took out stays one word.
  if (text.startsWith(HIDDEN, start)) return undefined;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "[" || text[at] === "{") depth++;
    else if ((text[at] === "]" || text[at] === "}") && --depth === 0) return { start, end: at + 1 };
  }
  return { start, end: text.length };
}

function afterBlanks(text: string, from: number): number {
  return skipped(text, from, MAX_BLANKS, (sign) => sign === " " || sign === "\t");
}

/** The place behind a form that begins at a place. Undefined: another text is there. */
function endOf(form: RegExp, text: string, at: number): number | undefined {
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : undefined;
}

/** `=` and `:` in an address. */
const ENCODED_SIGNS: ReadonlySet<string> = new Set(["%3d", "%3a"]);

/** What stands before a block of YAML, in the line of its name: nothing, `|`, `>-`, `|2`, `!!binary |`. */
const BLOCK_HEAD = /^(?:!!?[a-z]{1,20} {1,3})?[|>]?[0-9+-]{0,3}[ \t\r]{0,3}$/;

/** Longest such head, in characters. */
const MAX_BLOCK_HEAD = 40;

/** The value of YAML in the lines behind its name, which are indented further than the name. Undefined: there is none. */
function blockAfter(text: string, start: number, word: number): TextPlace | undefined {
  const lineEnd = text.slice(start, start + MAX_BLOCK_HEAD).indexOf("\n");
  if (lineEnd < 0 || !BLOCK_HEAD.test(text.slice(start, start + lineEnd))) return undefined;
  const from = text.lastIndexOf("\n", word) + 1;
  const indent = skipped(text, from, MAX_INDENT, (sign) => sign === " " || sign === "-");
  let end = start + lineEnd;
  for (let at = end + 1; at < text.length; at = end + 1) {
    const content = skipped(text, at, MAX_INDENT, (sign) => sign === " ");
    const isBlank = /[\r\n]/.test(text[content] ?? "\n");
    // The entries of a list may stand as far left as the name of the list.
    const isEntry = content - at === indent - from && text.startsWith("- ", content) && text[from] !== "-";
    if (!isBlank && content - at <= indent - from && !isEntry) break;
    const next = text.indexOf("\n", content);
    end = next < 0 ? text.length : next;
  }
  const first = start + lineEnd + 1;
  return end > first ? { start: first, end } : undefined;
}

/** Deepest indent of YAML that is understood, in characters. */
const MAX_INDENT = 400;

interface TextPlace {
  readonly start: number;
  readonly end: number;
}

/** Whether a word is in the name of a flag, such as `--db-password` and `-token`. */
function isFlagBefore(text: string, word: number): boolean {
  let at = word;
  while (at > 0 && word - at < MAX_REST && /[a-z0-9_-]/i.test(text[at - 1]!)) at--;
  return text[at] === "-" && /[\s"']/.test(text[at - 1] ?? " ");
}

/** The end of a quoted value: behind the next quote with as many signs `\` as the first. Undefined: there is no quote. */
function endOfQuoted(text: string, start: number): number | undefined {
  const quoteAt = skipped(text, start, MAX_ESCAPES, (sign) => sign === "\\");
  const quote = text[quoteAt];
  if (quote !== '"' && quote !== "'") return undefined;
  for (let at = text.indexOf(quote, quoteAt + 1); at >= 0; at = text.indexOf(quote, at + 1)) {
    let escapes = 0;
    while (escapes <= MAX_ESCAPES && text[at - 1 - escapes] === "\\") escapes++;
    if (escapes <= quoteAt - start) return at + 1;
  }
  return text.length;
}

/** The place behind some signs. */
function skipped(text: string, from: number, most: number, isSkipped: (sign: string) => boolean): number {
  let at = from;
  while (at < text.length && at - from < most && isSkipped(text[at]!)) at++;
  return at;
}

/** Whether a private key is open behind a text. @param isOpen Whether a private key is open before the text. */
export function isInOpenKey(text: string, isOpen: boolean): boolean {
  let rest = text;
  for (let open = isOpen;;) {
    const next = (open ? KEY_END : KEY_START).exec(rest);
    if (next === null) return open;
    rest = rest.slice(next.index + next[0].length);
    open = !open;
  }
}

/** Takes out each private key up to its end, or up to the end of the text. */
function withoutKeys(text: string): string {
  let kept = "";
  let rest = text;
  for (;;) {
    const start = KEY_START.exec(rest);
    if (start === null) return kept === "" ? withoutLostKey(rest) : kept + rest;
    kept += `${rest.slice(0, start.index)}${HIDDEN}`;
    const behind = rest.slice(start.index + start[0].length);
    const end = KEY_END.exec(behind);
    if (end === null) return kept;
    rest = behind.slice(end.index + end[0].length);
  }
}

/** Takes out everything up to the end of a key that began before the text. */
function withoutLostKey(text: string): string {
  const last = [...text.matchAll(LOST_KEY_END)].at(-1);
  return last === undefined ? text : `${HIDDEN}${text.slice(last.index + last[0].length)}`;
}
