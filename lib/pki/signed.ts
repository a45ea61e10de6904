/**
 * What is signed: certificates and requests alike are a body, the name of an algorithm, and a signature.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createPublicKey, verify } from "node:crypto";
import { bitsOf, DerReader, objectIdText, Tag } from "./der/read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";
import { keySpecOf } from "./public_key.ts";

/** Hashes of the signature algorithms that are verified; SHA-1 and MD5 are not. */
const HASHES: Readonly<Record<string, "sha256" | "sha384" | "sha512">> = {
  [ObjectId.sha256WithRsa]: "sha256",
  [ObjectId.sha384WithRsa]: "sha384",
  [ObjectId.sha512WithRsa]: "sha512",
  [ObjectId.ecdsaWithSha256]: "sha256",
  [ObjectId.ecdsaWithSha384]: "sha384",
  [ObjectId.ecdsaWithSha512]: "sha512",
};

const RSA_SIGNATURES: ReadonlySet<string> = new Set([
  ...[ObjectId.sha256WithRsa, ObjectId.sha384WithRsa, ObjectId.sha512WithRsa],
]);

/** Something signed: a certificate or a request. */
export interface Signed {
  /** The bytes that the signature is of. */
  readonly body: Uint8Array;
  /** Dotted object identifier of the signature's algorithm. */
  readonly signatureAlgorithm: string;
  readonly signature: Uint8Array;
}

/**
 * Reads the three parts of something signed: its body, the algorithm, the signature.
 *
 * @throws {PkiError} when the bytes are not that
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

/**
 * Whether a signature was made with the private half of a key. False too for algorithms that are not verified here (RSA
 * with PKCS#1 padding and ECDSA are, with SHA-256, 384 and 512).
 *
 * @throws {PkiError} when the public key cannot be used
 */
export function isSignedBy({ body, signatureAlgorithm, signature }: Signed, spki: Uint8Array): boolean {
  const hash = Object.hasOwn(HASHES, signatureAlgorithm) ? HASHES[signatureAlgorithm] : undefined;
  if (hash === undefined) return false;
  const { type } = keySpecOf(spki);
  if ((type === "RSA") !== RSA_SIGNATURES.has(signatureAlgorithm)) return false;
  let key;
  try {
    key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch (error) {
    throw new PkiError(`expected a public key: ${(error as Error).message}`);
  }
  try {
    return verify(hash, body, key, signature);
  } catch {
    return false; // A signature of another form than the algorithm has.
  }
}
