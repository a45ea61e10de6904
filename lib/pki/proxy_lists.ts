/**
 * Whether a proxy can use lists of revoked certificates: judged as Envoy and its TLS library do when they load the lists
 * and verify a certificate by them. With a list that cannot be used, the library refuses everyone.
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

/** Authorities, with the lists that stand beside them in one text. */
interface ReadAuthorities {
  readonly authorities: readonly { readonly certificate: Certificate | undefined }[];
  readonly lists: readonly RevocationList[];
}

/** The verdict on lists of revoked certificates. */
export type ListsVerdict =
  | { readonly why: string }
  /** `without`: names of the authorities that have no list: Envoy refuses whoever they vouch for. */
  | { readonly lists: readonly RevocationList[]; readonly without: readonly string[] };

/** Judges a text of revocation lists beside that of their authorities, which can be used. */
export function judgeLists(
  text: string,
  authorities: ReadAuthorities,
): ListsVerdict {
  const lists: RevocationList[] = [];
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    if (part.label !== LIST) continue;
    const list = part.header === "" ? listOf(part.der) : undefined;
    if (list === undefined) return { why: `has a block ${LIST} that is none` };
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

/** Why whoever loads a list refuses all certificates of its authority; undefined: as far as is known here, nobody does. */
function listFault(list: RevocationList, authorities: ReadAuthorities["authorities"]): string | undefined {
  const [critical] = list.unknownCritical;
  if (critical !== undefined) return `has a list with the critical extension ${critical}, which proxies do not know`;
  const keys = authorities.flatMap(({ certificate }) =>
    certificate !== undefined && sameBytes(certificate.subjectDer, list.issuerDer) ? [certificate.spki] : []
  );
  if (keys.length === 0 || keys.some((spki) => mayBeSignedBy(list, spki))) return undefined;
  return `has a list of ${JSON.stringify(list.issuer)} that is not signed by its key`;
}

/** False: the signature is not by the key. Signatures of kinds that are not verified here may be. */
function mayBeSignedBy(list: RevocationList, spki: Uint8Array): boolean {
  try {
    return !isVerifiable(list) || isSignedByNow(list, spki);
  } catch (error) {
    if (error instanceof PkiError) return true;
    throw error;
  }
}

/** A list in DER; undefined: it is none. */
export function listOf(der: Uint8Array): RevocationList | undefined {
  try {
    return readRevocationList(der, "list");
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}
