/**
 * The certificates of a TLS listener, checked before they are used: `node:tls` on Deno 2.8.3 takes texts that are no
 * certificates, and a key that belongs to another certificate, without a word, and then fails each handshake.
 *
 * @module
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { type Certificate, readCertificate } from "../../pki/certificate.ts";
import { certificateTexts } from "../../pki/pem.ts";

/** The certificates of a TLS listener, as PEM texts. */
export interface TlsCertificates {
  /** The server's own certificate, followed by its intermediate authorities. */
  readonly certificate: string;
  readonly privateKey: string;
  /** Authorities of client certificates, one or more; undefined: clients are not asked for a certificate. */
  readonly clientAuthorities?: string;
}

/**
 * Checks that the texts are certificates and that the key belongs to the first one.
 *
 * @returns the authorities of clients
 * @throws TypeError that names the text that cannot be used, and why; PkiError for an authority that cannot be read
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
