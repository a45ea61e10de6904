/**
 * Signatures verified by OpenSSL, in a tenth (RSA) to a quarter (P-256) of WebCrypto's time. Deno 2.8.3 runs
 * WebCrypto's verification on the event loop's thread.
 *
 * A stranger chose the key, so OpenSSL parses nothing of the key. OpenSSL gets a point of 65 bytes, or the modulus of
 * an RSA key with the usual exponent. WebCrypto verifies keys and algorithms of other kinds, and every signature
 * without OpenSSL's confirmation.
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
/**
 * Longest RSA key for OpenSSL, in bits. A longer key would hold the event loop, and workloads do not need longer keys.
 */
const MOST_BITS = 4096;
/** 65537 */
const USUAL_EXPONENT = Uint8Array.of(1, 0, 1);
/** AlgorithmIdentifier of RSA keys for OpenSSL. */
const RSA_KEY = sequence(objectId(ObjectId.rsaEncryption), NULL);
/** Bytes of an uncompressed point: a mark, and two numbers of 32 bytes. */
const POINT_LENGTH = 65;
/** The beginning of each P-256 key in DER, up to the point. The point begins with the mark 4. */
const P256_HEAD = sequence(
  sequence(objectId(ObjectId.ecPublicKey), objectId(ObjectId.p256)),
  bits(new Uint8Array(POINT_LENGTH)),
).slice(0, -POINT_LENGTH);

type Bytes = Uint8Array<ArrayBuffer>;

/** The numbers of a public key for a verification. */
type KeyNumbers = { readonly point: Bytes } | { readonly modulus: Bytes };

/** A verifier with the verdicts of {@linkcode isSignedBy}. Every refusal, with its reason, comes from `isSignedBy`. */
export function opensslVerifier(functions: OpensslFunctions): Verify {
  const points = new PointKey(functions);
  return async (signed, spki) => {
    const numbers = numbersOf(spki, signed.signatureAlgorithm);
    const isProven = numbers !== undefined && verdictOf(functions, points, signed, numbers) === 1;
    return isProven || await isSignedBy(signed, spki);
  };
}

/** Undefined for a key that OpenSSL does not get, or a key not written as DER. */
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

/** 1 for a signature by the key. Other numbers: a wrong signature, or no verdict by OpenSSL. */
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
  // Clear the reasons of a refusal, or the next reader of errors would get them.
  if (verdict !== 1) functions.ERR_clear_error();
  return verdict;
}

/**
 * A reusable key on P-256 that takes one point after the other. Making a key takes a sixth of a verification's time.
 * The key is never freed, like the library.
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
    // After a rejected point, the key has no usable point. The next point replaces it.
    if (this.#key === null || functions.EC_KEY_oct2key(this.#key, point, BigInt(point.length), null) !== 1) return -1;
    return functions.ECDSA_verify(0, digest, digest.length, signature, signature.length, this.#key);
  }
}

function rsaVerdict(functions: OpensslFunctions, digest: Bytes, signature: Bytes, modulus: Bytes): number {
  const key = functions.RSA_new();
  const n = functions.BN_bin2bn(modulus, modulus.length, null);
  const e = functions.BN_bin2bn(Uint8Array.from(USUAL_EXPONENT), USUAL_EXPONENT.length, null);
  try {
    // After success, the key owns both numbers.
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
