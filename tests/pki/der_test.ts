import assert from "node:assert/strict";
import fc from "fast-check";
import { readCertificate } from "../../lib/pki/certificate.ts";
import { DerReader, objectIdText, Tag, timeOf } from "../../lib/pki/der_read.ts";
import { element, objectId, sequence, time, unsignedInteger } from "../../lib/pki/der_write.ts";
import { PkiError } from "../../lib/pki/pki_error.ts";
import { readCertificateRequest } from "../../lib/pki/request.ts";
import { writePem } from "../../lib/pki/pem.ts";
import { makeLeaf, makeRoot } from "./support/make.ts";
import { runs } from "../properties.ts";

Deno.test("written elements of any length are read back unchanged", () => {
  const lengths = fc.oneof(fc.nat(300), fc.constantFrom(127, 128, 255, 256, 65535, 65536));
  fc.assert(fc.property(fc.array(lengths, { maxLength: 4 }), (sizes) => {
    const parts = sizes.map((size) => element(Tag.OCTET_STRING, new Uint8Array(size)));
    const reader = new DerReader(sequence(...parts), "thing").inside(Tag.SEQUENCE);
    assert.deepEqual(sizes.map(() => reader.take(Tag.OCTET_STRING).content.length), sizes);
    reader.finish();
  }));
});

Deno.test("object identifiers and times are read as they were written", () => {
  const arcs = fc.tuple(fc.constantFrom(0, 1), fc.nat(39), fc.array(fc.nat(), { maxLength: 8 }));
  fc.assert(fc.property(arcs, ([first, second, rest]) => {
    const dotted = [first, second, ...rest].join(".");
    assert.equal(objectIdText(new DerReader(objectId(dotted), "id").take()), dotted);
  }));
  assert.equal(objectIdText(new DerReader(objectId("2.999.3"), "id").take()), "2.999.3");
  fc.assert(fc.property(fc.integer({ min: 0, max: 8_000_000_000 }), (seconds) => {
    assert.equal(timeOf(new DerReader(time(seconds * 1000), "time").take()), seconds * 1000);
  }));
});

Deno.test("an element ends within its enclosing element, whatever follows", () => {
  const around = (inner: readonly number[]) => Uint8Array.from([0x30, inner.length, ...inner, 0x05, 0, 0, 0]);
  const inside = (inner: readonly number[]) => new DerReader(around(inner), "thing").inside(Tag.SEQUENCE);
  for (const inner of [[0x04, 1], [0x04], [0x04, 0x81], [0x04, 0x82, 1], []]) {
    assert.throws(() => inside(inner).take(), /it ends early|a bad length/, String(inner));
  }
  const whole = inside([0x04, 2, 7, 8]);
  const { content, whole: bytes } = whole.take(Tag.OCTET_STRING);
  assert.deepEqual([[...content], [...bytes]], [[7, 8], [4, 2, 7, 8]]);
  assert.equal(whole.nextTag, undefined);
  whole.finish();
});

Deno.test("integers are written as short as they can be, and never negative", () => {
  const written = (...bytes: number[]) => [...unsignedInteger(Uint8Array.from(bytes))];
  assert.deepEqual(written(), [2, 1, 0]);
  assert.deepEqual(written(0, 0), [2, 1, 0]);
  assert.deepEqual(written(0, 127), [2, 1, 127]);
  assert.deepEqual(written(128), [2, 2, 0, 128]);
});

Deno.test("lengths that DER forbids are refused", () => {
  const cases: readonly (readonly [string, readonly number[]])[] = [
    ["nothing", []],
    ["a tag alone", [0x30]],
    ["an indefinite length", [0x30, 0x80, 0, 0]],
    ["a length of two bytes for one", [0x30, 0x81, 1, 0]],
    ["a length of three bytes for two", [0x30, 0x83, 0, 1, 0, ...new Array<number>(256).fill(0)]],
    ["a length of four bytes", [0x30, 0x84, 0, 0, 0, 1, 0]],
    ["content that is cut off", [0x30, 3, 0, 0]],
    ["a tag of several bytes", [0x1f, 0x81, 0, 1, 0]],
  ];
  for (const [what, bytes] of cases) {
    assert.throws(() => new DerReader(Uint8Array.from(bytes), "thing").take(), PkiError, what);
  }
  assert.throws(() => new DerReader(Uint8Array.of(5, 0, 1), "thing").finish(), PkiError);
});

Deno.test("bytes that are neither a certificate nor a request get an error of this package, whatever they are", async () => {
  const { certificate } = await makeLeaf(await makeRoot());
  const damage = fc.array(fc.tuple(fc.nat(certificate.der.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
  const sound = async (read: () => unknown) => {
    try {
      await read();
    } catch (error) {
      assert.ok(error instanceof PkiError, String(error));
    }
  };
  await fc.assert(
    fc.asyncProperty(damage, fc.nat(certificate.der.length), async (changes, length) => {
      const der = certificate.der.slice(0, length % 3 === 0 ? length : undefined);
      for (const [at, byte] of changes) if (at < der.length) der[at] = byte;
      await sound(() => readCertificate(der));
      await sound(() => readCertificateRequest(writePem("CERTIFICATE REQUEST", der)));
    }),
    { numRuns: runs(2000) },
  );
});
