/**
 * The extensions of certificates and requests (RFC 5280, section 4.2): read as data, written from data.
 *
 * @module
 */
import { bitsOf, DerReader, hex, objectIdText, Tag, truthOf } from "./der_read.ts";
import { bits, objectId, octets, sequence, taggedBytes, TRUE, unsignedInteger } from "./der_write.ts";
import { type NameConstraints, readNameConstraints } from "./name_constraints.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";
import { type AlternativeNames, NO_NAMES, readAlternativeNames, writeAlternativeNames } from "./subject.ts";

/** The contents of the extensions. */
export interface Extensions {
  /** All extensions, as dotted object identifiers. */
  readonly ids: readonly string[];
  readonly names: AlternativeNames;
  /** Whether the certificate's key may sign certificates (basic constraints). */
  readonly isCa: boolean;
  /** Most authorities allowed between the certificate and a leaf. Undefined: any number. */
  readonly pathLength?: number;
  /** The allowed uses of the key. Undefined: all. */
  readonly keyUsage?: KeyUsage;
  /** The allowed names of certificates further down the chain. Undefined: all. */
  readonly nameConstraints?: NameConstraints;
  /** Purposes, as dotted object identifiers; undefined: any. */
  readonly purposes?: readonly string[];
  /** In hexadecimal digits. */
  readonly subjectKeyId?: string;
  readonly authorityKeyId?: string;
  /** The serial number of the issuer's certificate, in hexadecimal digits. */
  readonly authoritySerial?: string;
  /** Unknown critical extensions. The standard requires readers to refuse such a certificate. */
  readonly unknownCritical: readonly string[];
}

/** Uses of a key (RFC 5280, section 4.2.1.3), as far as they are checked here. */
export interface KeyUsage {
  readonly digitalSignature: boolean;
  readonly keyEncipherment: boolean;
  readonly keyAgreement: boolean;
  readonly signCertificates: boolean;
  readonly signRevocationLists: boolean;
}

/**
 * Known extensions without an effect here: policies, which no caller asks for, and places of revocation lists, because
 * callers bring the lists.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  ...[ObjectId.policies, ObjectId.policyMappings, ObjectId.policyConstraints, ObjectId.inhibitAnyPolicy],
  ObjectId.revocationListPlaces,
]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Reads the SEQUENCE of extensions.
 *
 * @throws {PkiError} for an unreadable or repeated extension.
 */
export function readExtensions(reader: DerReader, what: string): Extensions {
  const unknownCritical: string[] = [];
  const ids: string[] = [];
  const found: Mutable<Extensions> = { ids, names: NO_NAMES, isCa: false, unknownCritical };
  while (!reader.done) {
    const extension = reader.inside(Tag.SEQUENCE);
    const id = objectIdText(extension.take(Tag.OBJECT_ID));
    if (ids.includes(id)) throw new PkiError(`${what}: expected each extension once, got ${id} twice`);
    ids.push(id);
    const critical = truthOf(extension.optional(Tag.BOOLEAN));
    const value = extension.take(Tag.OCTET_STRING).content;
    extension.finish();
    if (!readExtension(id, value, found, what) && critical) unknownCritical.push(id);
  }
  return found;
}

