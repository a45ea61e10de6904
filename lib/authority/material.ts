/**
 * The signing material of an authority, checked as a whole: its key, its certificate, the certificates up to a root, the roots.
 *
 * @module
 */
import { type Certificate, isKeyOf, readCertificates, writeCertificates } from "../pki/certificate.ts";
import { verifyChain } from "../pki/chain.ts";
import { sameBytes } from "../pki/der_read.ts";
import { certificatePem } from "../pki/pem.ts";
import { PkiError } from "../pki/pki_error.ts";
import { PrivateKey } from "../pki/private_key.ts";
import { listsOf, readRevocationLists, type RevocationList } from "../pki/revocation.ts";

/** The key and chain that sign leaf certificates, and the roots that are handed out beside them. */
export interface SigningMaterial {
  readonly certificate: Certificate;
  readonly key: PrivateKey;
  /** The certificates between a leaf and its root, as PEM, one each: the authority's own first. Empty: it is a root. */
  readonly between: readonly string[];
  /** All roots that are trusted. */
  readonly roots: readonly Certificate[];
  /** The same as one PEM text. */
  readonly rootsPem: string;
  /** Milliseconds since 1970: the end of the certificate that ends first from the authority to its root. */
  readonly notAfter: number;
  /** Milliseconds since 1970: the beginning of the one that begins last. */
  readonly notBefore: number;
  /** Revocation lists of these authorities. Empty: nothing is revoked. */
  readonly revocations: readonly RevocationList[];
  /** The authorities from its own to the root whose name constraints hold for leaves. */
  readonly constrained: readonly Certificate[];
}

/** Texts in PEM that an authority is made of. */
export interface MaterialTexts {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
  /** Certificates up to the root, in any order. Undefined or empty: the authority's own is signed by a root. */
  readonly chain?: string | undefined;
  readonly revocationLists?: string | undefined;
}

/** The name of each text in errors; files have names of their own. */
export type MaterialNames = Readonly<Record<keyof MaterialTexts, string>>;

const NAMES: MaterialNames = {
  ...{ certificate: "certificate", key: "key", roots: "roots", chain: "chain" },
  revocationLists: "revocation lists",
};

/**
 * Reads an authority.
 *
 * @throws {PkiError} when a text cannot be read, the key or the signature of a list is another's, the certificate may not sign, or no chain leads
 * from it to a root that is valid now
 */
export async function readMaterial(
  texts: MaterialTexts,
  now: number,
  names: MaterialNames = NAMES,
): Promise<SigningMaterial> {
  const [certificate, ...more] = readCertificates(texts.certificate, names.certificate);
  const key = await PrivateKey.read(texts.key, names.key);
  const roots = distinct(readCertificates(texts.roots, names.roots));
  const chain = isEmpty(texts.chain) ? [] : readCertificates(texts.chain, names.chain);
  if (certificate === undefined) throw new PkiError(`${names.certificate}: expected a certificate`);
  if (!certificate.isCa || certificate.keyUsage?.signCertificates === false) {
    throw new PkiError(`${names.certificate}: expected an authority that may sign certificates, got one that may not`);
  }
  if (!isKeyOf(key, certificate)) throw new PkiError(`${names.key}: expected the key of ${names.certificate}`);
  const found = verifyChain(certificate, { intermediates: [...more, ...chain], roots, now });
  if ("reason" in found) {
    throw new PkiError(`${names.certificate}: expected a chain to a root of ${names.roots}: ${found.reason}`);
  }
  const revocations = isEmpty(texts.revocationLists) ? [] : await listsOf(
    readRevocationLists(texts.revocationLists, names.revocationLists),
    [...found.chain, ...more, ...chain, ...roots],
    names.revocationLists,
  );
  return materialOf(certificate, key, { path: found.chain, roots, revocations });
}

/** A secret has to have each of its keys, so that one without a content says the same as one that is missing. */
function isEmpty(text: string | undefined): text is undefined {
  return text === undefined || text.trim() === "";
}

/** @param path from the authority to its root, both included */
export function materialOf(
  certificate: Certificate,
  key: PrivateKey,
  { path, roots, revocations = [] }: {
    readonly path: readonly Certificate[];
    readonly roots: readonly Certificate[];
    readonly revocations?: readonly RevocationList[];
  },
): SigningMaterial {
  return {
    ...{ certificate, key, roots, revocations },
    constrained: path.filter(({ nameConstraints }) => nameConstraints !== undefined),
    between: path.slice(0, -1).map(({ der }) => certificatePem(der)),
    rootsPem: writeCertificates(roots),
    notAfter: Math.min(...path.map((one) => one.notAfter)),
    notBefore: Math.max(...path.map((one) => one.notBefore)),
  };
}

/** Why an authority must not sign at a time, milliseconds since 1970; undefined: it may. */
export function validityFault({ notBefore, notAfter }: Pick<SigningMaterial, "notBefore" | "notAfter">, now: number) {
  const isEarly = now < notBefore;
  if (!isEarly && now < notAfter) return undefined;
  const time = new Date(isEarly ? notBefore : notAfter).toISOString();
  return `the authority has no certificate that is valid now, ${
    new Date(now).toISOString()
  } by this machine's clock: ` +
    (isEarly ? `the one in force begins at ${time}` : `the one in force ended at ${time}`);
}

/** Without those that stand twice. */
export function distinct(certificates: readonly Certificate[]): Certificate[] {
  return certificates.filter((one, i) => certificates.findIndex(({ der }) => sameBytes(der, one.der)) === i);
}

/** Whether two lists hold the same certificates, in any order. */
export function sameCertificates(a: readonly Certificate[], b: readonly Certificate[]): boolean {
  const fingerprints = (list: readonly Certificate[]) => list.map(({ fingerprint }) => fingerprint).sort().join(" ");
  return fingerprints(a) === fingerprints(b);
}
