/**
 * PEM as read by BoringSSL, the TLS library of the proxies (PEM_read_bio): line by line, and stricter than RFC 7468.
 * The blocks found here are the blocks that Envoy will read, and reading stops at the same place.
 *
 * @module
 */

/** A block, or the reason why the reading ends. */
export type ProxyPemPart =
  | {
    readonly label: string;
    readonly der: Uint8Array;
    /** Lines before the base64: the header of an encrypted key, or lines before a misplaced blank line. */
    readonly header: string;
  }
  | { readonly fault: string };

/** Longest line for the library, in characters. */
const LINE = 253;
const BEGIN = "-----BEGIN ";
const END = "-----END ";
const DASHES = "-----";

/**
 * The blocks of a text, in order, up to the first fault in a block, which ends the reading. Text between blocks is
 * skipped.
 */
export function* proxyPem(text: string): Generator<ProxyPemPart> {
  const lines = new Lines(text);
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    if (!line.startsWith(BEGIN) || !line.endsWith(DASHES) || line.length < BEGIN.length + DASHES.length) continue;
    const label = line.slice(BEGIN.length, -DASHES.length);
    const part = readBlock(lines, label);
    yield part;
    if ("fault" in part) return;
  }
}

/** The reason why the library finds no block in a text, even if a person may see a block. */
export function whyNone(text: string, label: string): string {
  const at = text.indexOf(`${BEGIN}${label}${DASHES}`);
  if (at < 0) return `has no block ${label}`;
  const before = text.slice(text.lastIndexOf("\n", at) + 1, at);
  if (before === "") return `has no block ${label}`;
  return `has ${
    before === "\u00ef\u00bb\u00bf" || before === "\ufeff" ? "a byte order mark" : "text"
  } before a BEGIN line`;
}

const KEY_END = "PRIVATE KEY-----";

/**
 * A text without private keys, from each BEGIN line to the END line, or to the end of the text. Certificates are
 * public. A key beside a certificate must stay secret.
 */
export function withoutPrivateKeys(text: string): string {
  let kept = "";
  let from = 0;
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at + 1)) {
    const label = text.slice(at + BEGIN.length, at + BEGIN.length + LINE);
    const dashes = label.indexOf(DASHES);
    if (dashes < 0 || !label.slice(0, dashes + DASHES.length).endsWith(KEY_END)) continue;
    const end = `${END}${label.slice(0, dashes)}${DASHES}`;
    const last = text.indexOf(end, at);
    kept += text.slice(from, at);
    from = last < 0 ? text.length : last + end.length;
    at = Math.max(at, from - 1);
  }
  return kept + text.slice(from);
}

function readBlock(lines: Lines, label: string): ProxyPemPart {
  const first: string[] = [];
  let line = lines.next();
  while (line !== undefined && line !== "" && !line.startsWith(END)) {
    first.push(line);
    line = lines.next();
  }
  if (line !== "") return decoded(label, first, "", line);
  // A blank line ends a header. Behind it, each line of base64 except the last has 64 characters.
  const data: string[] = [];
  line = lines.next();
  while (line !== undefined && !line.startsWith(END) && line.length <= 64) {
    data.push(line);
    const isLast = line.length < 64;
    line = lines.next();
    if (isLast) break;
  }
  return decoded(label, data, first.join("\n"), line);
}

function decoded(label: string, data: readonly string[], header: string, end: string | undefined): ProxyPemPart {
  if (end !== `${END}${label}${DASHES}`) return { fault: endFault(label, end) };
  const base64 = data.join("").replaceAll(/[ \t\r]/g, "");
  try {
    if (base64 === "" || base64.length % 4 !== 0) return { fault: `has a block ${label} whose base64 is cut off` };
    return { label, header, der: Uint8Array.fromBase64(base64) };
  } catch {
    return { fault: `has a block ${label} that is not base64` };
  }
}

function endFault(label: string, end: string | undefined): string {
  if (end === undefined) return `has a block ${label} without its END line`;
  if (end.startsWith(`${END}${label}${DASHES}`)) {
    return `has text behind an END line of ${label}: each BEGIN has to begin a line`;
  }
  return `has a block ${label} with another line where its END line should be`;
}

/** Lines without trailing spaces. A long line comes in pieces. */
class Lines {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): string | undefined {
    if (this.#at >= this.#text.length) return undefined;
    const feed = this.#text.indexOf("\n", this.#at);
    const end = Math.min(feed < 0 ? this.#text.length : feed + 1, this.#at + LINE);
    let to = end;
    while (to > this.#at && this.#text.charCodeAt(to - 1) <= 0x20) to--;
    const line = this.#text.slice(this.#at, to);
    this.#at = end;
    return line;
  }
}
