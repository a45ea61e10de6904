/** OpenSSL's verdicts about signatures are WebCrypto's, for sound, damaged and odd keys and signatures. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { bits, NULL, objectId, sequence, unsignedInteger } from "../../lib/pki/der_write.ts";
import { ObjectId } from "../../lib/pki/object_ids.ts";
import type { OpensslFunctions } from "../../lib/pki/openssl/library.ts";
import { opensslVerifier } from "../../lib/pki/openssl/verifier.ts";
import { PkiError } from "../../lib/pki/pki_error.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { type KeySpec, keySpecText } from "../../lib/pki/public_key.ts";
import { createCertificateRequest, readCertificateRequest } from "../../lib/pki/request.ts";
import { isSignedBy, type Signed } from "../../lib/pki/signed.ts";
import { P256 } from "./support/make.ts";
import { openssl } from "./support/openssl.ts";
import { countedKeys, openssl as functions } from "./support/signers.ts";
import { runs } from "../properties.ts";

const RSA: KeySpec = { type: "RSA", bits: 2048 };
const BODY = new TextEncoder().encode("what is signed");

function opensslTest(name: string, test: (functions: OpensslFunctions) => Promise<void>): void {
  Deno.test({
    name: `OpenSSL: ${name} (ignored: this machine has no libcrypto of OpenSSL 3)`,
    ignore: functions === undefined,
    fn: () => test(functions!),
  });
}

/** The verdict, or an error. */
async function verdict(verify: typeof isSignedBy, signed: Signed, spki: Uint8Array): Promise<boolean | "error"> {
  try {
    return await verify(signed, spki);
  } catch (error) {
    assert.ok(error instanceof PkiError, String(error));
    return "error";
  }
}

/** A verifier keeps a single key on P-256, and loads one point after the other into the key. */
function keptKeys(spec: KeySpec): number {
  return spec.type === "EC" && spec.curve === "P-256" ? 1 : 0;
}

async function signedBy(key: PrivateKey, body = BODY): Promise<Signed> {
  const signatureAlgorithm = key.spec.type === "RSA"
    ? ObjectId.sha256WithRsa
    : key.spec.curve === "P-256"
    ? ObjectId.ecdsaWithSha256
    : ObjectId.ecdsaWithSha384;
  return { body, signatureAlgorithm, signature: await key.sign(body) };
}

for (const spec of [RSA, { type: "RSA", bits: 4096 }, P256, { type: "EC", curve: "P-384" }] satisfies KeySpec[]) {
  opensslTest(`${keySpecText(spec)}: a request is taken, and nothing of it is left`, async (functions) => {
    const { held, calls, functions: counting } = countedKeys(functions);
    const key = await PrivateKey.generate(spec);
    const pem = await createCertificateRequest(key, { uris: ["spiffe://a/ns/b/sa/c"] });
    const { spki } = await readCertificateRequest(pem, opensslVerifier(counting));
    assert.deepEqual(spki, key.spki);
    assert.deepEqual(held, { keys: keptKeys(spec), numbers: 0 });
    assert.equal(calls.verdicts, keySpecText(spec) === "ECDSA P-384" ? 0 : 1);
  });
}

for (const spec of [RSA, P256]) {
  opensslTest(`${keySpecText(spec)}: any damage gets WebCrypto's verdict`, async (functions) => {
    const { held, functions: counting } = countedKeys(functions);
    const verify = opensslVerifier(counting);
    const key = await PrivateKey.generate(spec);
    const signed = await signedBy(key);
    const parts = ["signature", "body", "spki"] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...parts),
        fc.nat(600),
        fc.integer({ min: 0, max: 255 }),
        fc.boolean(),
        async (part, at, change, cut) => {
          const damage = (bytes: Uint8Array) => {
            const copy = new Uint8Array(bytes);
            copy[at % copy.length]! ^= change;
            return cut ? copy.subarray(0, at % copy.length) : copy;
          };
          const other: Signed = part === "spki" ? signed : { ...signed, [part]: damage(signed[part]) };
          const spki = part === "spki" ? damage(key.spki) : key.spki;
          assert.equal(await verdict(verify, other, spki), await verdict(isSignedBy, other, spki));
        },
      ),
      { numRuns: runs(400) },
    );
    assert.deepEqual(held, { keys: keptKeys(spec), numbers: 0 });
  });
}

