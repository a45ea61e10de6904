/**
 * Whether the certificate and key of a secret, or its authorities, can be used. The verdict leaves this module, with names
 * of authorities and dates that every client of the certificate is shown; nothing else of the contents does.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { judgeAuthorities, judgePair, type ReadCertificate } from "../../pki/credential.ts";
import { judgeLists } from "../../pki/proxy_lists.ts";
import { withoutPrivateKeys } from "../../pki/proxy_pem.ts";
import { fitsStaple } from "../../pki/staple.ts";
import type { ConcealedBytes } from "./concealed.ts";

/** Milliseconds since 1970, the first and the last at which something is valid. */
interface ValidSpan {
  readonly validFrom: number;
  readonly validUntil: number;
}

/** The verdict on a certificate and its key. */
export type CredentialVerdict =
  /** One of them cannot be read, or the key is that of another certificate; `why` follows the name of the text. */
  | { readonly problem: "certificate" | "key" | "pair"; readonly why: string }
  /** They belong together, as far as the sort of key is known here. */
  | { readonly problem?: undefined; readonly keyType: "rsa" | "ec" | undefined } & ValidSpan;

/** The verdict on authorities. */
export type TrustVerdict =
  | { readonly problem: "authorities" | "lists"; readonly why: string }
  | {
    readonly problem?: undefined;
    /** From the first that begins to the last that ends. */
    readonly authorities: ValidSpan;
    /** Of the lists; absent: there are none. */
    readonly lists?: ValidSpan;
    /** Names of the authorities that have no list, though others have: whoever they vouch for is refused. */
    readonly without: readonly string[];
    /** Why an authority of the text is passed over; absent: each one is read. */
    readonly passedOver?: string;
  };

/** The start of a placeholder that is filled in later: by sops, by templates, by programs that ask a vault. */
const PLACEHOLDER = /^\s{0,64}(?:ENC\[|\{\{|\$\{|<|vault:|ref\+)/;

/** Longest certificate or key that is looked at, in bytes: more than an orchestrator keeps in a secret. */
const MAX_LENGTH = 1 << 20;

/** Judges a certificate (of a chain: the first) and its key; undefined: other text stands for them. */
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

/** Judges authorities, and the lists of certificates that they have revoked; undefined: other text stands for them. */
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

/** Whether Envoy takes what a responder said of a certificate (OCSP, DER) beside that. */
export function judgeStaple(certificate: ConcealedBytes, staple: ConcealedBytes): boolean {
  return fitsStaple(textOf(certificate) ?? "", staple.reveal());
}

/**
 * A text of certificates as proxies are sent one: without the private keys that lie beside the certificates. Envoy shows
 * certificates to whoever asks for its configuration, and conceals keys only where they belong.
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

/** Each byte as one character, as the proxies' library sees them: a byte order mark is text. */
function textOf(bytes: ConcealedBytes): string | undefined {
  if (bytes.length > MAX_LENGTH) return undefined;
  const text = new TextDecoder("latin1").decode(bytes.reveal());
  return PLACEHOLDER.test(text) ? undefined : text;
}
