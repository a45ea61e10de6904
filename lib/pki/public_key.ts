/**
 * Public keys as certificates and requests carry them (SubjectPublicKeyInfo): which algorithm and size they have, and
 * whether a signature is theirs.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createPublicKey, verify } from "node:crypto";
import { bitsOf, DerReader, objectIdText, Tag } from "./der/read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";

/** Algorithm and size of a key. */
export type KeySpec =
  | { readonly type: "RSA"; readonly bits: number }
  | { readonly type: "EC"; readonly curve: "P-256" | "P-384" };

/** Bits that an RSA key may have. */
const RSA_BITS = { least: 2048, most: 8192 } as const;

/** A key's algorithm and size in words: `RSA-2048`, `ECDSA P-256`. */
export function keySpecText(spec: KeySpec): string {
  return spec.type === "RSA" ? `RSA-${spec.bits}` : `ECDSA ${spec.curve}`;
}

/**
 * Algorithm and size of a public key.
 *
 * @param spki The key as SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
 * @throws {PkiError} for one of another algorithm or curve, or an RSA key below 2048 or above 8192 bits
 */
export function keySpecOf(spki: Uint8Array): KeySpec {
  const what = "public key";
  const outer = new DerReader(spki, what).inside(Tag.SEQUENCE);
  const algorithm = outer.inside(Tag.SEQUENCE);
  const bytes = bitsOf(outer.take(Tag.BIT_STRING), what);
  const type = objectIdText(algorithm.take(Tag.OBJECT_ID));
  if (type === ObjectId.rsaEncryption) {
    const bits = bitLength(new DerReader(bytes, what).inside(Tag.SEQUENCE).take(Tag.INTEGER).content);
    if (bits < RSA_BITS.least || bits > RSA_BITS.most) {
      throw new PkiError(`expected an RSA key of ${RSA_BITS.least} to ${RSA_BITS.most} bits, got ${bits}`);
    }
    return { type: "RSA", bits };
  }
  const curve = type === ObjectId.ecPublicKey ? objectIdText(algorithm.take(Tag.OBJECT_ID)) : undefined;
  if (curve === ObjectId.p256) return { type: "EC", curve: "P-256" };
  if (curve === ObjectId.p384) return { type: "EC", curve: "P-384" };
  throw new PkiError(`expected an RSA key or an ECDSA key on P-256 or P-384, got ${curve ?? type}`);
}

function bitLength(integer: Uint8Array): number {
  const start = integer.findIndex((byte) => byte !== 0);
  return start < 0 ? 0 : (integer.length - start) * 8 - Math.clz32(integer[start]!) + 24;
}

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
