/**
 * The certificates of a TLS listener, checked before use. `node:tls` on Deno 2.8.3 accepts texts that are not
 * certificates, and keys of other certificates, without an error. Every handshake then fails.
 *
 * @module
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { type Certificate, readCertificate } from "../../pki/certificate.ts";
import { certificateTexts } from "../../pki/pem.ts";

/** The certificates of a TLS listener, as PEM texts. */
export interface TlsCertificates {
  /** The server's own certificate, followed by the intermediate authorities. */
  readonly certificate: string;
  readonly privateKey: string;
  /** Authorities of client certificates, one or more; undefined: clients are not asked for a certificate. */
  readonly clientAuthorities?: string;
}

/**
 * Checks that the texts are certificates, and that the key belongs to the first certificate.
 *
 * @returns the authorities of clients
 * @throws TypeError that names the unusable text and the reason; PkiError for an unreadable authority
 */
export function checkCertificates(certificates: TlsCertificates): Certificate[] {
  const own = parseCertificates("certificate", certificates.certificate);
  const authorities = certificates.clientAuthorities === undefined
    ? []
    : parseCertificates("clientAuthorities", certificates.clientAuthorities);
  let key;
  try {
    key = createPrivateKey(certificates.privateKey);
  } catch (error) {
    throw new TypeError(`privateKey: expected a private key in PEM, got none (${(error as Error).message})`);
  }
  if (!own[0]!.checkPrivateKey(key)) {
    throw new TypeError(`privateKey: expected the key of certificate ${JSON.stringify(own[0]!.subject)}, got another`);
  }
  return authorities.map(({ raw }) => readCertificate(new Uint8Array(raw), "clientAuthorities"));
}

function parseCertificates(field: string, text: string): X509Certificate[] {
  const blocks = certificateTexts(text);
  if (blocks.length === 0) throw new TypeError(`${field}: expected certificates in PEM, got none`);
  return blocks.map((block, i) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new TypeError(`${field}: certificate ${i + 1} of ${blocks.length}: ${(error as Error).message}`);
    }
  });
}
