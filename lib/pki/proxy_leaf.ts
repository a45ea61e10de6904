/**
 * The first certificate of a chain, as loaded by BoringSSL, the TLS library of the proxies. The library is stricter
 * with the first certificate than with the rest of the chain.
 *
 * @module
 */
import { DerReader, objectIdText, Tag, timeOf } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";
import { knownCurve, namedCurve } from "./proxy_key.ts";

const VERSION = 0xa0;
const UNIQUE_IDS = [0xa1, 0xa2] as const;
const EXTENSIONS = 0xa3;
const ED25519 = "1.3.101.112";
const WHAT = "certificate";
/** Bit of the key usage (RFC 5280, section 4.2.1.3). */
const DIGITAL_SIGNATURE = 0x80;

/**
 * @throws {PkiError} when the library does not load the certificate. The message follows the block's name in a
 * sentence.
 */
export function checkLeaf(der: Uint8Array): void {
  readLeaf(der);
}

/**
 * Checks the key usage as well. The library reads the key usage of a certificate for ECDSA, after all other checks.
 *
 * @throws {PkiError} when the key is not for digital signatures.
 */
export function checkLeafUsage(der: Uint8Array): void {
  const { isElliptic, extensions } = readLeaf(der);
  if (isElliptic && extensions !== undefined) checkUsage(extensions);
}

function readLeaf(der: Uint8Array): { readonly isElliptic: boolean; readonly extensions: DerReader | undefined } {
  const outer = new DerReader(der, WHAT);
  const signed = outer.inside(Tag.SEQUENCE);
  if (!outer.done) throw new PkiError("that has bytes behind its certificate");
  const fields = signed.inside(Tag.SEQUENCE);
  checkVersion(fields);
  checkSerial(fields.take(Tag.INTEGER).content);
  fields.take(Tag.SEQUENCE);
  fields.take(Tag.SEQUENCE);
  const validity = fields.inside(Tag.SEQUENCE);
  timeOf(validity.take());
  timeOf(validity.take());
  fields.take(Tag.SEQUENCE);
  const isElliptic = checkKey(fields.inside(Tag.SEQUENCE));
  for (const id of UNIQUE_IDS) fields.optional(id);
  const extensions = fields.nextTag === EXTENSIONS ? fields.inside(EXTENSIONS).inside(Tag.SEQUENCE) : undefined;
  fields.finish();
  return { isElliptic, extensions };
}

function checkVersion(fields: DerReader): void {
  const version = fields.optional(VERSION)?.reader(WHAT).take(Tag.INTEGER).content;
  if (version === undefined || (version.length === 1 && version[0]! <= 2)) return;
  throw new PkiError("that has a version which does not exist");
}

function checkSerial([first, second]: Uint8Array): void {
  const isLong = second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
  if (first === undefined || isLong) throw new PkiError("that has no serial number in its shortest form");
}

/** @returns Whether the key is on a curve and signs by ECDSA. */
function checkKey(key: DerReader): boolean {
  const algorithm = key.inside(Tag.SEQUENCE);
  const id = objectIdText(algorithm.take(Tag.OBJECT_ID));
  if (id === ObjectId.rsaEncryption || id === ED25519) return false;
  if (id !== ObjectId.ecPublicKey) throw new PkiError(`that holds a key of a sort that proxies do not know (${id})`);
  knownCurve(namedCurve(algorithm.take()));
  return true;
}

function checkUsage(extensions: DerReader): void {
  while (!extensions.done) {
    const extension = extensions.inside(Tag.SEQUENCE);
    const id = objectIdText(extension.take(Tag.OBJECT_ID));
    extension.optional(Tag.BOOLEAN);
    const value = extension.take(Tag.OCTET_STRING).content;
    if (id !== ObjectId.keyUsage) continue;
    const [, uses = 0] = new DerReader(value, WHAT).take(Tag.BIT_STRING).content;
    if ((uses & DIGITAL_SIGNATURE) === 0) {
      throw new PkiError("that has an ECDSA key which is not for digital signatures, by its key usage");
    }
  }
}
