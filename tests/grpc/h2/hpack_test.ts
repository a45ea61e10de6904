import assert from "node:assert/strict";
import fc from "fast-check";
import { ConnectionError } from "../../../lib/grpc/h2/frames.ts";
import { HeaderList, requestFault } from "../../../lib/grpc/h2/headers.ts";
import { encodeHeaders, type HeaderSink, HpackDecoder, repeatedHeaders } from "../../../lib/grpc/h2/hpack.ts";
import { decodeHuffman, huffmanSize } from "../../../lib/grpc/h2/huffman.ts";
import { runs } from "../../properties.ts";

const hex = (text: string) => Uint8Array.fromHex(text.replaceAll(/\s/g, ""));

/** Collects all headers unchanged. */
class Collector implements HeaderSink {
  readonly tooLarge = false;
  readonly headers: [string, string][] = [];
  add(name: string, value: string): void {
    this.headers.push([name, value]);
  }
}

function decode(decoder: HpackDecoder, block: Uint8Array): Record<string, string> {
  const collector = new Collector();
  decoder.decode(block, collector);
  return Object.fromEntries(collector.headers);
}

function decodeList(decoder: HpackDecoder, block: Uint8Array, maxSize = 10_000): HeaderList {
  const list = new HeaderList(maxSize);
  decoder.decode(block, list);
  return list;
}

Deno.test("the requests of RFC 7541, appendix C.3, decode with one table", () => {
  const decoder = new HpackDecoder();
  assert.deepEqual(decode(decoder, hex("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d")), {
    ":method": "GET",
    ":scheme": "http",
    ":path": "/",
    ":authority": "www.example.com",
  });
  assert.deepEqual(decode(decoder, hex("8286 84be 5808 6e6f 2d63 6163 6865")), {
    ":method": "GET",
    ":scheme": "http",
    ":path": "/",
    ":authority": "www.example.com",
    "cache-control": "no-cache",
  });
  assert.deepEqual(
    decode(decoder, hex("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65")),
    {
      ":method": "GET",
      ":scheme": "https",
      ":path": "/index.html",
      ":authority": "www.example.com",
      "custom-key": "custom-value",
    },
  );
});

Deno.test("the same requests with Huffman strings, appendix C.4, decode", () => {
  const decoder = new HpackDecoder();
  assert.equal(decode(decoder, hex("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"))[":authority"], "www.example.com");
  assert.equal(decode(decoder, hex("8286 84be 5886 a8eb 1064 9cbf"))["cache-control"], "no-cache");
  const third = decode(decoder, hex("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"));
  assert.equal(third["custom-key"], "custom-value");
});

Deno.test("the responses of appendix C.6, whose Huffman strings hold digits and punctuation, decode", () => {
  const decoder = new HpackDecoder();
  const headers = decode(
    decoder,
    hex(
      "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
    ),
  );
  assert.deepEqual(headers, {
    ":status": "302",
    "cache-control": "private",
    date: "Mon, 21 Oct 2013 20:13:21 GMT",
    location: "https://www.example.com",
  });
});

Deno.test("a Huffman string with wrong padding or the end symbol is refused", () => {
  const length = (text: string) => decodeHuffman(hex(text), new Uint8Array(100));
  assert.equal(length("f1e3c2e5f23a6ba0ab90f4ff"), "www.example.com".length);
  assert.equal(length("f1e3c2e5f23a6ba0ab90f4ffff"), -1, "a whole byte of padding");
  assert.equal(length("f1e3c2e5f23a6ba0ab90f4fe"), -1, "padding that is not all ones");
  assert.equal(length("fffffffc"), -1, "the end symbol");
});

/** The code of RFC 7541, appendix B, bit by bit, from the lengths of the canonical code words. */
const CODES = codes();

function codes(): string[] {
  const source = Deno.readTextFileSync(new URL("../../../lib/grpc/h2/huffman.ts", import.meta.url));
  const letters = [...source.matchAll(/"([a-z]+)"/g)].map((match) => match[1]).join("");
  const lengths = [...letters].map((letter) => letter.charCodeAt(0) - 92);
  const order = lengths.map((length, symbol) => ({ length, symbol })).sort((a, b) =>
    a.length - b.length || a.symbol - b.symbol
  );
  const out: string[] = [];
  let code = 0;
  let previous = 0;
  for (const { length, symbol } of order) {
    code *= 2 ** (length - previous);
    previous = length;
    out[symbol] = (code++).toString(2).padStart(length, "0");
  }
  return out;
}

Deno.test("the code has a word for each of 257 symbols, no bits are left over, and rare symbols have the words of appendix B", () => {
  assert.equal(CODES.length, 257);
  assert.equal(CODES.reduce((sum, { length }) => sum + 2 ** -length, 0), 1);
  const words = {
    1: "7fffd8",
    9: "ffffea",
    22: "3ffffffe",
    128: "fffe6",
    195: "7fff1",
    254: "7fffff0",
    255: "3ffffee",
  };
  for (const [symbol, word] of Object.entries(words)) {
    assert.equal(parseInt(CODES[Number(symbol)]!, 2).toString(16), word, `symbol ${symbol}`);
  }
  assert.equal(parseInt(CODES[256]!, 2).toString(16), "3fffffff", "the end symbol");
});

