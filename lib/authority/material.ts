/**
 * The signing material of an authority, checked as a whole: key, certificate, the certificates up to a root, roots.
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

/** The key and chain that sign leaf certificates, and the roots that are handed out with the leaves. */
export interface SigningMaterial {
  readonly certificate: Certificate;
  readonly key: PrivateKey;
  /**
   * The certificates between a leaf and its root, as PEM, one per text, the authority's own first. Empty: the authority
   * is a root.
   */
  readonly between: readonly string[];
  /** All trusted roots. */
  readonly roots: readonly Certificate[];
  /** All trusted roots as one PEM text. */
  readonly rootsPem: string;
  /** Milliseconds since 1970: the earliest end of the certificates from the authority to its root. */
  readonly notAfter: number;
  /** Milliseconds since 1970: the latest beginning of the certificates from the authority to its root. */
  readonly notBefore: number;
  /** Revocation lists of the authorities. Empty: nothing is revoked. */
  readonly revocations: readonly RevocationList[];
  /** The authorities on the path to the root with name constraints for leaves. */
  readonly constrained: readonly Certificate[];
}

/** The PEM texts of an authority. */
export interface MaterialTexts {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
  /** Certificates up to the root, in any order. Undefined or empty: the authority's own is signed by a root. */
  readonly chain?: string | undefined;
  readonly revocationLists?: string | undefined;
}

/** The name of each text in errors, such as a file name. */
export type MaterialNames = Readonly<Record<keyof MaterialTexts, string>>;

const NAMES: MaterialNames = {
  ...{ certificate: "certificate", key: "key", roots: "roots", chain: "chain" },
  revocationLists: "revocation lists",
};

/**
 * Reads an authority.
 *
 * @throws {PkiError} when a text cannot be read, when the key or the signature of a list is another authority's, when
 * the certificate may not sign, or when no chain leads to a root that is valid now
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
    throw new PkiError(
      `${names.certificate}: expected an authority that may sign certificates, got a certificate that may not sign`,
    );
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

/** Whether a text is missing or blank. A secret must have each of its keys, so a blank text counts as missing. */
function isEmpty(text: string | undefined): text is undefined {
  return text === undefined || text.trim() === "";
}

/** @param path From the authority to its root, both included. */
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

/** Why an authority must not sign at a time, milliseconds since 1970; undefined: the authority may sign. */
export function validityFault({ notBefore, notAfter }: Pick<SigningMaterial, "notBefore" | "notAfter">, now: number) {
  const isEarly = now < notBefore;
  if (!isEarly && now < notAfter) return undefined;
  const time = new Date(isEarly ? notBefore : notAfter).toISOString();
  return `the authority has no certificate that is valid now, ${
    new Date(now).toISOString()
  } by this machine's clock: ` +
    (isEarly ? `the certificate in force begins at ${time}` : `the certificate in force ended at ${time}`);
}

/** The certificates without duplicates. */
export function distinct(certificates: readonly Certificate[]): Certificate[] {
  return certificates.filter((one, i) => certificates.findIndex(({ der }) => sameBytes(der, one.der)) === i);
}

/** Whether two lists hold the same certificates, in any order. */
export function sameCertificates(a: readonly Certificate[], b: readonly Certificate[]): boolean {
  const fingerprints = (list: readonly Certificate[]) => list.map(({ fingerprint }) => fingerprint).sort().join(" ");
  return fingerprints(a) === fingerprints(b);
}
