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
import { bitsOf, DerReader, sameBytes, Tag } from "../der_read.ts";
import { bits, NULL, objectId, sequence, unsignedInteger } from "../der_write.ts";
import { ObjectId } from "../object_ids.ts";
import { keySpecOf } from "../public_key.ts";
import { isSignedBy, type Signed, type Verify } from "../signed.ts";
import { type OpensslFunctions, sha256, unshared } from "./library.ts";

/** Numbers of OpenSSL for a curve and a hash. */
const NID = { p256: 415, sha256: 672 } as const;
/** Of an RSA key that is verified here: longer ones hold the event loop, and nobody needs them for a workload. */
const MOST_BITS = 4096;
/** 65537 */
const USUAL_EXPONENT = Uint8Array.of(1, 0, 1);
/** AlgorithmIdentifier of the RSA keys that OpenSSL gets. */
const RSA_KEY = sequence(objectId(ObjectId.rsaEncryption), NULL);
/** Bytes of a point that is not compressed: a mark, and two numbers of 32 bytes. */
const POINT_LENGTH = 65;
/** The beginning of each P-256 key as DER writes it, up to its point, whose mark is 4. */
const P256_HEAD = sequence(
  sequence(objectId(ObjectId.ecPublicKey), objectId(ObjectId.p256)),
  bits(new Uint8Array(POINT_LENGTH)),
).slice(0, -POINT_LENGTH);

type Bytes = Uint8Array<ArrayBuffer>;

/** The numbers of a public key that a verification takes. */
type KeyNumbers = { readonly point: Bytes } | { readonly modulus: Bytes };

/** A verifier whose verdicts are those of {@linkcode isSignedBy}: a refusal is always its own, with its reason. */
export function opensslVerifier(functions: OpensslFunctions): Verify {
  const points = new PointKey(functions);
  return async (signed, spki) => {
    const numbers = numbersOf(spki, signed.signatureAlgorithm);
    const isProven = numbers !== undefined && verdictOf(functions, points, signed, numbers) === 1;
    return isProven || await isSignedBy(signed, spki);
  };
}

/** Undefined: it is none that OpenSSL gets, or is not written as DER writes it. */
function numbersOf(spki: Uint8Array, signatureAlgorithm: string): KeyNumbers | undefined {
  if (signatureAlgorithm === ObjectId.ecdsaWithSha256) return pointOf(spki);
  return signatureAlgorithm === ObjectId.sha256WithRsa ? modulusOf(spki) : undefined;
}

function pointOf(spki: Uint8Array): KeyNumbers | undefined {
  const at = P256_HEAD.length;
  const isPoint = spki.length === at + POINT_LENGTH && spki[at] === 4 && sameBytes(spki.subarray(0, at), P256_HEAD);
  return isPoint ? { point: unshared(spki.subarray(at)) } : undefined;
}

function modulusOf(spki: Uint8Array): KeyNumbers | undefined {
  const spec = keySpecOf(spki);
  if (spec.type !== "RSA" || spec.bits > MOST_BITS) return undefined;
  const outer = new DerReader(spki, "public key").inside(Tag.SEQUENCE);
  outer.take(Tag.SEQUENCE);
  const key = bitsOf(outer.take(Tag.BIT_STRING), "public key");
  const { content } = new DerReader(key, "public key").inside(Tag.SEQUENCE).take(Tag.INTEGER);
  const usual = sequence(unsignedInteger(content), unsignedInteger(USUAL_EXPONENT));
  return sameBytes(spki, sequence(RSA_KEY, bits(usual))) ? { modulus: unshared(content) } : undefined;
}

/** 1: the key's; others: it is not, or OpenSSL does not know. */
function verdictOf(
  functions: OpensslFunctions,
  points: PointKey,
  { body, signature }: Signed,
  numbers: KeyNumbers,
): number {
  const digest = sha256(functions, body);
  const verdict = digest === undefined
    ? -1
    : "point" in numbers
    ? points.verdict(digest, unshared(signature), numbers.point)
    : rsaVerdict(functions, digest, unshared(signature), numbers.modulus);
  // Reasons of a refusal would wait for the next one who asks for errors.
  if (verdict !== 1) functions.ERR_clear_error();
  return verdict;
}

/**
 * A key on P-256 that takes one point after the other: to make one takes a sixth of a verification. It is never freed, as the
 * library is never closed.
 */
class PointKey {
  readonly #functions: OpensslFunctions;
  #key: Deno.PointerValue = null;

  constructor(functions: OpensslFunctions) {
    this.#functions = functions;
  }

  verdict(digest: Bytes, signature: Bytes, point: Bytes): number {
    const functions = this.#functions;
    this.#key ??= functions.EC_KEY_new_by_curve_name(NID.p256);
    // A point that is not taken leaves the key without one that counts; the next point takes its place.
    if (this.#key === null || functions.EC_KEY_oct2key(this.#key, point, BigInt(point.length), null) !== 1) return -1;
    return functions.ECDSA_verify(0, digest, digest.length, signature, signature.length, this.#key);
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
