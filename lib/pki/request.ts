/**
 * Certificate signing requests (PKCS#10, RFC 2986): made for a key and a name, read and verified.
 *
 * @module
 */
import { type DerReader, objectIdText, Tag } from "./der_read.ts";
import { bits, objectId, sequence, set, tagged, unsignedInteger } from "./der_write.ts";
import { namesExtension, readExtensions } from "./extensions.ts";
import { ObjectId } from "./object_ids.ts";
import { pemKind, readPem, writePem } from "./pem.ts";
import { PkiError } from "./pki_error.ts";
import type { PrivateKey } from "./private_key.ts";
import { isSignedBy, readSigned, type Signed, type Verify } from "./signed.ts";
import { type AlternativeNames, NO_NAMES, readSubject, type SubjectName, writeSubject } from "./subject.ts";

/** A request as written by the sender. Nothing is proven except that the sender has the key. */
export interface CertificateRequest extends Signed {
  /** The key for the certificate, as SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly commonName?: string;
  /** The subject for people. Empty without a name. */
  readonly subject: string;
  readonly names: AlternativeNames;
  /** Requested things other than names, as dotted object identifiers: extensions, and unknown attributes. */
  readonly asks: readonly string[];
  /** The whole request. */
  readonly der: Uint8Array;
}

/** Number of the attributes in a request's body. */
const ATTRIBUTES = 0;

/** A signed request as PEM. */
export async function createCertificateRequest(
  key: PrivateKey,
  names: Partial<AlternativeNames>,
  subject: SubjectName = {},
): Promise<string> {
  const extensions = sequence(namesExtension(names, true));
  const attribute = sequence(objectId(ObjectId.extensionRequest), set(extensions));
  const version = unsignedInteger(Uint8Array.of(0));
  const body = sequence(version, writeSubject(subject), key.spki, tagged(ATTRIBUTES, attribute));
  return writePem("CERTIFICATE REQUEST", sequence(body, key.signatureAlgorithm, bits(await key.sign(body))));
}

/**
 * Reads the single request in a PEM text, and verifies the signature.
 *
 * @param verify Verifies the signature. Default: WebCrypto.
 * @throws {PkiError} unless the text has exactly one undamaged request, with a supported key and a signature by the
 * key.
 */
export async function readCertificateRequest(pem: string, verify: Verify = isSignedBy): Promise<CertificateRequest> {
  const blocks = readPem(pem, WHAT);
  const [block] = blocks;
  if (block === undefined || blocks.length > 1 || pemKind(block.label) !== "request") {
    const got = blocks.map(({ label }) => label).slice(0, 3).join(", ");
    throw new PkiError(`${WHAT}: expected one CERTIFICATE REQUEST in PEM, got ${got || "none"}`);
  }
  const request = readFields(block.der);
  if (!await verify(request, request.spki)) {
    throw new PkiError(`${WHAT}: expected a signature by its own key, with SHA-256, 384 or 512`);
  }
  return request;
}

const WHAT = "certificate request";

function readFields(der: Uint8Array): CertificateRequest {
  const { signed, fields: inner } = readSigned(der, WHAT);
  inner.take(Tag.INTEGER);
  const subject = inner.take(Tag.SEQUENCE).whole;
  const spki = inner.take(Tag.SEQUENCE).whole;
  const { text, ...common } = readSubject(subject, WHAT);
  return { ...signed, ...{ der, spki, subject: text }, ...common, ...readAttributes(inner) };
}

/** The requested things in the attributes. The names come from the first list of extensions. */
function readAttributes(inner: DerReader): Pick<CertificateRequest, "names" | "asks"> {
  const attributes = inner.nextTag === undefined ? undefined : inner.inside(0xa0 | ATTRIBUTES);
  const asks: string[] = [];
  let names: AlternativeNames | undefined;
  while (attributes?.done === false) {
    const attribute = attributes.inside(Tag.SEQUENCE);
    const id = objectIdText(attribute.take(Tag.OBJECT_ID));
    if (id !== ObjectId.extensionRequest || names !== undefined) {
      asks.push(id);
      continue;
    }
    const values = attribute.inside(Tag.SET);
    const extensions = readExtensions(values.inside(Tag.SEQUENCE), WHAT);
    names = extensions.names;
    asks.push(...extensions.ids.filter((each) => each !== ObjectId.alternativeNames));
    // Other readers may use a second list.
    if (!values.done) asks.push(id);
  }
  return { names: names ?? NO_NAMES, asks };
}
