/**
 * Authorities for a TLS client of the runtime.
 *
 * @module
 */
import { certificateTexts } from "../text/edges.ts";

/**
 * Returns a text with certificates unchanged. The runtime's TLS client ignores a text without certificates and trusts
 * only the authorities of the public web.
 *
 * @param what The name of the text in errors, which never contain the text.
 * @throws {TypeError} when the text holds no certificates.
 */
export function requireCertificates(text: string, what: string): string {
  if (certificateTexts(text).length > 0) return text;
  throw new TypeError(`${what}: got a text without certificates, expected certificates in PEM`);
}
