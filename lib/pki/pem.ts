/**
 * PEM: blocks of base64 between lines with a label.
 *
 * Rule: RFC 7468, read as other tools read PEM. Text between blocks is skipped, and lines may have any length. Old
 * encrypted keys have headers within a block (RFC 1421). Only the header that marks an encrypted block is known.
 *
 * @module
 */
import { PkiError } from "./pki_error.ts";

export { certificateTexts } from "../kernel/text/edges.ts";

/** A block of a PEM text. */
export interface PemBlock {
  /** The words between the dashes: `CERTIFICATE`. */
  readonly label: string;
  readonly der: Uint8Array;
}

/** The content of a block. */
export type PemKind = "certificate" | "private key" | "request" | "revocation list" | "other";

const KINDS: Readonly<Record<string, PemKind>> = {
  "CERTIFICATE": "certificate",
  "X509 CERTIFICATE": "certificate",
  "TRUSTED CERTIFICATE": "certificate",
  "PRIVATE KEY": "private key",
  "RSA PRIVATE KEY": "private key",
  "EC PRIVATE KEY": "private key",
  "ENCRYPTED PRIVATE KEY": "private key",
  "CERTIFICATE REQUEST": "request",
  "NEW CERTIFICATE REQUEST": "request",
  "X509 CRL": "revocation list",
};

/** The content of a block, by label. */
export function pemKind(label: string): PemKind {
  return Object.hasOwn(KINDS, label) ? KINDS[label]! : "other";
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----$/;

/**
 * The blocks of a text, in order.
 *
 * @param what The name of the text in errors.
 * @throws {PkiError} for a block without an end, or with invalid base64.
 */
export function readPem(text: string, what = "text"): PemBlock[] {
  const blocks: PemBlock[] = [];
  let label: string | undefined;
  let from = 0;
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    const line = text.slice(at, end).trim();
    if (label === undefined) {
      label = BEGIN.exec(line)?.[1];
      from = end;
    } else if (line === `-----END ${label}-----`) {
      const der = bytesOf(text.slice(from, at), `${what}: block ${blocks.length + 1} (${label})`);
      blocks.push({ label, der });
      label = undefined;
    }
    at = end + 1;
  }
  if (label !== undefined) throw new PkiError(`${what}: block ${blocks.length + 1} (${label}): expected its END line`);
  return blocks;
}

/** The header of an encrypted block, before the base64. */
const ENCRYPTED = /^\s{0,8}Proc-Type:[ \t]{0,8}4,ENCRYPTED\b/;

/** Spaces and line feeds within base64 count for nothing. */
function bytesOf(base64: string, what: string): Uint8Array {
  if (ENCRYPTED.test(base64)) throw new PkiError(`${what}: expected one that is not encrypted`);
  if (base64.includes("-----")) {
    throw new PkiError(`${what}: expected its END line alone, got one with other text before or behind it`);
  }
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    throw new PkiError(`${what}: expected base64`);
  }
}

/** A block as text, with a final line feed. */
export function writePem(label: string, der: Uint8Array): string {
  const lines = der.toBase64().match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

/** A certificate as PEM. */
export function certificatePem(der: Uint8Array): string {
  return writePem("CERTIFICATE", der);
}

/** PEM texts joined into one. Each text begins on a new line. */
export function joinPem(texts: readonly string[]): string {
  return texts.map((text) => (text === "" || text.endsWith("\n") ? text : `${text}\n`)).join("");
}
