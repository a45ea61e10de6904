/**
 * The certificates of a server and the roots of its mesh with their ends, for the pages.
 *
 * @module
 */
import type { SigningAuthority } from "../../authority/authority.ts";
import { type Certificate, readCertificates } from "../../pki/certificate.ts";
import type { Current, ServerIdentity } from "../../pki/current.ts";

/** A certificate, by its role. */
export interface KnownCertificate extends Pick<Certificate, "subject" | "fingerprint" | "notBefore" | "notAfter"> {
  readonly role: "signing" | "server" | "root";
}

/** What has certificates; absent parts have none. */
export interface CertificateParts {
  readonly authority: Pick<SigningAuthority, "material"> | undefined;
  readonly identity: ServerIdentity | undefined;
  /** Roots that are not of the authority, as PEM texts. */
  readonly roots: readonly Current<string>[];
}

/** A function with the present certificates: a text is read again only after it has changed. */
export function knownCertificates({ authority, identity, roots }: CertificateParts): () => readonly KnownCertificate[] {
  let readOf: readonly unknown[] = [];
  let known: readonly KnownCertificate[] = [];
  return () => {
    const material = authority?.material.current();
    const server = identity?.current().certificatePem ?? "";
    const others = roots.map((one) => one.current());
    const now = [material, server, ...others];
    if (now.length === readOf.length && now.every((one, at) => one === readOf[at])) return known;
    const signing = material === undefined ? [] : [{ ...material.certificate, notAfter: material.notAfter }];
    const trusted = [...material?.roots ?? [], ...others.flatMap(certificatesOf)];
    const distinct = new Map(trusted.map((one) => [one.fingerprint, one]));
    known = [
      ...signing.map((one) => entry("signing", one)),
      ...certificatesOf(server).slice(0, 1).map((one) => entry("server", one)),
      ...distinct.values().map((one) => entry("root", one)),
    ];
    readOf = now;
    return known;
  };
}

function certificatesOf(pem: string): Certificate[] {
  return pem === "" ? [] : readCertificates(pem);
}

function entry(
  role: KnownCertificate["role"],
  { subject, fingerprint, notBefore, notAfter }: Omit<KnownCertificate, "role">,
): KnownCertificate {
  return { role, subject, fingerprint, notBefore, notAfter };
}
