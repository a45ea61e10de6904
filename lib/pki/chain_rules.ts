/**
 * The rules for certificates of a chain, except for signatures: RFC 5280, section 6.1.
 *
 * The rules follow OpenSSL, and BoringSSL in proxies. A test compares each rule with the verdict of openssl.
 *
 * @module
 */
import type { Certificate } from "./certificate.ts";
import { sameBytes } from "./der_read.ts";
import { constraintFault } from "./name_constraints.ts";
import { ObjectId } from "./object_ids.ts";

/** The purpose of a leaf. */
export type Purpose = "client" | "server";

/** Why a certificate is not valid at a time, milliseconds since 1970, or cannot be judged. */
export function timeFault({ notBefore, notAfter, unknownCritical }: Certificate, now: number): string | undefined {
  if (now < notBefore) return `is not valid before ${new Date(notBefore).toISOString()}`;
  if (now > notAfter) return `expired at ${new Date(notAfter).toISOString()}`;
  const [unknown] = unknownCritical;
  return unknown === undefined ? undefined : `has the critical extension ${unknown}, which is not known here`;
}

/**
 * The reason why a certificate may not have issued another certificate.
 *
 * @param isRoot Whether the issuer is trusted. A trusted root may have version 1, which has no extension to mark an
 * authority.
 */
export function issuerFault(issuer: Certificate, certificate: Certificate, isRoot: boolean): string | undefined {
  const { isCa, keyUsage, subjectKeyId, serial, version } = issuer;
  const { authorityKeyId, authoritySerial } = certificate;
  if (!isCa && !(isRoot && version === 1 && isSelfIssued(issuer))) return "is not an authority";
  if (keyUsage?.signCertificates === false) return "may not sign certificates";
  if (authorityKeyId !== undefined && subjectKeyId !== undefined && authorityKeyId !== subjectKeyId) {
    return "has another key than the certificate below it names as its issuer's";
  }
  if (authoritySerial !== undefined && authoritySerial !== serial) {
    return "has another serial number than the certificate below it names as its issuer's";
  }
  return undefined;
}

/** Why a certificate is not for a purpose. */
export function leafFault({ keyUsage, purposes }: Certificate, purpose: Purpose | undefined): string | undefined {
  if (purpose === undefined) return undefined;
  const mayShow = keyUsage === undefined || keyUsage.digitalSignature || keyUsage.keyAgreement ||
    (purpose === "server" && keyUsage.keyEncipherment);
  if (!mayShow) return `has a key that is not for digital signatures, which ${purpose}s make`;
  return isForPurpose(purposes, purpose) ? undefined : `is not for ${purpose}s`;
}

function isForPurpose(purposes: readonly string[] | undefined, purpose: Purpose): boolean {
  return purposes === undefined || purposes.includes(purpose === "client" ? ObjectId.clientAuth : ObjectId.serverAuth);
}

/**
 * The reason why a path breaks a rule of its authorities.
 *
 * @param path The leaf first, the root last.
 */
export function pathFault(path: readonly Certificate[], purpose: Purpose | undefined): string | undefined {
  let below = 0;
  for (const [i, authority] of path.entries()) {
    if (i === 0) continue;
    const { pathLength, purposes, nameConstraints } = authority;
    const name = `certificate ${nameOf(authority)}`;
    if (pathLength !== undefined && below > pathLength) {
      return `${name} allows ${pathLength} authorities below it, got ${below}`;
    }
    if (purpose !== undefined && !isForPurpose(purposes, purpose)) return `${name} is not for ${purpose}s`;
    const constrained = nameConstraints === undefined ? [] : path.slice(0, i);
    for (const [j, one] of constrained.entries()) {
      // Name constraints do not apply to self-issued authorities.
      if (j > 0 && isSelfIssued(one)) continue;
      const fault = constraintFault(nameConstraints!, one, j === 0);
      if (fault !== undefined) return `${name} has name constraints: for ${nameOf(one)} ${fault}`;
    }
    if (!isSelfIssued(authority)) below++;
  }
  return undefined;
}

function isSelfIssued({ subjectDer, issuerDer }: Certificate): boolean {
  return sameBytes(subjectDer, issuerDer);
}

/** A certificate in a message, quoted. */
export function nameOf({ subject, names: { uris, dns } }: Certificate): string {
  return JSON.stringify(uris[0] ?? dns[0] ?? subject);
}
