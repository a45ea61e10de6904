/**
 * Algorithm and size of public keys in certificates and requests (SubjectPublicKeyInfo).
 *
 * @module
 */
import { bitsOf, DerReader, objectIdText, Tag } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";

/** Algorithm and size of a key. */
export type KeySpec =
  | { readonly type: "RSA"; readonly bits: number }
  | { readonly type: "EC"; readonly curve: "P-256" | "P-384" };

/** Allowed sizes of an RSA key, in bits. */
const RSA_BITS = { least: 2048, most: 8192 } as const;

/** A key's algorithm and size in words: `RSA-2048`, `ECDSA P-256`. */
export function keySpecText(spec: KeySpec): string {
  return spec.type === "RSA" ? `RSA-${spec.bits}` : `ECDSA ${spec.curve}`;
}

/**
 * Algorithm and size of a public key.
 *
 * @param spki The key as SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
 * @throws {PkiError} for another algorithm or curve, or an RSA key below 2048 or above 8192 bits.
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
