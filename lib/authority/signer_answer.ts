/**
 * The request to an external signer, and the check of its answer. The signer signs the request unchanged, so everything
 * in the request is compared with the caller's proven identity.
 *
 * @module
 */
import { type Certificate, isSelfSigned, readCertificates, writeCertificates } from "../pki/certificate.ts";
import { verifyChain } from "../pki/chain.ts";
import { sameBytes } from "../pki/der_read.ts";
import { certificatePem } from "../pki/pem.ts";
import { PkiError } from "../pki/pki_error.ts";
import type { CertificateRequest } from "../pki/request.ts";
import type { AlternativeNames } from "../pki/subject.ts";
import { type IssuedChain, IssueError } from "./issuing.ts";

/** Subjects without a name: the empty subject, and the empty organization that Istio's agents write. */
const NOBODY: ReadonlySet<string> = new Set(["", "O="]);

/**
 * Why a request must not be signed for an identity; undefined: the request asks only for that identity.
 *
 * @param uri The proven identity.
 */
export function requestFault({ names, subject, asks }: CertificateRequest, uri: string): string | undefined {
  const all = sortedNames(names);
  if (all.length !== 1 || names.uris[0] !== uri) {
    return `names: got ${JSON.stringify(all.slice(0, 3))}, expected only ${uri}: the signer writes all requested names`;
  }
  if (!NOBODY.has(subject)) return `subject: got ${JSON.stringify(subject)}, expected none`;
  if (asks.length > 0) return `extensions: got ${asks.slice(0, 3).join(", ")}, expected only alternative names`;
  return undefined;
}

/** The certificate that a signer was asked for. */
export interface AskedCertificate {
  readonly signer: string;
  /** The key, as SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly names: AlternativeNames;
  readonly purposes: readonly ("client" | "server")[];
}

/**
 * Reads the answer of a signer: a certificate, then the certificates up to the root.
 *
 * @param rootsPem The signer's roots; undefined: the roots in the answer.
 * @param now Milliseconds since 1970.
 * @throws {IssueError} when the certificate differs from the request, or leads to no root
 */
export async function readSignerAnswer(
  pem: string,
  asked: AskedCertificate,
  rootsPem: string | undefined,
  now: number,
): Promise<IssuedChain> {
  try {
    return await checkedAnswer(pem, asked, rootsPem, now);
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new IssueError("unusable", `signer ${asked.signer}: ${error.message}`);
  }
}

async function checkedAnswer(
  pem: string,
  { spki, names, purposes }: AskedCertificate,
  rootsPem: string | undefined,
  now: number,
): Promise<IssuedChain> {
  const [leaf, ...others] = readCertificates(pem, "its answer");
  if (leaf === undefined || !sameBytes(leaf.spki, spki)) {
    throw new PkiError("expected a certificate of the key that was sent");
  }
  if (leaf.isCa) throw new PkiError("expected a certificate that may not sign, got an authority");
  const [got, expected] = [leaf.names, names].map((one) => JSON.stringify(sortedNames(one)));
  if (got !== expected) throw new PkiError(`expected names ${expected}, got ${got}`);
  const roots = rootsPem === undefined ? await selfSigned(others) : readCertificates(rootsPem, "its roots");
  if (roots.length === 0) {
    throw new PkiError(
      "no root came with the certificate: name the signer in certSigners of caCertificates, with its root",
    );
  }
  let path: readonly Certificate[] = [];
  for (const purpose of purposes) {
    const found = verifyChain(leaf, { intermediates: others, roots, now, purpose });
    if ("reason" in found) throw new PkiError(found.reason);
    path = found.chain;
  }
  return {
    chain: path.slice(0, -1).map(({ der }) => certificatePem(der)),
    rootsPem: writeCertificates(roots),
    ...{ notBefore: leaf.notBefore, notAfter: Math.min(...path.map(({ notAfter }) => notAfter)) },
  };
}

async function selfSigned(certificates: readonly Certificate[]): Promise<Certificate[]> {
  const found: Certificate[] = [];
  for (const certificate of certificates) if (await isSelfSigned(certificate)) found.push(certificate);
  return found;
}

/** Sorted, because signers order names as they like. */
function sortedNames({ uris, dns, ips, emails, others = [] }: AlternativeNames): readonly string[] {
  return [...uris, ...dns, ...ips, ...emails, ...others.map((tag) => `a name of kind ${tag & 0x1f}`)].sort();
}
