/**
 * Signatures verified by OpenSSL, in a tenth (RSA) to a quarter (P-256) of WebCrypto's time, which Deno 2.8.3 spends on the
 * event loop's thread.
 *
 * A stranger chose the key, so OpenSSL parses nothing of it: it gets a point of 65 bytes, or the modulus of an RSA key whose
 * exponent is the usual one. Keys and algorithms of other kinds, and whatever OpenSSL does not confirm, are WebCrypto's.
 *
 * Permissions: ffi, by `./library.ts`.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { bitsOf, DerReader, sameBytes, Tag } from "../der_read.ts";
import { bits, NULL, objectId, sequence, unsignedInteger } from "../der_write.ts";
import { ObjectId } from "../object_ids.ts";
import { keySpecOf } from "../public_key.ts";
import { isSignedBy, type Signed, type Verify } from "../signed.ts";
import type { OpensslFunctions } from "./library.ts";

/** Numbers of OpenSSL for a curve and a hash. */
const NID = { p256: 415, sha256: 672 } as const;
/** Of an RSA key that is verified here: longer ones hold the event loop, and nobody needs them for a workload. */
const MOST_BITS = 4096;
/** 65537 */
const USUAL_EXPONENT = Uint8Array.of(1, 0, 1);
/** AlgorithmIdentifiers of the keys that OpenSSL gets. */
const RSA_KEY = sequence(objectId(ObjectId.rsaEncryption), NULL);
const P256_KEY = sequence(objectId(ObjectId.ecPublicKey), objectId(ObjectId.p256));
/** A point that is not compressed: a mark, and two numbers of 32 bytes. */
const POINT = { mark: 4, length: 65 } as const;

type Bytes = Uint8Array<ArrayBuffer>;

/** The numbers of a public key that a verification takes. */
type KeyNumbers = { readonly point: Bytes } | { readonly modulus: Bytes };

/** A verifier whose verdicts are those of {@linkcode isSignedBy}: a refusal is always its own, with its reason. */
export function opensslVerifier(functions: OpensslFunctions): Verify {
  return async (signed, spki) => {
    const numbers = numbersOf(spki, signed.signatureAlgorithm);
    const isProven = numbers !== undefined && verdictOf(functions, signed, numbers) === 1;
    return isProven || await isSignedBy(signed, spki);
  };
}

/** Undefined: it is none that OpenSSL gets, or is not written as DER writes it. */
function numbersOf(spki: Uint8Array, signatureAlgorithm: string): KeyNumbers | undefined {
  const spec = keySpecOf(spki);
  const outer = new DerReader(spki, "public key").inside(Tag.SEQUENCE);
  outer.take(Tag.SEQUENCE);
  const key = bitsOf(outer.take(Tag.BIT_STRING), "public key");
  if (spec.type === "RSA" && spec.bits <= MOST_BITS && signatureAlgorithm === ObjectId.sha256WithRsa) {
    const modulus = new Uint8Array(new DerReader(key, "public key").inside(Tag.SEQUENCE).take(Tag.INTEGER).content);
    const usual = sequence(unsignedInteger(modulus), unsignedInteger(USUAL_EXPONENT));
    return sameBytes(spki, sequence(RSA_KEY, bits(usual))) ? { modulus } : undefined;
  }
  const isPoint = spec.type === "EC" && signatureAlgorithm === ObjectId.ecdsaWithSha256 &&
    key.length === POINT.length && key[0] === POINT.mark && sameBytes(spki, sequence(P256_KEY, bits(key)));
  return isPoint ? { point: new Uint8Array(key) } : undefined;
}

/** 1: the key's; others: it is not, or OpenSSL does not know. */
function verdictOf(functions: OpensslFunctions, { body, signature }: Signed, numbers: KeyNumbers): number {
  const digest = new Uint8Array(createHash("sha256").update(body).digest());
  const proof = new Uint8Array(signature);
  const verdict = "point" in numbers
    ? ecdsaVerdict(functions, digest, proof, numbers.point)
    : rsaVerdict(functions, digest, proof, numbers.modulus);
  // Reasons of a refusal would wait for the next one who asks for errors.
  if (verdict !== 1) functions.ERR_clear_error();
  return verdict;
}

function ecdsaVerdict(functions: OpensslFunctions, digest: Bytes, signature: Bytes, point: Bytes): number {
  const key = functions.EC_KEY_new_by_curve_name(NID.p256);
  if (key === null) return -1;
  try {
    if (functions.EC_KEY_oct2key(key, point, BigInt(point.length), null) !== 1) return -1;
    return functions.ECDSA_verify(0, digest, digest.length, signature, signature.length, key);
  } finally {
    functions.EC_KEY_free(key);
  }
}

function rsaVerdict(functions: OpensslFunctions, digest: Bytes, signature: Bytes, modulus: Bytes): number {
  const key = functions.RSA_new();
  const n = functions.BN_bin2bn(modulus, modulus.length, null);
  const e = functions.BN_bin2bn(Uint8Array.from(USUAL_EXPONENT), USUAL_EXPONENT.length, null);
  try {
    // It owns both numbers from then on.
    if (key === null || functions.RSA_set0_key(key, n, e, null) !== 1) {
      functions.BN_free(n);
      functions.BN_free(e);
      return -1;
    }
    return functions.RSA_verify(NID.sha256, digest, digest.length, signature, signature.length, key);
  } finally {
    functions.RSA_free(key);
  }
}