Deno.test("any bytes, encoded bit by bit, decode to themselves, only with allowed padding", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(8), (bytes, extra) => {
    const bits = [...bytes].map((byte) => CODES[byte]).join("");
    const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1") + "1".repeat(extra === 8 ? 8 : 0);
    const data = Uint8Array.from(whole.match(/.{8}/g) ?? [], (byte) => parseInt(byte, 2));
    const out = new Uint8Array(huffmanSize(data.length));
    const length = decodeHuffman(data, out);
    if (extra === 8) assert.equal(length, -1);
    else assert.deepEqual(out.subarray(0, length), bytes);
  }));
});

Deno.test("our encoding decodes to the same headers", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
  const value = fc.stringMatching(/^[ -~]{0,300}$/);
  fc.assert(fc.property(fc.dictionary(name, value), (headers) => {
    const all = { ":status": "200", ...headers };
    assert.deepEqual(decode(new HpackDecoder(), encodeHeaders(all)), all);
  }));
});

Deno.test("arbitrary blocks decode, are refused, or end the connection, in any order, never anything else", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (blocks) => {
      const decoder = new HpackDecoder();
      try {
        for (const block of blocks) decoder.decode(block, new HeaderList(1000));
      } catch (error) {
        assert.ok(error instanceof ConnectionError && error.code === 9, String(error));
      }
    }),
    { numRuns: runs(3000) },
  );
});

Deno.test("a small block that unfolds to a large list is refused, and the table stays within its limit", () => {
  const decoder = new HpackDecoder();
  const value = "v".repeat(3000);
  const first = new Uint8Array([0x40, 1, 97, 0x7f, 0xb9, 0x16, ...new TextEncoder().encode(value)]);
  assert.equal(decodeList(decoder, first).headers.a, value);
  const large = decodeList(decoder, new Uint8Array(1000).fill(0xbe));
  assert.ok(large.tooLarge, "1 kB that stand for 3 MB");
  assert.ok(Object.values(large.headers).join("").length < 10_000);
  assert.equal(decodeList(decoder, new Uint8Array([0xbe])).headers.a, value, "the connection goes on");
});

Deno.test("headers that are passed over in a list that is too large enter the table all the same", () => {
  const decoder = new HpackDecoder();
  const long = encodeHeaders({ a: "x".repeat(200) });
  const indexed = new Uint8Array([0x40, ...encodeHeaders({ kept: "yes" }).subarray(1)]);
  assert.ok(decodeList(decoder, new Uint8Array([...long, ...long, ...indexed, ...long]), 100).tooLarge);
  assert.deepEqual({ ...decodeList(decoder, new Uint8Array([0xbe])).headers }, { kept: "yes" });
  const [index, end] = [new Uint8Array([0x0f, 0xff, 0xff]), new Uint8Array([0, 5, 97])];
  for (const broken of [index, end]) {
    assert.throws(() => decodeList(decoder, new Uint8Array([...long, ...long, ...broken]), 100), ConnectionError);
  }
});

Deno.test("the table holds as many entries as fit, the newest first, and an entry larger than the table empties it", () => {
  const decoder = new HpackDecoder();
  const add = (name: string, value: string) =>
    decode(decoder, new Uint8Array([0x40, ...encodeHeaders({ [name]: value }).subarray(1)]));
  for (let i = 0; i < 1000; i++) add(`n${i}`, "");
  // Each counts 36 bytes, so 113 fit into 4,096; index 62 is the newest.
  assert.deepEqual(decode(decoder, new Uint8Array([0xbe])), { n999: "" });
  assert.deepEqual(decode(decoder, new Uint8Array([0xff, 62 + 112 - 127])), { n887: "" });
  assert.throws(() => decode(decoder, new Uint8Array([0xff, 62 + 113 - 127])), ConnectionError);
  add("big", "x".repeat(5000));
  assert.throws(() => decode(decoder, new Uint8Array([0xbe])), ConnectionError);
  add("a", "1");
  assert.deepEqual(decode(decoder, new Uint8Array([0xbe])), { a: "1" });
});

Deno.test("a header that no request may have makes a list malformed", () => {
  const request = { ":method": "POST", ":scheme": "http", ":path": "/x" };
  const fault = (headers: Record<string, string>) =>
    requestFault(decodeList(new HpackDecoder(), encodeHeaders(headers)));
  assert.equal(fault(request), undefined);
  assert.equal(fault({ ":authority": "x", ...request, te: "trailers", "content-length": "5" }), undefined);
  assert.equal(fault({ ...request, te: "trailers", ":authority": "x" }), ":authority after other headers");
  const bad: Record<string, string>[] = [
    { Upper: "x" },
    { a: "x\ny" },
    { "": "x" },
    { ":unknown": "x" },
    { ":status": "200" },
    { connection: "close" },
    { te: "gzip" },
    { "content-length": "x" },
  ];
  for (const more of bad) assert.notEqual(fault({ ...request, ...more }), undefined, JSON.stringify(more));
  for (const missing of Object.keys(request)) {
    assert.notEqual(fault({ ...request, [missing]: "" }), undefined, `${missing} empty`);
    const { [missing as ":path"]: _, ...rest } = request;
    assert.notEqual(fault(rest), undefined, `no ${missing}`);
  }
  assert.equal(requestFault(decodeList(new HpackDecoder(), hex("8282"))), ":method twice");
  const names = decodeList(new HpackDecoder(), encodeHeaders({ ["constructor"]: "y" }));
  assert.equal(names.headers.constructor, "y");
});

Deno.test("repeated headers are encoded once, as others are each time", () => {
  const headers = { ":status": "200", "content-type": "application/grpc" };
  const repeated = repeatedHeaders({ ...headers });
  assert.equal(encodeHeaders(repeated), encodeHeaders(repeated));
  assert.deepEqual(encodeHeaders(repeated), encodeHeaders(headers));
});
