/**
 * Chains of certificates: from a leaf over intermediate authorities to a trusted root.
 *
 * @module
 */
import type { Certificate } from "./certificate.ts";
import { issuerFault, leafFault, nameOf, pathFault, type Purpose, timeFault } from "./chain_rules.ts";
import { sameBytes } from "./der_read.ts";
import { PkiError } from "./pki_error.ts";
import { isSignedByNow } from "./signed.ts";

/** Limits of a search: certificates in a chain, and signatures to try. */
const MOST = { length: 10, signatures: 50 } as const;

/** Options of the verification of a chain. */
export interface ChainOptions {
  /** Possible certificates between leaf and root, in any order. Default: none. */
  readonly intermediates?: readonly Certificate[];
  /** The trusted certificates. */
  readonly roots: readonly Certificate[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The purpose of the leaf. Default: anything. */
  readonly purpose?: Purpose;
  /** Most signatures to try. Default: 50. */
  readonly signatures?: number;
  /**
   * Whether another verifier has already checked the signatures of a chain of these certificates. If the certificates
   * allow a single chain ({@linkcode isOnlyPath}), the signatures are not verified again. Default: false.
   */
  readonly signaturesProven?: boolean;
}

/** A chain to a root, or the reason for a failed search. */
export type ChainResult =
  /** The leaf first, the root last. */
  | { readonly chain: readonly Certificate[] }
  | { readonly reason: string };

/**
 * Looks for a chain from a certificate to a root by RFC 5280, section 6, without policies. A certificate with an
 * unknown critical extension is refused. Signatures are verified on this thread, in 0.5 to 2 ms each.
 */
export function verifyChain(leaf: Certificate, options: ChainOptions): ChainResult {
  const fault = timeFault(leaf, options.now) ?? leafFault(leaf, options.purpose);
  if (fault !== undefined) return { reason: `certificate ${nameOf(leaf)} ${fault}` };
  const isProven = options.signaturesProven === true && isOnlyPath(leaf, options);
  const search: Search = { ...options, isProven, left: options.signatures ?? MOST.signatures };
  const chain = extend([leaf], search);
  return chain === undefined ? { reason: search.reason ?? unknownIssuer(leaf) } : { chain };
}

interface Search extends ChainOptions {
  readonly isProven: boolean;
  left: number;
  /** The fault of the last rejected candidate. */
  reason?: string;
}

function extend(chain: readonly Certificate[], search: Search): readonly Certificate[] | undefined {
  const last = chain.at(-1)!;
  if (search.roots.some((root) => sameBytes(root.der, last.der))) {
    const fault = pathFault(chain, search.purpose);
    if (fault === undefined) return chain;
    search.reason = fault;
    return undefined;
  }
  if (chain.length >= MOST.length) return undefined;
  for (const [i, issuer] of [...search.roots, ...search.intermediates ?? []].entries()) {
    if (!sameBytes(issuer.subjectDer, last.issuerDer) || chain.includes(issuer)) continue;
    const fault = timeFault(issuer, search.now) ?? issuerFault(issuer, last, i < search.roots.length);
    if (fault !== undefined) {
      search.reason = `certificate ${nameOf(issuer)} ${fault}`;
      continue;
    }
    if (!search.isProven && search.left-- <= 0) return undefined;
    if (!search.isProven && !isIssuedBy(last, issuer)) {
      search.reason = `certificate ${nameOf(last)} is not signed by the key of ${nameOf(issuer)}`;
      continue;
    }
    const whole = extend([...chain, issuer], search);
    if (whole !== undefined) return whole;
    search.reason ??= unknownIssuer(issuer);
  }
  return undefined;
}

function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  try {
    return isSignedByNow(certificate, issuer.spki);
  } catch (error) {
    if (error instanceof PkiError) return false;
    throw error;
  }
}

/**
 * Whether the names allow a single chain from a certificate to the roots: at each step one certificate, or roots with
 * one key. Then any verifier has checked the same chain.
 */
function isOnlyPath(leaf: Certificate, { intermediates = [], roots }: ChainOptions): boolean {
  let at = leaf;
  for (let length = 1; length < MOST.length; length++) {
    const named = ({ subjectDer }: Certificate) => sameBytes(subjectDer, at.issuerDer);
    const trusted = roots.filter(named);
    const between = intermediates.filter((one) => named(one) && !trusted.some(({ der }) => sameBytes(der, one.der)));
    const [first] = trusted;
    if (first !== undefined) return between.length === 0 && trusted.every(({ spki }) => sameBytes(spki, first.spki));
    const [only, ...more] = between;
    if (only === undefined || more.length > 0) return false;
    at = only;
  }
  return false;
}

function unknownIssuer(certificate: Certificate): string {
  return `certificate ${nameOf(certificate)} is issued by ${JSON.stringify(certificate.issuer)}, which is not known`;
}
