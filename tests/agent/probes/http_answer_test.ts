import assert from "node:assert/strict";
import fc from "fast-check";
import { AnswerReader, MAX_PROBE_BODY, type ProbeAnswer } from "../../../lib/agent/probes/http_answer.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Reads bytes that come in parts. The connection ends behind the last part. */
function read(text: string, cuts: readonly number[] = []): ProbeAnswer {
  const bytes = encode(text);
  const reader = new AnswerReader();
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (const [i, from] of places.slice(0, -1).entries()) {
    const answer = reader.push(bytes.subarray(from, places[i + 1]));
    if (answer !== undefined) return answer;
  }
  return reader.end();
}

const RESPONSES: readonly (readonly [string, number, string, boolean])[] = [
  ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true],
  ["HTTP/1.1 503 Not now\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 503, "", false],
  ["HTTP/1.1 204\r\n\r\n", 204, "", true],
  ["HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end", false],
  [
    "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3;x=1\r\nabc\r\n0a\r\n0123456789\r\n0\r\nx: y\r\n\r\n",
    200,
    "abc0123456789",
    true,
  ],
  [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
    200,
    "x",
    true,
  ],
];

Deno.test("responses are read the same, in whatever parts their bytes arrive", () => {
  for (const [text, status, body, isReusable] of RESPONSES) {
    fc.assert(fc.property(fc.array(fc.nat(200)), (cuts) => {
      const answer = read(text, cuts);
      assert.deepEqual([answer.status, decode(answer.body), answer.isReusable], [status, body, isReusable], text);
    }));
  }
});

Deno.test("bytes that are not a complete response are refused with the reason", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["", /closed without a response/],
    ["SSH-2.0-OpenSSH\r\n\r\n", /not an HTTP\/1 response/],
    ["HTTP/1.1 200 OK\r\nContent-Le", /cut off/],
    ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", /cut off/],
    ["HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", /content-length is not a number/],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", /no size/],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", /does not end where it says/],
    ["HTTP/1.1 101 Switching\r\n\r\n", /status 101/],
    ["HTTP/1.1 999 What\r\n\r\n", /status 999/],
    [`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}`, /longer than 65536 bytes/],
  ];
  for (const [text, reason] of cases) assert.throws(() => read(text), reason, text.slice(0, 60));
});

Deno.test("of a long body the begin is read, and the connection is not used again", () => {
  for (const head of ["Content-Length: 1000000\r\n\r\n", "\r\n", "Transfer-Encoding: chunked\r\n\r\nfffff\r\n"]) {
    const answer = read(`HTTP/1.1 200 OK\r\n${head}${"x".repeat(200_000)}`);
    assert.equal(answer.body.length, MAX_PROBE_BODY);
    assert.equal(answer.isReusable, false);
  }
});
