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
  /** All of them, as dotted object identifiers. */
  readonly ids: readonly string[];
  readonly names: AlternativeNames;
  /** Whether it may sign certificates (basic constraints). */
  readonly isCa: boolean;
  /** How many authorities may stand between it and a leaf. Undefined: any number. */
  readonly pathLength?: number;
  /** The uses that its key may have; undefined: all. */
  readonly keyUsage?: KeyUsage;
  /** Names that certificates below it may have; undefined: all. */
  readonly nameConstraints?: NameConstraints;
  /** Purposes, as dotted object identifiers; undefined: any. */
  readonly purposes?: readonly string[];
  /** In hexadecimal digits. */
  readonly subjectKeyId?: string;
  readonly authorityKeyId?: string;
  /** The serial number of its issuer's certificate, in hexadecimal digits. */
  readonly authoritySerial?: string;
  /** Critical ones that are not read here: who obeys the standard refuses such a certificate. */
  readonly unknownCritical: readonly string[];
}

/** Uses of a key (RFC 5280, section 4.2.1.3), as far as one is asked for here. */
export interface KeyUsage {
  readonly digitalSignature: boolean;
  readonly keyEncipherment: boolean;
  readonly keyAgreement: boolean;
  readonly signCertificates: boolean;
  readonly signRevocationLists: boolean;
}

/**
 * Known, and without an effect here: policies, which nobody asks a certificate for, and where revocation lists are, which
 * are brought along.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  ...[ObjectId.policies, ObjectId.policyMappings, ObjectId.policyConstraints, ObjectId.inhibitAnyPolicy],
  ObjectId.revocationListPlaces,
]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Reads the SEQUENCE of extensions.
 *
 * @throws {PkiError} when one cannot be read, or stands twice
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

/** False: one that is not known here. */
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

/** A length of a path. @throws {PkiError} for none, and for one below zero */
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

/** The alternative names. */
export function namesExtension(names: Partial<AlternativeNames>, critical: boolean): Uint8Array {
  return extensionOf(ALTERNATIVE_NAMES, critical, writeAlternativeNames(names));
}

/** Extensions that mark an authority: it may sign certificates and revocation lists, and authorities below it as deep as said. */
export function authorityExtensions(subjectKeyId: Uint8Array, pathLength: number | undefined): Uint8Array[] {
  const length = pathLength === undefined ? [] : [unsignedInteger(Uint8Array.of(pathLength))];
  return [
    extension(ObjectId.keyUsage, true, bits(Uint8Array.of(0x06), 1)),
    extension(ObjectId.basicConstraints, true, sequence(TRUE, ...length)),
    extension(ObjectId.subjectKeyId, false, octets(subjectKeyId)),
  ];
}

/** Extensions that mark a leaf: no authority; for digital signatures and key encipherment, as a server's and a client's. */
export const LEAF_EXTENSIONS: readonly Uint8Array[] = [
  extension(ObjectId.keyUsage, true, bits(Uint8Array.of(0xa0), 5)),
  extension(ObjectId.extendedKeyUsage, false, sequence(objectId(ObjectId.serverAuth), objectId(ObjectId.clientAuth))),
  extension(ObjectId.basicConstraints, true, sequence()),
];

/** The issuer's key, by its identifier in hexadecimal digits. */
export function issuerKeyExtension(keyId: string): Uint8Array {
  return extension(ObjectId.authorityKeyId, false, sequence(taggedBytes(0, Uint8Array.fromHex(keyId))));
}

/** Bytes of a public key that its identifier is the hash of (RFC 5280, section 4.2.1.2). */
export function keyBits(spki: Uint8Array): Uint8Array {
  const fields = new DerReader(spki, "public key").inside(Tag.SEQUENCE);
  fields.take(Tag.SEQUENCE);
  return bitsOf(fields.take(Tag.BIT_STRING), "public key");
}
