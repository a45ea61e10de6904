/**
 * Chains of certificates: from a leaf over intermediate authorities to a root that is trusted.
 *
 * @module
 */
import type { Certificate } from "./certificate.ts";
import { sameBytes } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";
import { isSignedBy } from "./signed.ts";

/** Certificates of a chain at most, and signatures that are tried at most to find one. */
const MOST = { length: 10, signatures: 50 } as const;

/** Options of the verification of a chain. */
export interface ChainOptions {
  /** Certificates that may stand between, in any order. Default: none. */
  readonly intermediates?: readonly Certificate[];
  /** The certificates that are trusted. */
  readonly roots: readonly Certificate[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The purpose of the leaf. Default: anything. */
  readonly purpose?: "client" | "server";
}

/** A chain that leads to a root, or why there is none. */
export type ChainResult =
  /** The leaf first, the root last. */
  | { readonly chain: readonly Certificate[] }
  | { readonly reason: string };

/**
 * Looks for a chain from a certificate to a root (RFC 5280, section 6, without policies and name constraints: a
 * certificate with critical extensions that are not read here is refused).
 */
export async function verifyChain(leaf: Certificate, options: ChainOptions): Promise<ChainResult> {
  const { purpose, now } = options;
  const fault = faultAt(leaf, now) ?? (purpose === undefined ? undefined : purposeFault(leaf, purpose));
  if (fault !== undefined) return { reason: `certificate ${nameOf(leaf)} ${fault}` };
  const search: Search = { ...options, left: MOST.signatures };
  const chain = await extend([leaf], search);
  return chain === undefined ? { reason: search.reason ?? unknownIssuer(leaf) } : { chain };
}

interface Search extends ChainOptions {
  left: number;
  /** Of the last candidate that did not fit. */
  reason?: string;
}

async function extend(chain: readonly Certificate[], search: Search): Promise<readonly Certificate[] | undefined> {
  const last = chain.at(-1)!;
  if (search.roots.some((root) => sameBytes(root.der, last.der))) return chain;
  if (chain.length >= MOST.length) return undefined;
  for (const issuer of [...search.roots, ...search.intermediates ?? []]) {
    if (!sameBytes(issuer.subjectDer, last.issuerDer) || chain.includes(issuer)) continue;
    const fault = faultAt(issuer, search.now) ?? issuerFault(issuer, chain.length - 1);
    if (fault !== undefined) {
      search.reason = `certificate ${nameOf(issuer)} ${fault}`;
      continue;
    }
    if (search.left-- <= 0) return undefined;
    if (!await isIssuedBy(last, issuer)) {
      search.reason = `certificate ${nameOf(last)} is not signed by the key of ${nameOf(issuer)}`;
      continue;
    }
    const whole = await extend([...chain, issuer], search);
    if (whole !== undefined) return whole;
    search.reason ??= unknownIssuer(issuer);
  }
  return undefined;
}

async function isIssuedBy(certificate: Certificate, issuer: Certificate): Promise<boolean> {
  try {
    return await isSignedBy(certificate, issuer.spki);
  } catch (error) {
    if (error instanceof PkiError) return false;
    throw error;
  }
}

function faultAt({ notBefore, notAfter, unknownCritical }: Certificate, now: number): string | undefined {
  if (now < notBefore) return `is not valid before ${new Date(notBefore).toISOString()}`;
  if (now > notAfter) return `expired at ${new Date(notAfter).toISOString()}`;
  const [unknown] = unknownCritical;
  return unknown === undefined ? undefined : `has the critical extension ${unknown}, which is not known here`;
}

/** @param below Authorities between it and the leaf. */
function issuerFault({ isCa, keyUsage, pathLength }: Certificate, below: number): string | undefined {
  if (!isCa) return "is no authority";
  if (keyUsage?.signCertificates === false) return "may not sign certificates";
  if (pathLength !== undefined && below > pathLength) return `allows ${pathLength} authorities below it, got ${below}`;
  return undefined;
}

function purposeFault({ purposes }: Certificate, purpose: "client" | "server"): string | undefined {
  const wanted = purpose === "client" ? ObjectId.clientAuth : ObjectId.serverAuth;
  if (purposes === undefined || purposes.includes(wanted) || purposes.includes(ObjectId.anyUsage)) return undefined;
  return `is not for ${purpose}s`;
}

function unknownIssuer(certificate: Certificate): string {
  return `certificate ${nameOf(certificate)} is issued by ${JSON.stringify(certificate.issuer)}, which is not known`;
}

function nameOf({ subject, names: { uris, dns } }: Certificate): string {
  return JSON.stringify(uris[0] ?? dns[0] ?? subject);
}
