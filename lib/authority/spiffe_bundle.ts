/**
 * Roots in a SPIFFE bundle, which a trust domain publishes at its bundle endpoint.
 *
 * Rule: https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE_Trust_Domain_and_Bundle.md#4-spiffe-bundle-format
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { readCertificate } from "../pki/certificate.ts";
import { certificatePem } from "../pki/pem.ts";
import { PkiError } from "../pki/pki_error.ts";

const document = z.object({
  keys: z.array(
    z.object({ use: z.string().optional(), x5c: z.array(z.string()).optional() }, { error: "a key" }),
    { error: "a list of keys" },
  ),
  spiffe_refresh_hint: z.number({ error: "a number of seconds" }).optional(),
}, { error: "a SPIFFE bundle" });

/** Content of a bundle. */
export interface SpiffeBundle {
  /** PEM, one certificate per text. */
  readonly roots: readonly string[];
  /** Milliseconds until the next reading, by the publisher's wish; absent: the bundle gives no hint. */
  readonly refreshAfter?: number;
}

/**
 * Reads a bundle. Keys for tokens are ignored.
 *
 * @throws {PkiError} when the text is not a bundle, or when a key for certificates does not hold exactly one authority
 */
export function readSpiffeBundle(text: string): SpiffeBundle {
  const { keys, spiffe_refresh_hint: seconds } = parsed(text);
  const roots = keys.flatMap(({ use, x5c = [] }, i) => {
    if (use !== "x509-svid") return [];
    const [encoded, ...more] = x5c;
    if (encoded === undefined || more.length > 0) {
      throw new PkiError(`keys[${i}].x5c: expected exactly one certificate, got ${x5c.length}`);
    }
    return [certificatePem(authority(encoded, `keys[${i}].x5c[0]`))];
  });
  if (roots.length === 0) throw new PkiError("keys: expected a key for certificates (use x509-svid), got none");
  return { roots, ...(seconds !== undefined && seconds > 0 ? { refreshAfter: seconds * 1000 } : {}) };
}

function parsed(text: string): z.infer<typeof document> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PkiError("expected a SPIFFE bundle, got text that is not JSON");
  }
  const { success, data, error } = document.safeParse(value, { reportInput: true });
  if (!success) throw new PkiError(issueLines(error.issues).join(", "));
  return data;
}

function authority(encoded: string, what: string): Uint8Array {
  let der: Uint8Array;
  try {
    der = Uint8Array.fromBase64(encoded);
  } catch {
    throw new PkiError(`${what}: expected base64`);
  }
  if (!readCertificate(der, what).isCa) throw new PkiError(`${what}: expected a certificate of an authority`);
  return der;
}
