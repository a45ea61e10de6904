import assert from "node:assert/strict";
import fc from "fast-check";
import { ConnectionError } from "../../../lib/grpc/h2/frames.ts";
import { encodeHeaders, HpackDecoder } from "../../../lib/grpc/h2/hpack.ts";
import { decodeHuffman } from "../../../lib/grpc/h2/huffman.ts";

const hex = (text: string) => Uint8Array.fromHex(text.replaceAll(/\s/g, ""));
const plain = (headers: object | undefined) => ({ ...headers });

Deno.test("the requests of RFC 7541, appendix C.3, decode with one table", () => {
  const decoder = new HpackDecoder(10_000);
  assert.deepEqual(plain(decoder.decode(hex("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"))), {
    ":method": "GET",
    ":scheme": "http",
    ":path": "/",
    ":authority": "www.example.com",
  });
  assert.deepEqual(plain(decoder.decode(hex("8286 84be 5808 6e6f 2d63 6163 6865"))), {
    ":method": "GET",
    ":scheme": "http",
    ":path": "/",
    ":authority": "www.example.com",
    "cache-control": "no-cache",
  });
  assert.deepEqual(
    plain(decoder.decode(hex("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"))),
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
  const decoder = new HpackDecoder(10_000);
  assert.equal(decoder.decode(hex("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"))![":authority"], "www.example.com");
  assert.equal(decoder.decode(hex("8286 84be 5886 a8eb 1064 9cbf"))!["cache-control"], "no-cache");
  const third = decoder.decode(hex("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"))!;
  assert.equal(third["custom-key"], "custom-value");
});

Deno.test("the responses of appendix C.6, whose Huffman strings hold digits and punctuation, decode", () => {
  const decoder = new HpackDecoder(10_000);
  const headers = decoder.decode(
    hex(
      "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
    ),
  )!;
  assert.deepEqual(plain(headers), {
    ":status": "302",
    "cache-control": "private",
    date: "Mon, 21 Oct 2013 20:13:21 GMT",
    location: "https://www.example.com",
  });
});

Deno.test("a Huffman string with wrong padding or the end symbol is refused", () => {
  assert.notEqual(decodeHuffman(hex("f1e3c2e5f23a6ba0ab90f4ff")), undefined);
  assert.equal(decodeHuffman(hex("f1e3c2e5f23a6ba0ab90f4ffff")), undefined, "a whole byte of padding");
  assert.equal(decodeHuffman(hex("f1e3c2e5f23a6ba0ab90f4fe")), undefined, "padding that is not all ones");
  assert.equal(decodeHuffman(hex("fffffffc")), undefined, "the end symbol");
});

Deno.test("what we encode decodes to itself", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
  const value = fc.stringMatching(/^[ -~]{0,300}$/);
  fc.assert(fc.property(fc.dictionary(name, value), (headers) => {
    const all = { ":status": "200", ...headers };
    assert.deepEqual(plain(new HpackDecoder(1e6).decode(encodeHeaders(all))), all);
  }));
});

Deno.test("arbitrary blocks decode, are refused, or end the connection, in any order, never anything else", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (blocks) => {
      const decoder = new HpackDecoder(1000);
      try {
        for (const block of blocks) decoder.decode(block);
      } catch (error) {
        assert.ok(error instanceof ConnectionError && error.code === 9, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

Deno.test("a small block that unfolds to a large list is refused, and the table stays within its limit", () => {
  const decoder = new HpackDecoder(10_000);
  const value = "v".repeat(3000);
  const first = new Uint8Array([0x40, 1, 97, 0x7f, 0xb9, 0x16, ...new TextEncoder().encode(value)]);
  assert.equal(decoder.decode(first)!.a, value);
  assert.equal(decoder.decode(new Uint8Array(1000).fill(0xbe)), undefined, "1 kB that stand for 3 MB");
  assert.equal(decoder.decode(new Uint8Array([0xbe]))!.a, value, "the connection goes on");
});

Deno.test("upper case, control characters and a pseudo-header twice make a request malformed", () => {
  const bad = [{ Upper: "x" }, { a: "x\ny" }, { "": "x" }];
  for (const headers of bad) assert.equal(new HpackDecoder(1000).decode(encodeHeaders(headers)), undefined);
  assert.equal(new HpackDecoder(1000).decode(hex("8282")), undefined);
  assert.equal(
    new HpackDecoder(1000).decode(encodeHeaders({ "__proto__": "x", ["constructor"]: "y" }))!.constructor,
    "y",
  );
});
