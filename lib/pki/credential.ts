/**
 * Whether a proxy can use a certificate with its key, authorities, or lists of revoked certificates: judged as Envoy and its
 * TLS library do when they load them, before anything is sent.
 *
 * Reasons follow the name of the text in a sentence: `tls.key of shop/cert is encrypted`.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { type Certificate, readCertificate } from "./certificate.ts";
import { sameBytes } from "./der_read.ts";
import { writePem } from "./pem.ts";
import { PkiError } from "./pki_error.ts";
import { proxyPem } from "./proxy_pem.ts";
import { readRevocationList, type RevocationList } from "./revocation.ts";

/** The verdict on a certificate and its key. */
export type PairVerdict =
  /** `pair`: both can be read, and do not belong together. */
  | { readonly problem: "certificate" | "key" | "pair"; readonly why: string }
  /** They belong together, as far as the sort of key is known here. The chain as far as it can be read, its leaf first. */
  | { readonly problem?: undefined; readonly chain: readonly ReadCertificate[] };

/** What is known of a certificate. */
export interface ReadCertificate {
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Sort of its key, `rsa` or `ec`; undefined: another one. */
  readonly keyType: "rsa" | "ec" | undefined;
  readonly node: X509Certificate | undefined;
  readonly certificate: Certificate | undefined;
}

const CERTIFICATES: ReadonlySet<string> = new Set(["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]);
const KEYS: ReadonlySet<string> = new Set([
  ...["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY"],
]);

/** Judges the texts of a chain, its leaf first, and of the leaf's key. */
export function judgePair(chainText: string, keyText: string): PairVerdict {
  const chain = readChain(chainText);
  if ("why" in chain) return { problem: "certificate", why: chain.why };
  const [leaf] = chain.certificates;
  const key = readKey(keyText);
  if ("why" in key) return { problem: "key", why: key.why };
  const own = key.object === undefined ? undefined : spkiOf(() => createPublicKey(key.object!));
  const certified = chain.certificates.map(({ node }) => node && spkiOf(() => node.publicKey));
  if (own !== undefined && certified[0] !== undefined && own !== certified[0]) {
    const at = certified.indexOf(own);
    const why = at < 0
      ? "is of another certificate"
      : `is of certificate ${at + 1} of the chain: the certificate of the key has to be the first one`;
    return { problem: "pair", why };
  }
  const weak = leaf === undefined ? "is none" : weakness(leaf);
  if (weak !== undefined) return { problem: "certificate", why: weak };
  return { chain: chain.certificates };
}

function readChain(text: string): { readonly certificates: ReadCertificate[] } | { readonly why: string } {
  const certificates: ReadCertificate[] = [];
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    if (!CERTIFICATES.has(part.label)) continue;
    const read = part.header === "" ? certificateOf(part.der) : undefined;
    if (read === undefined) {
      return { why: `has a block ${part.label} (${certificates.length + 1}) that is no certificate` };
    }
    certificates.push(read);
  }
  return certificates.length > 0 ? { certificates } : { why: whyNone(text, "CERTIFICATE") };
}

/** Undefined: neither this package nor the runtime can read it. */
function certificateOf(der: Uint8Array): ReadCertificate | undefined {
  let certificate: Certificate | undefined;
  try {
    certificate = readCertificate(der);
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
  }
  let node: X509Certificate | undefined;
  try {
    node = new X509Certificate(writePem("CERTIFICATE", der));
  } catch {
    if (certificate === undefined) return undefined;
  }
  return {
    ...{ certificate, node, keyType: keyTypeOf(node) },
    notBefore: certificate?.notBefore ?? Date.parse(node!.validFrom),
    notAfter: certificate?.notAfter ?? Date.parse(node!.validTo),
  };
}

function keyTypeOf(node: X509Certificate | undefined): "rsa" | "ec" | undefined {
  try {
    const type = node?.publicKey.asymmetricKeyType;
    return type === "rsa" || type === "ec" ? type : undefined;
  } catch {
    return undefined;
  }
}

/** Text that a person sees as a block, and the library does not. */
function whyNone(text: string, label: string): string {
  const at = text.indexOf(`${"-----"}BEGIN ${label}-----`);
  if (at < 0) return "is none";
  const before = text.slice(text.lastIndexOf("\n", at) + 1, at);
  if (before === "") return "is none";
  return `has ${
    before === "\u00ef\u00bb\u00bf" || before === "\ufeff" ? "a byte order mark" : "text"
  } before a BEGIN line`;
}

/** Curves and sizes that Envoy takes. */
const CURVES: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);
const LEAST_RSA_BITS = 2048;

