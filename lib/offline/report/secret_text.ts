/**
 * Texts without credentials: logs, messages, metrics, and texts inside of objects.
 *
 * More is taken out than necessary: a report is read by others, and a hidden word harms less than a shown key.
 *
 * @module
 */

/** Stands for what was taken out. */
export const HIDDEN = "[redacted]";

/** The beginning of a private key in text, and its end. */
const KEY_START = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END = "-----END";

/** The end of a private key whose beginning is not in the text: a log begins anywhere. */
const LOST_KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

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

/** Credentials of a request behind the name of their scheme. */
const SCHEME = /\b(Bearer|Basic|Digest|Negotiate)(\s+|%20)[^\s"',;}\]]+/gi;

/** User and password of an address. */
const USER_INFO = /:\/\/[^\s/"]{1,4000}@/g;

/** The same without a scheme: `user:password@host`. */
const BARE_USER_INFO = /(?<![\w.+%-])([\w.+%-]{1,64}):[^\s/@"',;]{1,200}@(?!sha256:)(?=[\w.[-])/g;

/** The flag of curl for a user and a password. */
const CURL_USER = /(?<=\s)(-u|--user|--proxy-user|-U)([ =]{1,3})(['"]?)([\w.@+%-]{1,64}):[^\s'"]{1,200}/g;

/** A word for a credential. */
const WORD =
  /password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|shared[-_]?key|account[-_]?key|client[-_]key|authorization|cookie|credential|signature|hmac|\bpwd|\bpass\b|\bx-[a-z0-9-]{0,40}(?:key|auth|session)\b|[?&](?:sig|key|auth)(?==)/gi;

/** Headers whose values have blanks and signs of every kind. */
const WHOLE_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie"]);

/** Longest rest of a name behind such a word. */
const MAX_REST = 40;

/** Most blanks around the sign between a name and its value. */
const MAX_BLANKS = 3;

/** Most signs `\` before a quote of JSON in JSON. */
const MAX_ESCAPES = 7;

/** A text without private keys, tokens, and passwords. */
export function withoutSecretText(text: string): string {
  return withoutNamed(
    withoutKeys(text)
      .replace(TOKEN_RUN, withoutToken)
      .replace(SCHEME, (_all, scheme: string) => `${scheme} ${HIDDEN}`)
      .replace(USER_INFO, `://${HIDDEN}@`)
      .replace(BARE_USER_INFO, `${HIDDEN}@`)
      .replace(CURL_USER, `$1$2$3${HIDDEN}`),
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
  at = skipped(text, at, 2, (sign) => sign === "\\" || sign === '"' || sign === "'");
  at = skipped(text, at, MAX_BLANKS, (sign) => sign === " " || sign === "\t");
  const encoded = ENCODED_SIGNS.has(text.slice(at, at + 3).toLowerCase());
  const hasSign = text[at] === ":" || text[at] === "=";
  if (encoded) return { start: at + 3, end: skipped(text, at + 3, Infinity, (sign) => !/[\s&"',;]/.test(sign)) };
  if (!hasSign && (!isFlag || text[at] === "-")) return undefined;
  const start = skipped(text, hasSign ? at + 1 : at, MAX_BLANKS, (sign) => sign === " " || sign === "\t");
  const block = text[at] === ":" ? blockAfter(text, start, behind) : undefined;
  if (block !== undefined) return block;
  const quoted = isWholeHeader ? undefined : endOfQuoted(text, start);
  if (quoted !== undefined) return { start, end: quoted };
  const ends = isWholeHeader && hasSign ? /[\r\n]/ : /[\s,;}\]]/;
  const end = skipped(text, start, Infinity, (sign) => !ends.test(sign));
  return end === start ? undefined : { start, end };
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
    if (!isBlank && content - at <= indent - from) break;
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

/** Whether a word is in the name of a flag, such as `--db-password`. */
function isFlagBefore(text: string, word: number): boolean {
  let at = word;
  while (at > 0 && word - at < MAX_REST && /[a-z0-9_-]/i.test(text[at - 1]!)) at--;
  return text.startsWith("--", at);
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

/** Takes out each private key up to its end, or up to the end of the text. */
function withoutKeys(text: string): string {
  let kept = "";
  let rest = text;
  for (;;) {
    const start = KEY_START.exec(rest);
    if (start === null) return kept === "" ? withoutLostKey(rest) : kept + rest;
    kept += `${rest.slice(0, start.index)}${HIDDEN}`;
    const behind = rest.slice(start.index + start[0].length);
    const end = behind.indexOf(KEY_END);
    if (end < 0) return kept;
    const lineEnd = behind.indexOf("-----", end + KEY_END.length);
    rest = lineEnd < 0 ? "" : behind.slice(lineEnd + "-----".length);
  }
}

/** Takes out everything up to the end of a key that began before the text. */
function withoutLostKey(text: string): string {
  const last = [...text.matchAll(LOST_KEY_END)].at(-1);
  return last === undefined ? text : `${HIDDEN}${text.slice(last.index + last[0].length)}`;
}
