import assert from "node:assert/strict";
import fc from "fast-check";
import { joinPem, pemKind, readPem, writePem } from "../../lib/pki/pem.ts";

Deno.test("blocks are read as they were written, whatever stands between them", () => {
  const block = fc.record({
    label: fc.constantFrom("CERTIFICATE", "PRIVATE KEY", "X509 CRL"),
    der: fc.uint8Array({ maxLength: 300 }),
  });
  const between = fc.constantFrom("", "\n", "subject=/CN=root\n", "# -----a comment\n", "\r\n");
  fc.assert(fc.property(fc.array(fc.tuple(block, between)), fc.boolean(), (blocks, windows) => {
    const text = blocks.map(([{ label, der }, gap]) => gap + writePem(label, der)).join("");
    const read = readPem(windows ? text.replaceAll("\n", "\r\n") : text);
    assert.deepEqual(
      read.map(({ label, der }) => ({ label, der: [...der] })),
      blocks.map(([b]) => ({ ...b, der: [...b.der] })),
    );
  }));
});

Deno.test("lines have 64 characters at most", () => {
  assert.deepEqual([...new Set(writePem("X", new Uint8Array(100)).split("\n").slice(1, -2).map((l) => l.length))], [
    64,
    8,
  ]);
});

Deno.test("a block that is cut off, or is not base64, is refused with its place", () => {
  const whole = writePem("CERTIFICATE", new Uint8Array(3));
  const cases: readonly (readonly [string, RegExp])[] = [
    ["-----BEGIN CERTIFICATE-----\nAAAA\n", /^PkiError: f: block 1 \(CERTIFICATE\): expected its END line$/],
    [
      `${whole}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END CERTIFICATE-----\n`,
      /block 2 \(PRIVATE KEY\): expected its END/,
    ],
    ["-----BEGIN X-----\n!\n-----END X-----\n", /^PkiError: f: block 1 \(X\): expected base64$/],
    ["-----BEGIN X-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END X-----\n", /expected one that is not encrypted$/],
    [
      "-----BEGIN X-----\nAAAA\n-----END X----------BEGIN X-----\nAAAA\n-----END X-----\n",
      /expected its END line alone/,
    ],
  ];
  for (const [text, message] of cases) assert.throws(() => readPem(text, "f"), message);
  assert.deepEqual(readPem("no PEM at all"), []);
});

Deno.test("many blocks that begin and never end are read in one pass", () => {
  const text = "-----BEGIN X-----\n".repeat(4000);
  // Searched or cut characters of the text; reading the rest again for each block would be 144 million.
  let passed = 0;
  const { indexOf, slice } = String.prototype;
  try {
    String.prototype.indexOf = function (this: string, sought: string, from = 0) {
      const at = indexOf.call(this, sought, from);
      passed += (at < 0 ? this.length : at) - from;
      return at;
    };
    String.prototype.slice = function (this: string, from?: number, to?: number) {
      const part = slice.call(this, from, to);
      passed += part.length;
      return part;
    };
    assert.throws(() => readPem(text));
  } finally {
    Object.assign(String.prototype, { indexOf, slice });
  }
  assert.ok(passed >= text.length, "the counts are those of the reading");
  assert.ok(passed <= 4 * text.length, `${passed} characters of ${text.length}`);
});

Deno.test("labels say what a block holds", () => {
  assert.deepEqual(
    ["CERTIFICATE", "EC PRIVATE KEY", "NEW CERTIFICATE REQUEST", "X509 CRL", "EC PARAMETERS", "constructor"].map(
      pemKind,
    ),
    ["certificate", "private key", "request", "revocation list", "other", "other"],
  );
});

Deno.test("joined texts begin on lines of their own", () => {
  assert.equal(joinPem(["a", "b\n", "", "c"]), "a\nb\nc\n");
});
