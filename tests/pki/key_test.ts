import assert from "node:assert/strict";
import { isKeyOf } from "../../lib/pki/certificate.ts";
import { PkiError } from "../../lib/pki/pki_error.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { type KeySpec, keySpecOf, keySpecText } from "../../lib/pki/public_key.ts";
import { isSignedBy } from "../../lib/pki/signed.ts";
import { makeLeaf, makeRoot, P256 } from "./support/make.ts";
import { openssl } from "./support/openssl.ts";

const SPECS: readonly KeySpec[] = [
  { type: "RSA", bits: 2048 },
  { type: "RSA", bits: 4096 },
  P256,
  { type: "EC", curve: "P-384" },
];

function generation(spec: KeySpec): string[] {
  return spec.type === "RSA"
    ? ["-algorithm", "RSA", "-pkeyopt", `rsa_keygen_bits:${spec.bits}`]
    : ["-algorithm", "EC", "-pkeyopt", `ec_paramgen_curve:${spec.curve}`];
}

for (const spec of SPECS) {
  const name = keySpecText(spec);

  Deno.test(`${name}: a key of openssl is read from PKCS#8 and its older form, and written as PKCS#8`, async () => {
    const pkcs8 = await openssl(["genpkey", ...generation(spec)]);
    const older = await openssl(["pkey", "-traditional", "-in", "key.pem"], { "key.pem": pkcs8 });
    assert.match(older, spec.type === "RSA" ? /BEGIN RSA PRIVATE KEY/ : /BEGIN EC PRIVATE KEY/);
    const spki = await openssl(["pkey", "-pubout", "-in", "key.pem"], { "key.pem": pkcs8 });
    for (const text of [pkcs8, older]) {
      const key = await PrivateKey.read(text);
      assert.deepEqual(key.spec, spec);
      assert.match(key.pem(), /^-----BEGIN PRIVATE KEY-----\n/);
      assert.equal(await openssl(["pkey", "-pubout", "-in", "key.pem"], { "key.pem": key.pem() }), spki);
      const body = new TextEncoder().encode("some bytes");
      const signed = { body, signature: await key.sign(body), signatureAlgorithm: algorithmName(key) };
      assert.ok(await isSignedBy(signed, key.spki));
      assert.ok(!await isSignedBy({ ...signed, body: body.slice(1) }, key.spki));
    }
  });

  Deno.test(`${name}: a new key is a sound one to openssl, and signs`, async () => {
    const key = await PrivateKey.generate(spec);
    assert.deepEqual(keySpecOf(key.spki), spec);
    assert.match(await openssl(["pkey", "-check", "-noout", "-in", "key.pem"], { "key.pem": key.pem() }), /valid/);
    assert.deepEqual((await PrivateKey.read(key.pem())).spki, key.spki);
  });
}

function algorithmName({ spec }: PrivateKey): string {
  if (spec.type === "RSA") return "1.2.840.113549.1.1.11";
  return spec.curve === "P-256" ? "1.2.840.10045.4.3.2" : "1.2.840.10045.4.3.3";
}

Deno.test("EC parameters before a key are passed over, as openssl writes them", async () => {
  const text = await openssl(["ecparam", "-name", "prime256v1", "-genkey"]);
  assert.match(text, /BEGIN EC PARAMETERS/);
  assert.deepEqual((await PrivateKey.read(text)).spec, P256);
});

Deno.test("keys that are not used here are refused with the reason", async () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    [await openssl(["genpkey", ...generation({ type: "RSA", bits: 1024 })]), /2048 to 8192 bits, got 1024/],
    [await openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]), /k: /],
    [await openssl(["genpkey", "-algorithm", "ED25519"]), /expected an RSA key or an ECDSA key on P-256 or P-384/],
    [
      await openssl(["genpkey", ...generation(P256), "-aes-256-cbc", "-pass", "pass:x"]),
      /^PkiError: k: expected a private key that is not encrypted$/,
    ],
    ["", /^PkiError: k: expected one private key in PEM, got 0$/],
    ["-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", /^PkiError: k: /],
  ];
  for (const [text, message] of refused) await assert.rejects(PrivateKey.read(text, "k"), message);
  const key = await PrivateKey.generate(P256);
  await assert.rejects(PrivateKey.read(key.pem() + key.pem(), "k"), PkiError);
});

Deno.test("a key prints no part of itself", async () => {
  const key = await PrivateKey.generate(P256);
  const secret = key.pem().split("\n")[1]!;
  for (const shown of [Deno.inspect(key), Deno.inspect({ deep: { key } }), JSON.stringify({ key }), `${key}`]) {
    assert.ok(!shown.includes(secret.slice(10, 30)), shown);
  }
  assert.equal(Deno.inspect(key), "ECDSA P-256 private key");
});

Deno.test("a key is distinguished from the key of another certificate", async () => {
  const root = await makeRoot();
  const [one, other] = [await makeLeaf(root), await makeLeaf(root)];
  assert.ok(isKeyOf(one.key, one.certificate));
  assert.ok(!isKeyOf(one.key, other.certificate));
});

Deno.test("a signature of another algorithm than the key has proves nothing", async () => {
  const key = await PrivateKey.generate(P256);
  const body = Uint8Array.of(1, 2, 3);
  const signature = await key.sign(body);
  for (
    const signatureAlgorithm of ["1.2.840.113549.1.1.11", "1.2.840.10045.4.1", "1.2.840.113549.1.1.5", "constructor"]
  ) {
    assert.ok(!await isSignedBy({ body, signature, signatureAlgorithm }, key.spki), signatureAlgorithm);
  }
  const damaged = { body, signature: signature.slice(1), signatureAlgorithm: "1.2.840.10045.4.3.2" };
  assert.ok(!await isSignedBy(damaged, key.spki));
});
