/**
 * Private keys as read by BoringSSL, the TLS library of the proxies: the allowed forms in a block, and the allowed
 * sorts of keys. Each form is read to its end, because the library refuses a key with damage anywhere.
 *
 * @module
 */
import { type DerElement, DerReader, objectIdText, Tag } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";

/** A key in a valid form. */
export interface KeyForm {
  readonly sort: "rsa" | "ec" | "ed25519";
  /** The curve's identifier, for an EC key. */
  readonly curve?: string;
  /** Whether the form is PKCS#8, whatever the label says. */
  readonly isPkcs8: boolean;
  /** The key's bytes, without further bytes of the block: the library ignores further bytes. */
  readonly der: Uint8Array;
}

type KeySort = Pick<KeyForm, "sort" | "curve">;

/** Curves of P-224, P-256, P-384 and P-521, the only curves in the library. */
const CURVES: ReadonlySet<string> = new Set(["1.3.132.0.33", ObjectId.p256, ObjectId.p384, "1.3.132.0.35"]);

const ED25519 = "1.3.101.112";
const WHAT = "private key";

/** Sorts of key by label. Every other label allows any sort, as PKCS#8. */
const PROMISED: Readonly<Record<string, KeyForm["sort"]>> = { "RSA PRIVATE KEY": "rsa", "EC PRIVATE KEY": "ec" };

/**
 * The form of a key in a block with a label.
 *
 * @throws {PkiError} when the library refuses the key. The message follows the label in a sentence.
 */
export function keyFormOf(label: string, block: Uint8Array): KeyForm {
  const { whole: der } = new DerReader(block, WHAT).take(Tag.SEQUENCE);
  const promised = Object.hasOwn(PROMISED, label) ? PROMISED[label] : undefined;
  const fields = whole(der);
  const version = fields.take(Tag.INTEGER).content;
  // Only PKCS#8 has an algorithm, a SEQUENCE, behind the version.
  if (fields.nextTag === Tag.SEQUENCE) {
    const form = { ...pkcs8Of(fields), isPkcs8: true, der };
    if (promised !== undefined && form.sort !== promised) throw new PkiError("that holds a key of another sort");
    return form;
  }
  if (promised === undefined) throw new PkiError("not a key in PKCS#8");
  if (promised === "rsa") return { ...rsaOf(fields), isPkcs8: false, der };
  if (version[0] !== 1 || version.length !== 1) throw new PkiError("that is not a key");
  const curve = ecOf(fields);
  if (curve === undefined) throw new PkiError("that does not name the curve of its key");
  return { sort: "ec", curve: knownCurve(curve), isPkcs8: false, der };
}

function whole(der: Uint8Array): DerReader {
  const outer = new DerReader(der, WHAT);
  const fields = outer.inside(Tag.SEQUENCE);
  outer.finish();
  return fields;
}

function pkcs8Of(fields: DerReader): KeySort {
  const algorithm = fields.inside(Tag.SEQUENCE);
  const id = objectIdText(algorithm.take(Tag.OBJECT_ID));
  const key = fields.take(Tag.OCTET_STRING).content;
  if (id === ObjectId.rsaEncryption) {
    const inner = whole(key);
    inner.take(Tag.INTEGER);
    return rsaOf(inner);
  }
  if (id === ED25519) {
    const inner = new DerReader(key, WHAT);
    const seed = inner.take(Tag.OCTET_STRING).content;
    inner.finish();
    if (seed.length !== 32) throw new PkiError("that is not a key");
    return { sort: "ed25519" };
  }
  if (id !== ObjectId.ecPublicKey) throw new PkiError(`that holds a key of a sort that proxies do not know (${id})`);
  const curve = knownCurve(namedCurve(algorithm.take()));
  const inner = whole(key);
  inner.take(Tag.INTEGER);
  ecOf(inner);
  return { sort: "ec", curve };
}

/** Behind the version: modulus, two exponents, two primes, and the numbers derived from exponents and primes. */
function rsaOf(fields: DerReader): KeySort {
  for (let i = 0; i < 8; i++) fields.take(Tag.INTEGER);
  fields.finish();
  return { sort: "rsa" };
}

/** Behind the version: the private number, and optionally the curve and the public half. */
function ecOf(fields: DerReader): string | undefined {
  fields.take(Tag.OCTET_STRING);
  const parameters = fields.optional(0xa0)?.reader(WHAT).take();
  fields.optional(0xa1);
  fields.finish();
  return parameters === undefined ? undefined : namedCurve(parameters);
}

/**
 * The curve in the parameters of an EC key.
 *
 * @throws {PkiError} when the parameters describe the curve instead of naming the curve.
 */
export function namedCurve(parameters: DerElement): string {
  if (parameters.tag !== Tag.OBJECT_ID) {
    throw new PkiError("that describes the curve of its key: the curve has to be named");
  }
  return objectIdText(parameters);
}

/** @throws {PkiError} when the library does not know the curve. */
export function knownCurve(curve: string): string {
  if (!CURVES.has(curve)) throw new PkiError(`that holds a key on a curve that proxies do not know (${curve})`);
  return curve;
}