/** Why Envoy does not load a certificate that can be read; undefined: it does, or the sort of key is not known here. */
function weakness({ node, certificate }: ReadCertificate): string | undefined {
  let key: KeyObject;
  try {
    if (node === undefined) return undefined;
    key = node.publicKey;
  } catch {
    return undefined;
  }
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa" && modulusLength !== undefined && modulusLength < LEAST_RSA_BITS) {
    return `has an RSA key of ${modulusLength} bits, and ${LEAST_RSA_BITS} are the least`;
  }
  if (key.asymmetricKeyType !== "ec") return undefined;
  if (namedCurve !== undefined && !CURVES.has(namedCurve)) return `has a key on the curve ${namedCurve}`;
  if (certificate?.keyUsage?.digitalSignature !== false) return undefined;
  return "has an ECDSA key that is not for digital signatures, by its key usage";
}

function readKey(text: string): { readonly object: KeyObject | undefined } | { readonly why: string } {
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    const { label, header, der } = part;
    if (!KEYS.has(label)) continue;
    if (label === "ENCRYPTED PRIVATE KEY" || header.startsWith("Proc-Type:")) return { why: "is encrypted" };
    if (header !== "") return { why: "has a blank line within its base64" };
    if (!isSequence(der)) return { why: `has a block ${label} that is no key` };
    try {
      return { object: createPrivateKey(writePem(label, der)) };
    } catch {
      // A sort of key that this runtime cannot read; the words of the parser may quote it.
      return { object: undefined };
    }
  }
  const label = [...KEYS].find((one) => text.includes(`${"-----"}BEGIN ${one}-----`));
  return { why: label === undefined ? "is none" : whyNone(text, label) };
}

/** Whether bytes are one DER SEQUENCE, as each form of a key is. */
function isSequence(der: Uint8Array): boolean {
  const [tag, length = 0] = der;
  if (tag !== 0x30) return false;
  if (length < 0x80) return der.length === length + 2;
  const digits = der.slice(2, 2 + (length & 0x7f));
  return der.length === 2 + digits.length + digits.reduce((sum, digit) => sum * 256 + digit, 0);
}

/** A public key in one form; undefined: a sort of key that this runtime cannot read. */
function spkiOf(read: () => KeyObject): string | undefined {
  try {
    return read().export({ type: "spki", format: "der" }).toString("base64");
  } catch {
    return undefined;
  }
}

/** The verdict on authorities. */
export type AuthoritiesVerdict =
  | { readonly why: string }
  | { readonly authorities: readonly ReadCertificate[]; readonly lists: readonly RevocationList[] };

/** Judges a text of authorities, in which lists may stand, too. */
export function judgeAuthorities(text: string): AuthoritiesVerdict {
  const authorities: ReadCertificate[] = [];
  const lists: RevocationList[] = [];
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    const { label, header, der } = part;
    if (label !== LIST && !CERTIFICATES.has(label)) continue;
    if (header !== "") return { why: "has a blank line within its base64" };
    const found = label === LIST ? listOf(der) : certificateOf(der);
    if (found === undefined) return { why: `has a block ${label} that is none` };
    if ("serials" in found) lists.push(found);
    else authorities.push(found);
  }
  return authorities.length > 0 ? { authorities, lists } : { why: whyNone(text, "CERTIFICATE") };
}

const LIST = "X509 CRL";

/** The verdict on lists of revoked certificates. */
export type ListsVerdict =
  | { readonly why: string }
  /** `without`: names of the authorities that have no list: Envoy refuses whoever they vouch for. */
  | { readonly lists: readonly RevocationList[]; readonly without: readonly string[] };

/** Judges a text of revocation lists beside that of their authorities, which can be used. */
export function judgeLists(
  text: string,
  authorities: Extract<AuthoritiesVerdict, { readonly lists: unknown }>,
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
  const known = authorities.authorities.flatMap(({ certificate }) => certificate ?? []);
  const without = known.filter(({ subjectDer }) => !all.some(({ issuerDer }) => sameBytes(issuerDer, subjectDer)));
  if (known.length > 0 && without.length === known.length) {
    return {
      why: `is of ${all.map(({ issuer }) => JSON.stringify(issuer)).join(", ")}, and of none of the authorities`,
    };
  }
  return { lists, without: without.map(({ subject }) => subject) };
}

function listOf(der: Uint8Array): RevocationList | undefined {
  try {
    return readRevocationList(der, "list");
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}
