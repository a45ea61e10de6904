/**
 * HPACK (RFC 7541): decodes header blocks; encodes the few headers of responses without any state.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { ErrorCode } from "./constants.ts";
import { ConnectionError } from "./frames.ts";
import { decodeHuffman, huffmanSize } from "./huffman.ts";

/** The initial limit of the dynamic table. No other limit is announced here. */
const TABLE_LIMIT = 4096;
/** The size of an entry beyond the text (section 4.1). */
const ENTRY_OVERHEAD = 32;
/** Most entries of the dynamic table. */
const MAX_ENTRIES = TABLE_LIMIT / ENTRY_OVERHEAD;

/** The static table (appendix A), entry 1 first; `name=value` or `name`. */
const STATIC: readonly TableEntry[] = (
  ":authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|:status=204|" +
  ":status=206|:status=304|:status=400|:status=404|:status=500|accept-charset|accept-encoding=gzip, deflate|" +
  "accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|" +
  "content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|" +
  "cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|" +
  "last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|" +
  "server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate"
).split("|").map((entry) => {
  const at = entry.indexOf("=");
  return { name: at < 0 ? entry : entry.slice(0, at), value: at < 0 ? "" : entry.slice(at + 1), size: 0 };
});

/** Takes decoded headers. */
export interface HeaderSink {
  /** The sink takes no more headers. Headers that do not change the table are passed over. */
  readonly tooLarge: boolean;
  add(name: string, value: string): void;
}

/** An entry of a table. */
interface TableEntry {
  readonly name: string;
  readonly value: string;
  /** The size in the table (section 4.1). */
  readonly size: number;
}

/** Decodes the header blocks of one connection, in order. */
export class HpackDecoder {
  readonly #table = new EntryTable();
  #data: Buffer = Buffer.alloc(0);
  #at = 0;

  /**
   * Decodes a block. Every block must be decoded, wanted or not: decoding changes the table for the next block.
   *
   * @param list takes the headers; headers beyond its size are passed over at little cost
   * @throws ConnectionError COMPRESSION_ERROR: the connection cannot go on
   */
  decode(block: Uint8Array, list: HeaderSink): void {
    this.#data = Buffer.from(block.buffer, block.byteOffset, block.length);
    this.#at = 0;
    let begun = false;
    while (this.#at < block.length) {
      const first = block[this.#at]!;
      if ((first & 0xe0) !== 0x20) {
        begun = true;
        this.#header(first, list);
      } else if (begun) throw broken("a table size change after a header");
      else this.#table.resize(this.#integer(5));
    }
    this.#data = Buffer.alloc(0);
  }

  #header(first: number, list: HeaderSink): void {
    if (first & 0x80) {
      const { name, value } = this.#table.entry(this.#integer(7));
      return list.add(name, value);
    }
    const indexed = (first & 0x40) !== 0;
    const index = this.#integer(indexed ? 6 : 4);
    if (list.tooLarge && !indexed) {
      if (index === 0) this.#skipString();
      else this.#table.entry(index);
      this.#skipString();
      return;
    }
    const name = index === 0 ? this.#string() : this.#table.entry(index).name;
    const value = this.#string();
    if (indexed) this.#table.add(name, value);
    list.add(name, value);
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
    const from = this.#skipString();
    if (!huffman) return this.#data.toString("latin1", from, this.#at);
    const out = Buffer.allocUnsafe(huffmanSize(this.#at - from));
    const length = decodeHuffman(this.#data.subarray(from, this.#at), out);
    if (length < 0) throw broken("a string that is not a Huffman code");
    return out.toString("latin1", 0, length);
  }

  /** Passes over a string; returns the start of its bytes. */
  #skipString(): number {
    const length = this.#integer(7);
    if (length > this.#data.length - this.#at) throw broken("a string longer than its block");
    this.#at += length;
    return this.#at - length;
  }

  #byte(): number {
    const byte = this.#data[this.#at++];
    if (byte === undefined) throw broken("a truncated block");
    return byte;
  }
}

/** The static and the dynamic table. */
class EntryTable {
  /** The dynamic entries in a ring, so that a new entry moves no other. */
  readonly #ring: (TableEntry | undefined)[] = [];
  #newest = 0;
  #count = 0;
  #size = 0;
  #limit = TABLE_LIMIT;

  /** The entry at an index of both tables. */
  entry(index: number): TableEntry {
    const at = index - STATIC.length - 1;
    const entry = at < 0
      ? STATIC[index - 1]
      : at < this.#count
      ? this.#ring[(this.#newest - at + MAX_ENTRIES) % MAX_ENTRIES]
      : undefined;
    if (entry === undefined) throw broken(`index ${index} is in no table`);
    return entry;
  }

  add(name: string, value: string): void {
    const size = name.length + value.length + ENTRY_OVERHEAD;
    this.#size += size;
    this.#evict();
    // An entry larger than the whole table empties the table, and is not added (section 4.4).
    if (size > this.#limit) return void (this.#size = 0);
    this.#newest = (this.#newest + 1) % MAX_ENTRIES;
    this.#ring[this.#newest] = { name, value, size };
    this.#count++;
  }

  resize(limit: number): void {
    if (limit > TABLE_LIMIT) throw broken(`a table of ${limit} bytes, limit ${TABLE_LIMIT}`);
    this.#limit = limit;
    this.#evict();
  }

  #evict(): void {
    while (this.#size > this.#limit && this.#count > 0) {
      const oldest = (this.#newest - --this.#count + MAX_ENTRIES) % MAX_ENTRIES;
      this.#size -= this.#ring[oldest]!.size;
      this.#ring[oldest] = undefined;
    }
  }
}

function broken(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.COMPRESSION_ERROR, `header block: ${what}`);
}

/** Encoded forms of repeated headers. */
const repeated = new WeakMap<Readonly<Record<string, string>>, Uint8Array>();

/** The same headers, encoded once instead of for each response. The headers must not change. */
export function repeatedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  repeated.set(headers, encoded(headers));
  return headers;
}

/** Encodes headers as literals without indexing; names must be lower case, values ASCII. */
export function encodeHeaders(headers: Readonly<Record<string, string>>): Uint8Array {
  return repeated.get(headers) ?? encoded(headers);
}

function encoded(headers: Readonly<Record<string, string>>): Uint8Array {
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
