/**
 * Judges whether a proxy can use lists of revoked certificates. The verdict follows Envoy and Envoy's TLS library, both
 * at loading and at verifying a certificate. With an unusable list, the library refuses every certificate.
 *
 * @module
 */
import type { Certificate } from "./certificate.ts";
import { sameBytes } from "./der_read.ts";
import { PkiError } from "./pki_error.ts";
import { proxyPem, whyNone } from "./proxy_pem.ts";
import { readRevocationList, type RevocationList } from "./revocation.ts";
import { isSignedByNow, isVerifiable } from "./signed.ts";

/** Label of a list's block. */
export const LIST = "X509 CRL";

/** Authorities, with the lists in the same text. */
interface ReadAuthorities {
  readonly authorities: readonly { readonly certificate: Certificate | undefined }[];
  readonly lists: readonly RevocationList[];
}

/** The verdict on lists of revoked certificates. */
export type ListsVerdict =
  | { readonly why: string }
  /** `without`: names of authorities without a list. Envoy refuses all certificates of such an authority. */
  | { readonly lists: readonly RevocationList[]; readonly without: readonly string[] };

/** Judges a text of revocation lists beside usable authorities. */
export function judgeLists(
  text: string,
  authorities: ReadAuthorities,
): ListsVerdict {
  const lists: RevocationList[] = [];
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    if (part.label !== LIST) continue;
    const list = part.header === "" ? listOf(part.der) : undefined;
    if (list === undefined) return { why: `has a block ${LIST} that cannot be read` };
    lists.push(list);
  }
  if (lists.length === 0) return { why: whyNone(text, LIST) };
  const all = [...lists, ...authorities.lists];
  const fault = all.flatMap((list) => listFault(list, authorities.authorities) ?? []).at(0);
  if (fault !== undefined) return { why: fault };
  const known = authorities.authorities.flatMap(({ certificate }) => certificate ?? []);
  const without = known.filter(({ subjectDer }) => !all.some(({ issuerDer }) => sameBytes(issuerDer, subjectDer)));
  if (known.length > 0 && without.length === known.length) {
    return {
      why: `is of ${all.map(({ issuer }) => JSON.stringify(issuer)).join(", ")}, and of none of the authorities`,
    };
  }
  return { lists, without: without.map(({ subject }) => subject) };
}

/**
 * The reason why a proxy with the list refuses all certificates of the list's authority. Undefined without a known
 * reason.
 */
function listFault(list: RevocationList, authorities: ReadAuthorities["authorities"]): string | undefined {
  const [critical] = list.unknownCritical;
  if (critical !== undefined) return `has a list with the critical extension ${critical}, which proxies do not know`;
  const keys = authorities.flatMap(({ certificate }) =>
    certificate !== undefined && sameBytes(certificate.subjectDer, list.issuerDer) ? [certificate.spki] : []
  );
  if (keys.length === 0 || keys.some((spki) => mayBeSignedBy(list, spki))) return undefined;
  return `has a list of ${JSON.stringify(list.issuer)} that is not signed by its key`;
}

/** False if the key did not make the signature. True for kinds of signatures that are not verified here. */
function mayBeSignedBy(list: RevocationList, spki: Uint8Array): boolean {
  try {
    return !isVerifiable(list) || isSignedByNow(list, spki);
  } catch (error) {
    if (error instanceof PkiError) return true;
    throw error;
  }
}

/** A list in DER. Undefined for bytes that are not a list. */
export function listOf(der: Uint8Array): RevocationList | undefined {
  try {
    return readRevocationList(der, "list");
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}
