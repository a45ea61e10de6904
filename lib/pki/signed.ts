/**
 * Signed documents: certificates and requests alike are a body, the name of an algorithm, and a signature.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject, verify as verifyNow } from "node:crypto";
import { bitsOf, DerReader, objectIdText, Tag } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";
import { keySpecOf } from "./public_key.ts";

/** Something signed: a certificate or a request. */
export interface Signed {
  /** The signed bytes. */
  readonly body: Uint8Array;
  /** Dotted object identifier of the signature's algorithm. */
  readonly signatureAlgorithm: string;
  readonly signature: Uint8Array;
}

/**
 * Reads the three parts of a signed document: body, algorithm, signature.
 *
 * @returns The parts, with a reader of the body's fields.
 * @throws {PkiError} when the bytes are not a signed document.
 */
export function readSigned(der: Uint8Array, what: string): { readonly signed: Signed; readonly fields: DerReader } {
  const outer = new DerReader(der, what);
  const parts = outer.inside(Tag.SEQUENCE);
  outer.finish();
  const body = parts.take(Tag.SEQUENCE);
  const signatureAlgorithm = objectIdText(parts.inside(Tag.SEQUENCE).take(Tag.OBJECT_ID));
  const signature = bitsOf(parts.take(Tag.BIT_STRING), what);
  parts.finish();
  return { signed: { body: body.whole, signatureAlgorithm, signature }, fields: new DerReader(body.content, what) };
}

/** The verified signature algorithms. Algorithms with SHA-1 and MD5 are left out. */
const ALGORITHMS: Readonly<Record<string, { readonly type: "RSA" | "EC"; readonly hash: string }>> = {
  [ObjectId.sha256WithRsa]: { type: "RSA", hash: "SHA-256" },
  [ObjectId.sha384WithRsa]: { type: "RSA", hash: "SHA-384" },
  [ObjectId.sha512WithRsa]: { type: "RSA", hash: "SHA-512" },
  [ObjectId.ecdsaWithSha256]: { type: "EC", hash: "SHA-256" },
  [ObjectId.ecdsaWithSha384]: { type: "EC", hash: "SHA-384" },
  [ObjectId.ecdsaWithSha512]: { type: "EC", hash: "SHA-512" },
};

/**
 * Tells whether a signature was made with the private half of a key, given as SubjectPublicKeyInfo.
 *
 * Throws a {@linkcode PkiError} for an unsupported public key.
 */
export type Verify = (signed: Signed, spki: Uint8Array) => Promise<boolean>;

/**
 * Whether a signature was made with the private half of a key. WebCrypto verifies the signature; in Deno 2.8.3 on this
 * thread. Supported are RSA with PKCS#1 padding and ECDSA, with SHA-256, 384 and 512. False for other algorithms, too.
 *
 * @throws {PkiError} for an unsupported public key.
 */
export async function isSignedBy({ body, signatureAlgorithm, signature }: Signed, spki: Uint8Array): Promise<boolean> {
  const spec = keySpecOf(spki);
  const algorithm = Object.hasOwn(ALGORITHMS, signatureAlgorithm) ? ALGORITHMS[signatureAlgorithm] : undefined;
  if (algorithm?.type !== spec.type) return false;
  const { hash } = algorithm;
  const parameters = spec.type === "RSA"
    ? { name: "RSASSA-PKCS1-v1_5", hash }
    : { name: "ECDSA", namedCurve: spec.curve, hash };
  const proof = spec.type === "RSA" ? signature : numberPair(signature, spec.curve === "P-256" ? 32 : 48);
  if (proof === undefined) return false;
  try {
    const key = await crypto.subtle.importKey("spki", new Uint8Array(spki), parameters, false, ["verify"]);
    return await crypto.subtle.verify(parameters, key, new Uint8Array(proof), new Uint8Array(body));
  } catch (error) {
    // For example, a point outside the curve. Deno 2.8.3 checks the point only when the key is used.
    throw new PkiError(`expected a public key: ${(error as Error).message}`);
  }
}

/** Whether the signature's algorithm is supported. For other algorithms a verdict is impossible. */
export function isVerifiable({ signatureAlgorithm }: Signed): boolean {
  return Object.hasOwn(ALGORITHMS, signatureAlgorithm);
}

/**
 * The same verdict as {@linkcode isSignedBy}, made at once on this thread.
 *
 * @throws {PkiError} for an unsupported public key.
 */
export function isSignedByNow({ body, signatureAlgorithm, signature }: Signed, spki: Uint8Array): boolean {
  const spec = keySpecOf(spki);
  const algorithm = Object.hasOwn(ALGORITHMS, signatureAlgorithm) ? ALGORITHMS[signatureAlgorithm] : undefined;
  if (algorithm?.type !== spec.type) return false;
  if (spec.type === "EC" && numberPair(signature, spec.curve === "P-256" ? 32 : 48) === undefined) return false;
  const key = createKey(spki);
  return verifyNow(algorithm.hash.replace("-", ""), body, key, signature);
}

function createKey(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch (error) {
    throw new PkiError(`expected a public key: ${(error as Error).message}`);
  }
}

/**
 * The two numbers of an ECDSA signature one after the other, as in WebCrypto. Undefined for bytes that are not a
 * signature.
 */
function numberPair(signature: Uint8Array, size: number): Uint8Array | undefined {
  const pair = new Uint8Array(2 * size);
  try {
    const reader = new DerReader(signature, "signature");
    const numbers = reader.inside(Tag.SEQUENCE);
    reader.finish();
    for (const end of [size, 2 * size]) {
      const { content } = numbers.take(Tag.INTEGER);
      const digits = content[0] === 0 ? content.subarray(1) : content;
      if (digits.length > size) return undefined;
      pair.set(digits, end - digits.length);
    }
    numbers.finish();
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
  return pair;
}
