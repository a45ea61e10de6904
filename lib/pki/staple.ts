/**
 * Answers of OCSP responders, shown by a server beside the certificate (RFC 6960, section 4.2).
 *
 * @module
 */
import { readCertificate } from "./certificate.ts";
import { DerReader, hex, objectIdText, Tag } from "./der_read.ts";
import { PkiError } from "./pki_error.ts";
import { proxyPem } from "./proxy_pem.ts";

const WHAT = "OCSP response";
const ENUMERATED = 0x0a;
const BASIC_RESPONSE = "1.3.6.1.5.5.7.48.1.1";

/**
 * Whether Envoy accepts an answer beside a chain: a successful answer about a single certificate, the first of the
 * chain. Signature and dates are not checked, because Envoy checks both only when clients connect.
 */
export function fitsStaple(chainText: string, response: Uint8Array): boolean {
  try {
    const [block] = proxyPem(chainText);
    if (block === undefined || "fault" in block) return false;
    return serialOf(response) === readCertificate(block.der).serial;
  } catch (error) {
    if (error instanceof PkiError) return false;
    throw error;
  }
}

/** The serial number of the certificate in an answer. */
function serialOf(response: Uint8Array): string {
  const outer = new DerReader(response, WHAT).inside(Tag.SEQUENCE);
  const [status] = outer.take(ENUMERATED).content;
  if (status !== 0) throw new PkiError(`${WHAT}: expected status 0, got ${status}`);
  const bytes = outer.inside(0xa0).inside(Tag.SEQUENCE);
  const type = objectIdText(bytes.take(Tag.OBJECT_ID));
  if (type !== BASIC_RESPONSE) throw new PkiError(`${WHAT}: expected a basic one, got ${type}`);
  const basic = new DerReader(bytes.take(Tag.OCTET_STRING).content, WHAT).inside(Tag.SEQUENCE);
  const data = basic.inside(Tag.SEQUENCE);
  data.optional(0xa0);
  data.take();
  data.take(Tag.GENERALIZED_TIME);
  const answers = data.inside(Tag.SEQUENCE);
  const id = answers.inside(Tag.SEQUENCE).inside(Tag.SEQUENCE);
  answers.finish();
  id.take(Tag.SEQUENCE);
  id.take(Tag.OCTET_STRING);
  id.take(Tag.OCTET_STRING);
  return hex(id.take(Tag.INTEGER).content);
}
