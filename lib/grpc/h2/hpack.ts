/**
 * HPACK (RFC 7541): decodes header blocks; encodes the few headers of responses without any state.
 *
 * @module
 */
import { ErrorCode } from "./constants.ts";
import { ConnectionError } from "./frames.ts";
import { decodeHuffman } from "./huffman.ts";

/** The dynamic table's limit that every peer starts with; we announce no other. */
const TABLE_LIMIT = 4096;
/** What an entry costs beyond its text (section 4.1). */
const ENTRY_OVERHEAD = 32;

/** The static table (appendix A), entry 1 first; `name=value` or `name`. */
const STATIC: readonly (readonly [string, string])[] = (
  ":authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|:status=204|" +
  ":status=206|:status=304|:status=400|:status=404|:status=500|accept-charset|accept-encoding=gzip, deflate|" +
  "accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|" +
  "content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|" +
  "cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|" +
  "last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|" +
  "server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate"
).split("|").map((entry) => {
  const at = entry.indexOf("=");
  return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
});

/** Header names are lower case; several headers of a name are joined by a comma, as RFC 9110 (5.3) allows. */
export type Headers = Record<string, string>;

const text = new TextDecoder("latin1");

/** Decodes the header blocks of one connection, in their order. */
export class HpackDecoder {
  #table: (readonly [string, string])[] = [];
  #size = 0;
  #limit = TABLE_LIMIT;
  #data: Uint8Array = new Uint8Array(0);
  #at = 0;

  /** @param maxListSize largest header list, counted as in RFC 9113, section 10.5.1 */
  constructor(private readonly maxListSize: number) {}

  /**
   * Decodes one block.
   *
   * @returns the headers; undefined when the list is too large or malformed as a request (the connection can go on)
   * @throws ConnectionError COMPRESSION_ERROR: the connection cannot go on
   */
  decode(block: Uint8Array): Headers | undefined {
    this.#data = block;
    this.#at = 0;
    const headers: Headers = Object.create(null);
    let listSize = 0;
    let fine = true;
    let begun = false;
    while (this.#at < block.length) {
      const first = block[this.#at]!;
      if ((first & 0xe0) === 0x20) {
        if (begun) throw broken("a table size change after a header");
        this.#resize(this.#integer(5));
        continue;
      }
      begun = true;
      const [name, value] = this.#header(first);
      listSize += name.length + value.length + ENTRY_OVERHEAD;
      if (listSize > this.maxListSize || !put(headers, name, value)) fine = false;
    }
    return fine ? headers : undefined;
  }

  #header(first: number): readonly [string, string] {
    if (first & 0x80) return this.#entry(this.#integer(7));
    const indexed = (first & 0x40) !== 0;
    const index = this.#integer(indexed ? 6 : 4);
    const name = index === 0 ? this.#string() : this.#entry(index)[0];
    const entry = [name, this.#string()] as const;
    if (indexed) this.#add(entry);
    return entry;
  }

  #entry(index: number): readonly [string, string] {
    const entry = index <= STATIC.length ? STATIC[index - 1] : this.#table[index - STATIC.length - 1];
    if (entry === undefined) throw broken(`index ${index} is in no table`);
    return entry;
  }

  #add(entry: readonly [string, string]): void {
    this.#table.unshift(entry);
    this.#size += entry[0].length + entry[1].length + ENTRY_OVERHEAD;
    this.#evict();
  }

  #resize(limit: number): void {
    if (limit > TABLE_LIMIT) throw broken(`a table of ${limit} bytes, limit ${TABLE_LIMIT}`);
    this.#limit = limit;
    this.#evict();
  }

  #evict(): void {
    while (this.#size > this.#limit) {
      const [name, value] = this.#table.pop()!;
      this.#size -= name.length + value.length + ENTRY_OVERHEAD;
    }
  }

  #integer(prefix: number): number {
    const max = (1 << prefix) - 1;
    let value = this.#byte() & max;
    if (value < max) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#byte();
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw broken("an integer that is too large");
  }

  #string(): string {
    const huffman = (this.#data[this.#at] ?? 0) & 0x80;
    const length = this.#integer(7);
    if (length > this.#data.length - this.#at) throw broken("a string longer than its block");
    const bytes = this.#data.subarray(this.#at, this.#at += length);
    if (!huffman) return text.decode(bytes);
    const decoded = decodeHuffman(bytes);
    if (decoded === undefined) throw broken("a string that is no Huffman code");
    return text.decode(decoded);
  }

  #byte(): number {
    const byte = this.#data[this.#at++];
    if (byte === undefined) throw broken("a truncated block");
    return byte;
  }
}

function broken(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.COMPRESSION_ERROR, `header block: ${what}`);
}

/** False for what no request may hold: upper case, a pseudo-header twice, control characters (RFC 9113, section 8.2). */
function put(headers: Headers, name: string, value: string): boolean {
  if (!/^:?[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || /[\0\r\n]/.test(value)) return false;
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else if (name[0] === ":") return false;
  else headers[name] = `${before}, ${value}`;
  return true;
}

/** Encodes headers as literals without indexing; names must be lower case, values ASCII. */
export function encodeHeaders(headers: Readonly<Record<string, string>>): Uint8Array {
  const out: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name === ":status" && value === "200") out.push(0x88);
    else {
      out.push(0);
      putString(out, name);
      putString(out, value);
    }
  }
  return Uint8Array.from(out);
}

function putString(out: number[], value: string): void {
  let length = value.length;
  if (length < 127) out.push(length);
  else {
    out.push(127);
    for (length -= 127; length >= 128; length >>>= 7) out.push(length & 127 | 128);
    out.push(length);
  }
  for (let i = 0; i < value.length; i++) out.push(value.charCodeAt(i) & 255);
}