opensslTest("keys that are written in another way than DER's do not come to it", async (functions) => {
  const { calls, functions: counting } = countedKeys(functions);
  const verify = opensslVerifier(counting);
  const exponent3 = await PrivateKey.read(
    await openssl([
      "genpkey",
      "-algorithm",
      "RSA",
      "-pkeyopt",
      "rsa_keygen_bits:2048",
      "-pkeyopt",
      "rsa_keygen_pubexp:3",
    ]),
  );
  const compressed = await openssl([
    ...["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-outform", "PEM"],
  ]);
  const ec = await PrivateKey.read(compressed);
  const point = ec.spki.slice(-65);
  const short = Uint8Array.of(2 + (point[64]! & 1), ...point.subarray(1, 33));
  const compressedKey = sequence(sequence(objectId(ObjectId.ecPublicKey), objectId(ObjectId.p256)), bits(short));
  const rsa = await PrivateKey.generate(RSA);
  const withoutNull = sequence(sequence(objectId(ObjectId.rsaEncryption)), bits(rsa.spki.slice(24)));
  const longer = sequence(sequence(objectId(ObjectId.rsaEncryption), NULL), bits(rsa.spki.slice(24)), NULL);
  const cases: readonly (readonly [string, Signed, Uint8Array])[] = [
    ["another exponent", await signedBy(exponent3), exponent3.spki],
    ["a compressed point", await signedBy(ec), compressedKey],
    ["an algorithm without its parameters", await signedBy(rsa), withoutNull],
    ["something behind the key", await signedBy(rsa), longer],
  ];
  for (const [name, signed, spki] of cases) {
    assert.equal(await verdict(verify, signed, spki), await verdict(isSignedBy, signed, spki), name);
  }
  assert.equal(calls.verdicts, 0);
});

opensslTest("a point that is not on the curve is refused as WebCrypto refuses it", async (functions) => {
  const key = await PrivateKey.generate(P256);
  const signed = await signedBy(key);
  const off = key.spki.slice();
  off[off.length - 1]! ^= 1;
  await assert.rejects(opensslVerifier(functions)(signed, off), PkiError);
  await assert.rejects(isSignedBy(signed, off), PkiError);
});

opensslTest("a verdict is about its own key, whatever key came before", async (functions) => {
  const { held, functions: counting } = countedKeys(functions);
  const verify = opensslVerifier(counting);
  const [key, other] = [await PrivateKey.generate(P256), await PrivateKey.generate(P256)];
  const [signed, ofOther] = [await signedBy(key), await signedBy(other)];
  const off = key.spki.slice();
  off[off.length - 1]! ^= 1;
  for (let round = 0; round < 3; round++) {
    assert.equal(await verify(signed, key.spki), true);
    assert.equal(await verify(signed, other.spki), false);
    assert.equal(await verify(ofOther, other.spki), true);
    assert.equal(await verify(ofOther, key.spki), false);
    assert.equal(await verify(signed, key.spki), true);
    assert.equal(await verdict(verify, signed, off), "error", "no point takes the place of the one before");
  }
  assert.deepEqual(held, { keys: 1, numbers: 0 });
});

opensslTest("where it cannot judge, WebCrypto does, and nothing more is left", async (functions) => {
  const broken: readonly Partial<OpensslFunctions>[] = [
    { EVP_Digest: () => 0 },
    { EC_KEY_new_by_curve_name: () => null },
    { EC_KEY_oct2key: () => 0 },
    { ECDSA_verify: () => -1 },
    { RSA_new: () => null },
    { BN_bin2bn: () => null },
    { RSA_set0_key: () => 0 },
  ];
  for (const failing of broken) {
    const { held, functions: counting } = countedKeys({ ...functions, ...failing });
    const verify = opensslVerifier(counting);
    for (const spec of [RSA, P256]) {
      const key = await PrivateKey.generate(spec);
      assert.equal(await verify(await signedBy(key), key.spki), true, Object.keys(failing).join());
    }
    const keys = failing.EC_KEY_new_by_curve_name === undefined && failing.EVP_Digest === undefined ? 1 : 0;
    assert.deepEqual(held, { keys, numbers: 0 }, Object.keys(failing).join());
  }
});

opensslTest("a modulus that DER has as a negative number is not taken for a positive one", async (functions) => {
  const { calls, functions: counting } = countedKeys(functions);
  const rsa = await PrivateKey.generate(RSA);
  const modulus = rsa.spki.slice(33, 33 + 256);
  const negative = new Uint8Array([0x02, 0x82, 0x01, 0x00, ...modulus]);
  const spki = sequence(
    sequence(objectId(ObjectId.rsaEncryption), NULL),
    bits(sequence(negative, unsignedInteger(Uint8Array.of(1, 0, 1)))),
  );
  const signed = await signedBy(rsa);
  const verify = opensslVerifier(counting);
  assert.equal(await verdict(verify, signed, spki), await verdict(isSignedBy, signed, spki));
  assert.equal(calls.verdicts, 0);
});
