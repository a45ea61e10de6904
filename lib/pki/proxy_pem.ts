/**
 * PEM as the TLS library of the proxies reads it (BoringSSL's PEM_read_bio): line by line, and stricter than RFC 7468. What
 * is read here is what Envoy will read; where it stops, so does this.
 *
 * @module
 */

/** One block, or where the reading ends and why. */
export type ProxyPemPart =
  | {
    readonly label: string;
    readonly der: Uint8Array;
    /** Lines before the base64: of an encrypted key, or by a blank line that stands too early. */
    readonly header: string;
  }
  | { readonly fault: string };

/** Characters that the library takes for a line at most. */
const LINE = 253;
const BEGIN = "-----BEGIN ";
const END = "-----END ";
const DASHES = "-----";

/** The blocks of a text, in order, and the first thing in a block that ends the reading. Text between blocks is passed over. */
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

/** Why the library finds no block in a text in which a person may see one. */
export function whyNone(text: string, label: string): string {
  const at = text.indexOf(`${"-----"}BEGIN ${label}-----`);
  if (at < 0) return "is none";
  const before = text.slice(text.lastIndexOf("\n", at) + 1, at);
  if (before === "") return "is none";
  return `has ${
    before === "\u00ef\u00bb\u00bf" || before === "\ufeff" ? "a byte order mark" : "text"
  } before a BEGIN line`;
}

const KEY_END = "PRIVATE KEY-----";

/**
 * A text without its private keys, from the BEGIN line of each to its END line, or to the end of the text. Certificates
 * are shown to everyone; a key that lies beside them is meant for nobody.
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
  // A blank line ends a header; of the base64 behind it each line but the last has 64 characters.
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
    return { fault: `has a block ${label} that is no base64` };
  }
}

function endFault(label: string, end: string | undefined): string {
  if (end === undefined) return `has a block ${label} without its END line`;
  if (end.startsWith(`${END}${label}${DASHES}`)) {
    return `has text behind an END line of ${label}: each BEGIN has to begin a line`;
  }
  return `has a block ${label} with another line where its END line should be`;
}

/** Lines without the spaces at their ends; a long one comes in pieces. */
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