/** Returns false for an unknown extension. */
function readExtension(id: string, value: Uint8Array, found: Mutable<Extensions>, what: string): boolean {
  const inner = new DerReader(value, what);
  switch (id) {
    case ObjectId.alternativeNames:
      found.names = readAlternativeNames(value, what);
      return true;
    case ObjectId.basicConstraints: {
      const fields = inner.inside(Tag.SEQUENCE);
      found.isCa = truthOf(fields.optional(Tag.BOOLEAN));
      const length = fields.optional(Tag.INTEGER)?.content;
      if (length !== undefined) found.pathLength = lengthOf(length, what);
      fields.finish();
      inner.finish();
      return true;
    }
    case ObjectId.keyUsage: {
      const [, first = 0] = inner.take(Tag.BIT_STRING).content;
      found.keyUsage = {
        digitalSignature: (first & 0x80) !== 0,
        keyEncipherment: (first & 0x20) !== 0,
        keyAgreement: (first & 0x08) !== 0,
        signCertificates: (first & 0x04) !== 0,
        signRevocationLists: (first & 0x02) !== 0,
      };
      return true;
    }
    case ObjectId.extendedKeyUsage: {
      const purposes: string[] = [];
      const list = inner.inside(Tag.SEQUENCE);
      while (!list.done) purposes.push(objectIdText(list.take(Tag.OBJECT_ID)));
      found.purposes = purposes;
      return true;
    }
    case ObjectId.subjectKeyId:
      found.subjectKeyId = hex(inner.take(Tag.OCTET_STRING).content);
      return true;
    case ObjectId.authorityKeyId: {
      const fields = inner.inside(Tag.SEQUENCE);
      const keyId = fields.optional(0x80)?.content;
      if (keyId !== undefined) found.authorityKeyId = hex(keyId);
      fields.optional(0xa1);
      const serial = fields.optional(0x82)?.content;
      if (serial !== undefined) found.authoritySerial = hex(serial);
      return true;
    }
    case ObjectId.nameConstraints:
      found.nameConstraints = readNameConstraints(inner.inside(Tag.SEQUENCE), what);
      return true;
    default:
      return WITHOUT_EFFECT.has(id);
  }
}

/**
 * The length of a path.
 *
 * @throws {PkiError} for an empty or negative number.
 */
function lengthOf(integer: Uint8Array, what: string): number {
  const [first = 0x80] = integer;
  if (first >= 0x80) throw new PkiError(`${what}: expected a length of the path of 0 or more`);
  return integer.reduce((sum, byte) => sum * 256 + byte, 0);
}

function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  return extensionOf(objectId(id), critical, value);
}

function extensionOf(id: Uint8Array, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(id, ...(critical ? [TRUE] : []), octets(value));
}

const ALTERNATIVE_NAMES = objectId(ObjectId.alternativeNames);

/** The extension for alternative names. */
export function namesExtension(names: Partial<AlternativeNames>, critical: boolean): Uint8Array {
  return extensionOf(ALTERNATIVE_NAMES, critical, writeAlternativeNames(names));
}

/**
 * Extensions that mark an authority. Its key may sign certificates and revocation lists.
 *
 * @param pathLength Most authorities allowed between the authority and a leaf. Undefined: any number.
 */
export function authorityExtensions(subjectKeyId: Uint8Array, pathLength: number | undefined): Uint8Array[] {
  const length = pathLength === undefined ? [] : [unsignedInteger(Uint8Array.of(pathLength))];
  return [
    extension(ObjectId.keyUsage, true, bits(Uint8Array.of(0x06), 1)),
    extension(ObjectId.basicConstraints, true, sequence(TRUE, ...length)),
    extension(ObjectId.subjectKeyId, false, octets(subjectKeyId)),
  ];
}

/**
 * Extensions that mark a leaf: not an authority, for digital signatures and key encipherment, for servers and clients.
 */
export const LEAF_EXTENSIONS: readonly Uint8Array[] = [
  extension(ObjectId.keyUsage, true, bits(Uint8Array.of(0xa0), 5)),
  extension(ObjectId.extendedKeyUsage, false, sequence(objectId(ObjectId.serverAuth), objectId(ObjectId.clientAuth))),
  extension(ObjectId.basicConstraints, true, sequence()),
];

/**
 * The extension for the issuer's key.
 *
 * @param keyId The key's identifier in hexadecimal digits.
 */
export function issuerKeyExtension(keyId: string): Uint8Array {
  return extension(ObjectId.authorityKeyId, false, sequence(taggedBytes(0, Uint8Array.fromHex(keyId))));
}

/** The bytes of a public key that are hashed into the key identifier (RFC 5280, section 4.2.1.2). */
export function keyBits(spki: Uint8Array): Uint8Array {
  const fields = new DerReader(spki, "public key").inside(Tag.SEQUENCE);
  fields.take(Tag.SEQUENCE);
  return bitsOf(fields.take(Tag.BIT_STRING), "public key");
}
