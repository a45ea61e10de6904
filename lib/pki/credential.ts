/**
 * Judges whether a proxy can use a certificate with its key, authorities, or lists of revoked certificates. The verdict
 * is the verdict of Envoy and Envoy's TLS library at loading, known before anything is sent.
 *
 * Reasons follow the name of the text in a sentence: `tls.key of shop/cert is encrypted`.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { type Certificate, readCertificate } from "./certificate.ts";
import { DerReader, Tag } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { writePem } from "./pem.ts";
import { PkiError } from "./pki_error.ts";
import { type KeyForm, keyFormOf } from "./proxy_key.ts";
import { checkLeaf, checkLeafUsage } from "./proxy_leaf.ts";
import { LIST, listOf } from "./proxy_lists.ts";
import { proxyPem, whyNone } from "./proxy_pem.ts";
import type { RevocationList } from "./revocation.ts";

/** The verdict on a certificate and key. */
export type PairVerdict =
  /** `pair`: certificate and key can be read, but do not belong together. */
  | { readonly problem: "certificate" | "key" | "pair"; readonly why: string }
  /**
   * Certificate and key belong together, unless the sort of key is unknown here. The chain has all readable
   * certificates, the leaf first.
   */
  | { readonly problem?: undefined; readonly chain: readonly ReadCertificate[] };

/** The facts of a certificate. */
export interface ReadCertificate {
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Sort of the certificate's key, `rsa` or `ec`. Undefined: another sort. */
  readonly keyType: "rsa" | "ec" | undefined;
  readonly node: X509Certificate | undefined;
  readonly certificate: Certificate | undefined;
}

const CERTIFICATES: ReadonlySet<string> = new Set(["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]);
const KEYS: ReadonlySet<string> = new Set([
  ...["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY"],
]);

/** Judges the text of a chain, leaf first, and the text of the leaf's key. */
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
  const usage = faultOf(() => checkLeafUsage(chain.leaf), NO_CERTIFICATE);
  if (usage !== undefined) return { problem: "certificate", why: `has a block ${usage}` };
  const weak = leaf === undefined ? "has no block CERTIFICATE" : weakness(leaf);
  if (weak !== undefined) return { problem: "certificate", why: weak };
  return { chain: chain.certificates };
}

/** The certificates of a chain, and the bytes of the first certificate. */
type ReadChain = { readonly certificates: ReadCertificate[]; readonly leaf: Uint8Array };

const NO_CERTIFICATE = "that is not a certificate";

function readChain(text: string): ReadChain | { readonly why: string } {
  const certificates: ReadCertificate[] = [];
  let leaf: Uint8Array | undefined;
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    if (!CERTIFICATES.has(part.label)) continue;
    const read = part.header === "" ? certificateOf(part.der) : undefined;
    if (read === undefined) {
      return { why: `has a block ${part.label} (${certificates.length + 1}) that is not a certificate` };
    }
    const fault = certificates.length === 0 ? faultOf(() => checkLeaf(leafOf(part)), NO_CERTIFICATE) : undefined;
    if (fault !== undefined) return { why: `has a block ${part.label} (1) ${fault}` };
    certificates.push(read);
    leaf ??= leafOf(part);
  }
  return leaf !== undefined ? { certificates, leaf } : { why: whyNone(text, "CERTIFICATE") };
}

/** Undefined when neither this package nor the runtime can read the certificate. */
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

/** Curves and sizes that Envoy accepts. */
const CURVES: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);
const LEAST_RSA_BITS = 2048;

/**
 * The reason why Envoy does not load a readable certificate. Undefined when Envoy loads the certificate, or the sort of
 * key is unknown here.
 */
function weakness({ node }: ReadCertificate): string | undefined {
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
  if (key.asymmetricKeyType !== "ec" || namedCurve === undefined || CURVES.has(namedCurve)) return undefined;
  return `has a key on the curve ${namedCurve}`;
}

function readKey(text: string): { readonly object: KeyObject | undefined } | { readonly why: string } {
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    const { label, header, der } = part;
    if (!KEYS.has(label)) continue;
    if (label === "ENCRYPTED PRIVATE KEY" || header.startsWith("Proc-Type:")) return { why: "is encrypted" };
    if (header !== "") return { why: "has a blank line within its base64" };
    let form: KeyForm | undefined;
    const fault = faultOf(() => form = keyFormOf(label, der), "that is not a key");
    if (fault !== undefined) return { why: `has a block ${label} ${fault}` };
    try {
      return { object: createPrivateKey(writePem(form!.isPkcs8 ? "PRIVATE KEY" : label, form!.der)) };
    } catch {
      // The parser's message may quote the key.
      return isReadHere(form!) ? { why: `has a block ${label} that is not a key` } : { object: undefined };
    }
  }
  const label = [...KEYS].find((one) => text.includes(`${"-----"}BEGIN ${one}-----`));
  return { why: label === undefined ? "has no block of a private key" : whyNone(text, label) };
}

/** Whether the runtime reads every valid key of a form. */
function isReadHere({ sort, curve }: KeyForm): boolean {
  return sort === "rsa" || curve === ObjectId.p256 || curve === ObjectId.p384;
}

/**
 * The message of a check's error if the message continues a sentence, else the other message. Undefined without an
 * error.
 */
function faultOf(check: () => void, otherwise: string): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return error.message.startsWith("that ") ? error.message : otherwise;
  }
}

/** The certificate in a block. In openssl's own form, trust settings follow the certificate. */
function leafOf({ label, der }: { readonly label: string; readonly der: Uint8Array }): Uint8Array {
  return label === "TRUSTED CERTIFICATE" ? new DerReader(der, "certificate").take(Tag.SEQUENCE).whole : der;
}

/** A public key in a comparable form. Undefined for a sort of key that the runtime cannot read. */
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
  | {
    readonly authorities: readonly ReadCertificate[];
    readonly lists: readonly RevocationList[];
    /** The reason why a visible certificate in the text is skipped. Undefined when every certificate is read. */
    readonly passedOver?: string;
  };

/** Judges a text of authorities, with or without revocation lists. */
export function judgeAuthorities(text: string): AuthoritiesVerdict {
  const authorities: ReadCertificate[] = [];
  const lists: RevocationList[] = [];
  for (const part of proxyPem(text)) {
    if ("fault" in part) return { why: part.fault };
    const { label, header, der } = part;
    if (label !== LIST && !CERTIFICATES.has(label)) continue;
    if (header !== "") return { why: "has a blank line within its base64" };
    const found = label === LIST ? listOf(der) : certificateOf(der);
    if (found === undefined) return { why: `has a block ${label} that cannot be read` };
    if ("serials" in found) lists.push(found);
    else authorities.push(found);
  }
  if (authorities.length === 0) return { why: whyNone(text, "CERTIFICATE") };
  const begun = [...CERTIFICATES].map((label) => countOf(text.toUpperCase(), `BEGIN ${label}-----`));
  const unread = begun.reduce((sum, count) => sum + count) - authorities.length;
  const passedOver = `has ${unread} more that are passed over: a line has to be a BEGIN line and nothing else`;
  return { authorities, lists, ...(unread > 0 ? { passedOver } : {}) };
}

function countOf(text: string, word: string): number {
  let count = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) count++;
  return count;
}
