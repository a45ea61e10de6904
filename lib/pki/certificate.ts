/**
 * Certificates as plain data.
 *
 * Certificates are read as DER here because Deno 2.8.3 joins alternative names into a text without quotes: a DNS name
 * with the text `, URI:spiffe://...` would pass for an identity.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { hex, sameBytes, Tag, timeOf } from "./der_read.ts";
import { type Extensions, readExtensions } from "./extensions.ts";
import { certificatePem, pemKind, readPem } from "./pem.ts";
import { PkiError } from "./pki_error.ts";
import { type KeySpec, keySpecOf } from "./public_key.ts";
import { isSignedBy, readSigned, type Signed } from "./signed.ts";
import { NO_NAMES, readSubject } from "./subject.ts";

/** A certificate: the fields and the bytes. */
export interface Certificate extends Signed, Extensions {
  /** The whole certificate. */
  readonly der: Uint8Array;
  /** 1 to 3. Version 1 has no extensions. */
  readonly version: number;
  /** The serial number in hexadecimal digits. */
  readonly serial: string;
  /** SHA-256 of the whole certificate, in hexadecimal digits. */
  readonly fingerprint: string;
  /** The subject for people: `O=cluster.local, CN=root`. Compare {@linkcode Certificate.subjectDer} instead. */
  readonly subject: string;
  readonly commonName?: string;
  readonly issuer: string;
  readonly subjectDer: Uint8Array;
  readonly issuerDer: Uint8Array;
  /** First and last valid time, in milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The public key, as SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
}

const VERSION = 0xa0;
const ISSUER_ID = 0xa1;
const SUBJECT_ID = 0xa2;
const EXTENSIONS = 0xa3;

/**
 * Reads a certificate (RFC 5280, section 4.1).
 *
 * @throws {PkiError} when the bytes are not a certificate.
 */
export function readCertificate(der: Uint8Array, what = "certificate"): Certificate {
  const { signed, fields: inner } = readSigned(der, what);
  const [version = 0, ...more] = inner.optional(VERSION)?.reader(what).take(Tag.INTEGER).content ?? [];
  if (version > 2 || more.length > 0) throw new PkiError(`${what}: expected version 1, 2 or 3`);
  const serial = hex(inner.take(Tag.INTEGER).content);
  inner.take(Tag.SEQUENCE);
  const issuerDer = inner.take(Tag.SEQUENCE).whole;
  const validity = inner.inside(Tag.SEQUENCE);
  const [notBefore, notAfter] = [timeOf(validity.take()), timeOf(validity.take())];
  const subjectDer = inner.take(Tag.SEQUENCE).whole;
  const spki = inner.take(Tag.SEQUENCE).whole;
  inner.optional(ISSUER_ID);
  inner.optional(SUBJECT_ID);
  const extensions = inner.nextTag === EXTENSIONS
    ? readExtensions(inner.inside(EXTENSIONS).inside(Tag.SEQUENCE), what)
    : { ids: [], names: NO_NAMES, isCa: false, unknownCritical: [] };
  inner.finish();
  const { text: subject, ...common } = readSubject(subjectDer, what);
  return {
    ...signed,
    ...{ version: version + 1, der, serial, notBefore, notAfter, spki },
    ...{ subject, ...common, subjectDer, issuerDer, issuer: readSubject(issuerDer, what).text },
    fingerprint: createHash("sha256").update(der).digest("hex"),
    ...extensions,
  };
}

/**
 * The certificates of a PEM text, in order. Other blocks are skipped.
 *
 * @param what The name of the text in errors.
 * @throws {PkiError} when the text has no certificates, or an unreadable certificate.
 */
export function readCertificates(pem: string, what = "certificates"): Certificate[] {
  const blocks = readPem(pem, what).filter(({ label }) => pemKind(label) === "certificate");
  if (blocks.length === 0) throw new PkiError(`${what}: expected certificates in PEM, got none`);
  return blocks.map(({ der }, i) => readCertificate(der, `${what}: certificate ${i + 1} of ${blocks.length}`));
}

/** Certificates as a single PEM text. */
export function writeCertificates(certificates: readonly Certificate[]): string {
  return certificates.map(({ der }) => certificatePem(der)).join("");
}

/**
 * Algorithm and size of a certificate's key.
 *
 * @throws {PkiError} when the key has an unsupported algorithm or size.
 */
export function keySpecOfCertificate({ spki }: Certificate): KeySpec {
  return keySpecOf(spki);
}

/** Whether a key belongs to a certificate. */
export function isKeyOf(key: { readonly spki: Uint8Array }, certificate: Certificate): boolean {
  return sameBytes(key.spki, certificate.spki);
}

/** Whether a certificate has the same name as issuer and subject, and is signed by its own key. */
export async function isSelfSigned(certificate: Certificate): Promise<boolean> {
  return sameBytes(certificate.subjectDer, certificate.issuerDer) && await isSignedBy(certificate, certificate.spki);
}
