/** A signature is the same by any signer: one suite for all signers, and the memory held and freed by OpenSSL's. */
import assert from "node:assert/strict";
import { issueLeaf } from "../../lib/pki/issue.ts";
import { certificatePem } from "../../lib/pki/pem.ts";
import { openOpenssl, OPENSSL_PATHS, type OpensslFunctions } from "../../lib/pki/openssl/library.ts";
import { opensslSigner } from "../../lib/pki/openssl/signer.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { type KeySpec, keySpecText } from "../../lib/pki/public_key.ts";
import { isSignedBy } from "../../lib/pki/signed.ts";
import { DAY, makeRoot, NOW, P256 } from "./support/make.ts";
import { openssl as opensslProgram } from "./support/openssl.ts";
import { counted, openssl, SIGNERS } from "./support/signers.ts";

const RSA: KeySpec = { type: "RSA", bits: 2048 };
const ALGORITHMS: readonly (readonly [KeySpec, string])[] = [
  [RSA, "1.2.840.113549.1.1.11"],
  [{ type: "RSA", bits: 3072 }, "1.2.840.113549.1.1.11"],
  [P256, "1.2.840.10045.4.3.2"],
  [{ type: "EC", curve: "P-384" }, "1.2.840.10045.4.3.3"],
];
/** None, one byte, a certificate's size, and more than all others. */
const SIZES = [0, 1, 700, 100_000];

for (const [name, signerOf] of Object.entries(SIGNERS)) {
  for (const [spec, signatureAlgorithm] of ALGORITHMS) {
    Deno.test(`${name}: signatures of an ${keySpecText(spec)} key are its own, many at a time`, async () => {
      const key = await PrivateKey.generate(spec);
      const signer = await signerOf(key);
      assert.deepEqual(signer.signatureAlgorithm, key.signatureAlgorithm);
      await Promise.all(
        SIZES.flatMap((size) => [size, size, size, size]).map(async (size) => {
          const body = new Uint8Array(size).map((_, i) => i % 251);
          if (size > 0) body[0] = Math.floor(Math.random() * 256);
          const signature = await signer.sign(body);
          assert.ok(await isSignedBy({ body, signature, signatureAlgorithm }, key.spki), `${size} bytes`);
          const other = Uint8Array.of(...body.subarray(0, 50), 7);
          assert.ok(!await isSignedBy({ body: other, signature, signatureAlgorithm }, key.spki));
          if (spec.type === "RSA") assert.deepEqual(signature, await key.sign(body), "PKCS#1 has one signature");
        }),
      );
      signer.release();
    });
  }

  Deno.test(`${name}: what it signs is what the bytes were when it was asked`, async () => {
    const key = await PrivateKey.generate(RSA);
    const signer = await signerOf(key);
    const body = new Uint8Array(64).fill(1);
    const asked = signer.sign(body);
    body.fill(2);
    assert.deepEqual(await asked, await key.sign(new Uint8Array(64).fill(1)));
    signer.release();
  });

  Deno.test(`${name}: openssl verifies certificates that it signs`, async () => {
    for (const spec of [RSA, P256]) {
      const root = await makeRoot(spec);
      const signer = await signerOf(root.key);
      const { spki } = await PrivateKey.generate(P256);
      const template = { spki, names: { dns: ["a.test"] }, notBefore: NOW - DAY, notAfter: NOW + DAY };
      const leaf = await issueLeaf({ certificate: root.certificate, key: signer }, template);
      const files = { "root.pem": certificatePem(root.certificate.der), "leaf.pem": certificatePem(leaf) };
      const at = ["-attime", String(NOW / 1000)];
      assert.match(await opensslProgram(["verify", ...at, "-CAfile", "root.pem", "leaf.pem"], files), /leaf.pem: OK/);
      signer.release();
    }
  });
}

