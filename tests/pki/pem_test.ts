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

Deno.test("a block that is cut off, or is no base64, is refused with its place", () => {
  const whole = writePem("CERTIFICATE", new Uint8Array(3));
  const cases: readonly (readonly [string, RegExp])[] = [
    ["-----BEGIN CERTIFICATE-----\nAAAA\n", /^PkiError: f: block 1 \(CERTIFICATE\): expected its END line$/],
    [
      `${whole}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END CERTIFICATE-----\n`,
      /block 2 \(PRIVATE KEY\): expected its END/,
    ],
    ["-----BEGIN X-----\n!\n-----END X-----\n", /^PkiError: f: block 1 \(X\): expected base64$/],
    ["-----BEGIN X-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END X-----\n", /expected base64/],
  ];
  for (const [text, message] of cases) assert.throws(() => readPem(text, "f"), message);
  assert.deepEqual(readPem("no PEM at all"), []);
});

Deno.test("many blocks that begin and never end are read in one pass", () => {
  const text = "-----BEGIN X-----\n".repeat(400_000);
  const start = performance.now();
  assert.throws(() => readPem(text));
  // Reading the rest of the text for each block would be 1.4 million MB, which takes many minutes.
  assert.ok(performance.now() - start < 60_000);
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
