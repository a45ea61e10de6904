/**
 * Whether the certificate and key of a secret can be used. The verdict leaves this module, and dates that every client
 * of the certificate is shown; nothing else of the two does.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import type { ConcealedBytes } from "./concealed.ts";
import { certificateTexts } from "../../kernel/text/edges.ts";

/** The verdict on a certificate and its key. */
export type CredentialVerdict =
  /** One of them is not in PEM form, or the key is that of another certificate. */
  | { readonly problem: "certificate" | "key" | "pair" }
  /** They belong together, as far as the sort of key is known here; milliseconds since 1970. */
  | { readonly problem?: undefined; readonly validFrom: number; readonly validUntil: number };

/** The start of a placeholder that is filled in later: by sops, by templates, by programs that ask a vault. */
const PLACEHOLDER = /^\s*(?:ENC\[|\{\{|\$\{|<|vault:|ref\+)/;

/** Longest certificate or key that is looked at, in bytes: more than an orchestrator keeps in a secret. */
const MAX_LENGTH = 1 << 20;

/** Judges a certificate (of a chain: the first) and its key; undefined: other text stands for them. */
export function judgeCredential(
  certificate: ConcealedBytes,
  key: ConcealedBytes,
): CredentialVerdict | undefined {
  const [chain, secret] = [certificate, key].map(textOf);
  if (chain === undefined || secret === undefined) return undefined;
  const read = readCertificate(chain);
  if (read === undefined) return { problem: "certificate" };
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(secret)) return { problem: "key" };
  const own = publicKeyOf(() => createPublicKey(createPrivateKey(secret)));
  const certified = publicKeyOf(() => read.publicKey);
  if (own !== undefined && certified !== undefined && own !== certified) return { problem: "pair" };
  return { validFrom: Date.parse(read.validFrom), validUntil: Date.parse(read.validTo) };
}

function textOf(bytes: ConcealedBytes): string | undefined {
  if (bytes.length > MAX_LENGTH) return undefined;
  const text = new TextDecoder().decode(bytes.reveal());
  return PLACEHOLDER.test(text) ? undefined : text;
}

function readCertificate(chain: string): X509Certificate | undefined {
  const [first] = certificateTexts(chain);
  if (first === undefined) return undefined;
  try {
    return new X509Certificate(first);
  } catch {
    return undefined; // That is the verdict; the parser's words may quote the text.
  }
}

/** A public key in one form; undefined: a sort of key that this runtime cannot read. */
function publicKeyOf(read: () => KeyObject): string | undefined {
  try {
    return read().export({ type: "spki", format: "der" }).toString("base64");
  } catch {
    return undefined;
  }
}
