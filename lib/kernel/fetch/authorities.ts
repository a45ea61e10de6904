/**
 * Authorities for a TLS client of the runtime.
 *
 * @module
 */
import { certificateTexts } from "../text/edges.ts";

/**
 * The text itself, where it holds certificates. The TLS client of the runtime takes a text without any for no authorities,
 * and then trusts those of the public web alone.
 *
 * @param what The name of the text in errors, in which nothing of the text is.
 * @throws {TypeError} when the text holds none
 */
export function requireCertificates(text: string, what: string): string {
  if (certificateTexts(text).length > 0) return text;
  throw new TypeError(`${what}: got a text without certificates, expected certificates in PEM`);
}
