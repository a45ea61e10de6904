/**
 * Whether the certificate and key of a secret, or its authorities, can be used. Only the verdict leaves this module,
 * with names of authorities and dates. Every client of the certificate gets these names and dates anyway.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { judgeAuthorities, judgePair, type ReadCertificate } from "../../pki/credential.ts";
import { judgeLists } from "../../pki/proxy_lists.ts";
import { withoutPrivateKeys } from "../../pki/proxy_pem.ts";
import { fitsStaple } from "../../pki/staple.ts";
import type { ConcealedBytes } from "./concealed.ts";

/** First and last moment of validity, milliseconds since 1970. */
interface ValidSpan {
  readonly validFrom: number;
  readonly validUntil: number;
}

/** The verdict on a certificate and its key. */
export type CredentialVerdict =
  /**
   * Certificate or key cannot be read, or the key belongs to another certificate; `why` follows the name of the text.
   */
  | { readonly problem: "certificate" | "key" | "pair"; readonly why: string }
  /** Certificate and key belong together, if this module knows the sort of key. */
  | { readonly problem?: undefined; readonly keyType: "rsa" | "ec" | undefined } & ValidSpan;

/** The verdict on authorities. */
export type TrustVerdict =
  | { readonly problem: "authorities" | "lists"; readonly why: string }
  | {
    readonly problem?: undefined;
    /** From the first beginning to the last end. */
    readonly authorities: ValidSpan;
    /** Of the lists; absent: there are none. */
    readonly lists?: ValidSpan;
    /** Names of the authorities that have no list, though others have: whoever they vouch for is refused. */
    readonly without: readonly string[];
    /** Why an authority of the text is passed over; absent: every authority is read. */
    readonly passedOver?: string;
  };

/** The start of a placeholder that is filled in later: by sops, by templates, by programs that ask a vault. */
const PLACEHOLDER = /^\s{0,64}(?:ENC\[|\{\{|\$\{|<|vault:|ref\+)/;

/** Longest certificate or key to look at, in bytes: more than an orchestrator keeps in a secret. */
const MAX_LENGTH = 1 << 20;

/** Judges a certificate (of a chain: the first) and its key; undefined: placeholders stand for them. */
export function judgeCredential(
  certificate: ConcealedBytes,
  key: ConcealedBytes,
): CredentialVerdict | undefined {
  const [chain, secret] = [certificate, key].map(textOf);
  if (chain === undefined || secret === undefined) return undefined;
  const verdict = judgePair(chain, secret);
  if (verdict.problem !== undefined) return verdict;
  const [leaf] = verdict.chain;
  return { keyType: leaf!.keyType, validFrom: leaf!.notBefore, validUntil: leaf!.notAfter };
}

/** Judges authorities, and the lists of certificates that they have revoked; undefined: placeholders stand for them. */
export function judgeTrust(
  authorities: ConcealedBytes,
  revoked: ConcealedBytes | undefined,
): TrustVerdict | undefined {
  const text = textOf(authorities);
  const lists = revoked === undefined || revoked.length === 0 ? "" : textOf(revoked);
  if (text === undefined || lists === undefined) return undefined;
  const trust = judgeAuthorities(text);
  if ("why" in trust) return { problem: "authorities", why: trust.why };
  const valid = spanOf(trust.authorities);
  const passedOver = trust.passedOver === undefined ? {} : { passedOver: trust.passedOver };
  if (lists === "") return { authorities: valid, without: [], ...passedOver };
  const found = judgeLists(lists, trust);
  if ("why" in found) return { problem: "lists", why: found.why };
  return {
    ...{ authorities: valid, without: found.without, ...passedOver },
    lists: {
      validFrom: Math.max(...found.lists.map(({ thisUpdate }) => thisUpdate)),
      validUntil: Math.min(...found.lists.map(({ nextUpdate = Infinity }) => nextUpdate)),
    },
  };
}

/** Whether Envoy accepts a responder's answer about a certificate (OCSP, DER) beside the certificate. */
export function judgeStaple(certificate: ConcealedBytes, staple: ConcealedBytes): boolean {
  return fitsStaple(textOf(certificate) ?? "", staple.reveal());
}

/**
 * A text of certificates for proxies, without private keys that lie beside the certificates. Envoy shows certificates
 * to everyone who asks for its configuration, and conceals keys only in their own field.
 */
export function publicPart(bytes: Uint8Array): Uint8Array {
  const text = new TextDecoder("latin1").decode(bytes);
  const kept = withoutPrivateKeys(text);
  return kept.length === text.length ? bytes : new Uint8Array(Buffer.from(kept, "latin1"));
}

function spanOf(certificates: readonly ReadCertificate[]): ValidSpan {
  return {
    validFrom: Math.min(...certificates.map(({ notBefore }) => notBefore)),
    validUntil: Math.max(...certificates.map(({ notAfter }) => notAfter)),
  };
}

/** Each byte as one character, as in the proxies' library: a byte order mark is text. */
function textOf(bytes: ConcealedBytes): string | undefined {
  if (bytes.length > MAX_LENGTH) return undefined;
  const text = new TextDecoder("latin1").decode(bytes.reveal());
  return PLACEHOLDER.test(text) ? undefined : text;
}