Deno.test("without a permission, and without a library, the reason is reported", () => {
  assert.deepEqual(openOpenssl(["/nowhere/libcrypto.so.3"]), { reason: "the program has no permission to use it" });
  const missing = OPENSSL_PATHS.filter((path) => !exists(path));
  const found = openOpenssl(missing);
  assert.ok("reason" in found && missing.every((path) => found.reason.includes(`${path}: `)), JSON.stringify(found));
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A test of OpenSSL's signer, with its functions. */
function opensslTest(name: string, test: (functions: OpensslFunctions) => Promise<void>): void {
  Deno.test({
    name: `OpenSSL: ${name} (ignored: this machine has no libcrypto of OpenSSL 3)`,
    ignore: openssl === undefined,
    fn: () => test(openssl!),
  });
}

opensslTest(
  "a key and what signatures need is freed, the key after the last signature under way",
  async (functions) => {
    const { held, functions: counting } = counted(functions);
    const key = await PrivateKey.generate(RSA);
    const signer = await opensslSigner(counting, key);
    assert.deepEqual(held, { keys: 1, contexts: 0, readers: 0 });
    const bodies = Array.from({ length: 40 }, (_, i) => Uint8Array.of(i));
    const asked = bodies.map((body) => signer.sign(body));
    assert.equal(held.contexts, 40);
    signer.release();
    assert.equal(held.keys, 1, "it is still used");
    assert.deepEqual(await Promise.all(asked), await Promise.all(bodies.map((body) => key.sign(body))));
    assert.deepEqual(held, { keys: 0, contexts: 0, readers: 0 });
    signer.release();
    assert.equal(held.keys, 0, "once is enough");
    await assert.rejects(
      signer.sign(Uint8Array.of(1)),
      /^PkiError: OpenSSL: expected a key, got one that was given back$/,
    );
    assert.deepEqual(held, { keys: 0, contexts: 0, readers: 0 });
  },
);

const NO_KEY = /^PkiError: OpenSSL: expected a private key: it reported no error$/;
const NO_SIGNING_KEY = /^PkiError: OpenSSL: expected a key that signs: /;
const NO_SIGNATURE = /^PkiError: OpenSSL: expected a signature: /;

/** The failing return value of each function. */
const FAILURES: readonly (readonly [KeySpec, Partial<OpensslFunctions>, RegExp])[] = [
  [P256, { BIO_new_mem_buf: () => null }, NO_KEY],
  [P256, { d2i_PrivateKey_bio: () => null }, /^PkiError: OpenSSL: expected a private key: /],
  [P256, { EVP_PKEY_CTX_new: () => null }, NO_SIGNING_KEY],
  [P256, { EVP_PKEY_sign_init: () => 0 }, NO_SIGNING_KEY],
  [P256, { EVP_Digest: () => 0 }, NO_SIGNATURE],
  [P256, { EVP_PKEY_sign: () => 0 }, NO_SIGNATURE],
  [RSA, { BIO_new_mem_buf: () => null }, NO_KEY],
  [RSA, { EVP_MD_CTX_new: () => null }, /^PkiError: OpenSSL: expected a context: /],
  [RSA, { EVP_DigestSignInit: () => 0 }, NO_SIGNING_KEY],
  [RSA, { EVP_DigestSign: () => Promise.resolve(0), digestSignHere: () => -1 }, NO_SIGNATURE],
];

for (const [spec, failing, reason] of FAILURES) {
  const name = `${keySpecText(spec)}: where ${
    Object.keys(failing)[0]
  } fails, the reason is reported and nothing is left`;
  opensslTest(name, async (functions) => {
    const { held, functions: counting } = counted({ ...functions, ...failing });
    const key = await PrivateKey.generate(spec);
    await assert.rejects(opensslSigner(counting, key), reason);
    assert.deepEqual(held, { keys: 0, contexts: 0, readers: 0 });
  });
}

opensslTest("on P-256 one context makes all signatures, and is freed once", async (functions) => {
  const { held, functions: counting } = counted(functions);
  const key = await PrivateKey.generate(P256);
  const signer = await opensslSigner(counting, key);
  const body = Uint8Array.of(1);
  for (let i = 0; i < 20; i++) {
    const signed = { body, signature: await signer.sign(body), signatureAlgorithm: "1.2.840.10045.4.3.2" };
    assert.ok(await isSignedBy(signed, key.spki));
  }
  assert.deepEqual(held, { keys: 0, contexts: 1, readers: 0 });
  signer.release();
  signer.release();
  assert.deepEqual(held, { keys: 0, contexts: 0, readers: 0 });
  await assert.rejects(signer.sign(body), /^PkiError: OpenSSL: expected a key, got one that was given back$/);
});

opensslTest(
  "a signature that failed on another thread is tried once more where its error can be read",
  async (functions) => {
    const { held, functions: counting } = counted({ ...functions, EVP_DigestSign: () => Promise.resolve(0) });
    const key = await PrivateKey.generate(RSA);
    const signer = await opensslSigner(counting, key);
    assert.deepEqual(await signer.sign(Uint8Array.of(1)), await key.sign(Uint8Array.of(1)));
    signer.release();
    assert.deepEqual(held, { keys: 0, contexts: 0, readers: 0 });
  },
);

opensslTest("a library that signs with another key is found out before it is used", async (functions) => {
  const [key, other] = [await PrivateKey.generate(P256), await PrivateKey.generate(P256)];
  const { held, functions: counting } = counted({
    ...functions,
    BIO_new_mem_buf: () => functions.BIO_new_mem_buf(other.der(), other.der().length),
  });
  await assert.rejects(opensslSigner(counting, key), /expected a signature by the ECDSA P-256 key, got another/);
  assert.deepEqual([held.keys, held.contexts], [0, 0]);
});

opensslTest("the reason of a refusal is in its words, and a signer shows no key", async (functions) => {
  const key = await PrivateKey.generate(P256);
  const damaged = { ...functions, BIO_new_mem_buf: () => functions.BIO_new_mem_buf(Uint8Array.of(0x30, 1, 0), 3) };
  await assert.rejects(opensslSigner(damaged, key), /^PkiError: OpenSSL: expected a private key: error:[0-9A-F]+:/);
  const signer = await opensslSigner(functions, key);
  const shown = Deno.inspect(signer, { depth: 10, showHidden: true }) + JSON.stringify(signer);
  assert.ok(!shown.includes(key.pem().split("\n")[1]!.slice(10, 30)) && !shown.includes("PointerObject"), shown);
  signer.release();
});
