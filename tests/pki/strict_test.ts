/** Ambiguous elements are refused: nobody may be more lenient here than other readers. */
import assert from "node:assert/strict";
import { readCertificate } from "../../lib/pki/certificate.ts";
import { DerReader, objectIdText, Tag, timeOf, truthOf } from "../../lib/pki/der_read.ts";
import { withoutPrivateKeys } from "../../lib/pki/proxy_pem.ts";
import { readAlternativeNames } from "../../lib/pki/subject.ts";
import { openssl as hasOpenssl } from "../certificates.ts";
import { ChainMaker } from "./support/chain_maker.ts";

const element = (hex: string) => new DerReader(Uint8Array.fromHex(hex), "test").take();

Deno.test("an object identifier that breaks off, or has zeros before a number, is not taken for another one", () => {
  assert.equal(objectIdText(element("0603551d13")), "2.5.29.19");
  for (const wrong of ["0604551d1381", "0604551d8013", "060480551d13", "0600", "060181"]) {
    assert.throws(() => objectIdText(element(wrong)), /object identifier/, wrong);
  }
});

Deno.test("a truth is true or false, and nothing that one reader takes for true and another for false", () => {
  assert.deepEqual([truthOf(element("0101ff")), truthOf(element("010100")), truthOf(undefined)], [true, false, false]);
  for (const wrong of ["010101", "0100", "0102ffff"]) assert.throws(() => truthOf(element(wrong)), /true or false/);
});

Deno.test("a day that does not exist is refused", () => {
  const utc = (text: string) => timeOf(element(`170d${new TextEncoder().encode(text).toHex()}`));
  assert.equal(utc("240229120000Z"), Date.UTC(2024, 1, 29, 12));
  for (const wrong of ["250229120000Z", "240230120000Z", "241301120000Z", "240101240000Z", "240101126000Z"]) {
    assert.throws(() => utc(wrong), /expected a time/, wrong);
  }
});

Deno.test("a mark of the byte order before a name stays in the name", () => {
  const uri = new TextEncoder().encode("\ufeffspiffe://a/ns/b/sa/c");
  const names = Uint8Array.from([Tag.SEQUENCE, uri.length + 2, 0x86, uri.length, ...uri]);
  assert.deepEqual(readAlternativeNames(names, "test").uris, ["\ufeffspiffe://a/ns/b/sa/c"]);
});

Deno.test({
  name: "a certificate with a truth, a length, a version or an end of another form is refused",
  ignore: !hasOpenssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const authority = "basicConstraints=critical,CA:TRUE,pathlen:1\n";
    const { root } = await maker.make({ root: authority, between: authority, leaf: "subjectAltName=DNS:a\n" });
    const der = Uint8Array.fromBase64(root.split("-----")[2]!.replaceAll(/\s/g, ""));
    assert.equal(readCertificate(der).pathLength, 1);
    const wrong: readonly (readonly [from: string, to: string, reason: RegExp])[] = [
      ["0603551d130101ff", "0603551d13010101", /true or false/],
      ["30060101ff020101", "3006010101020101", /true or false/],
      ["30060101ff020101", "30060101ff0201ff", /length of the path of 0 or more/],
      ["30060101ff020101", "30030101ff020101", /bytes after its end/],
      ["a003020102", "a003020103", /version 1, 2 or 3/],
    ];
    for (const [from, to, reason] of wrong) {
      assert.ok(der.toHex().includes(from), from);
      assert.throws(() => readCertificate(Uint8Array.fromHex(der.toHex().replace(from, to))), reason, to);
    }
  },
});

Deno.test("private keys are taken out of a text, whatever stands around them, and nothing else is", () => {
  const block = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----`;
  const [certificate, key] = [block("CERTIFICATE"), block("PRIVATE KEY")];
  for (const text of ["", certificate, `a\n${certificate}\nb`, block("PUBLIC KEY"), "-----BEGIN PRIVATE KEY"]) {
    assert.equal(withoutPrivateKeys(text), text);
  }
  for (const label of ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]) {
    assert.equal(withoutPrivateKeys(`a${block(label)}b${certificate}${block(label)}`), `ab${certificate}`);
  }
  assert.equal(withoutPrivateKeys(`${certificate}\n-----BEGIN PRIVATE KEY-----\nAAAA`), `${certificate}\n`);
  assert.equal(withoutPrivateKeys(key.replaceAll("\n", "\\n")), "");
});
