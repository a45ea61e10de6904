/**
 * Issues certificates: roots, intermediate authorities and leaves.
 *
 * The body of a certificate has a dozen elements, so the code here writes the body directly. @peculiar/x509 takes
 * longer for the body than the signature takes (docs/decisions). In tests, openssl and @peculiar/x509 read the
 * certificates made here.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Certificate } from "./certificate.ts";
import { bits, sequence, tagged, time, unsignedInteger } from "./der_write.ts";
import { authorityExtensions, issuerKeyExtension, keyBits, LEAF_EXTENSIONS, namesExtension } from "./extensions.ts";
import type { PrivateKey } from "./private_key.ts";
import type { SigningKey } from "./signer.ts";
import { type AlternativeNames, type SubjectName, writeSubject } from "./subject.ts";

/** An authority that can sign: certificate and key. */
export interface Issuer {
  readonly certificate: Pick<Certificate, "subjectDer" | "subjectKeyId">;
  readonly key: SigningKey;
}

/** How long a certificate is valid, milliseconds since 1970; whole seconds count. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A leaf to be issued. */
export interface LeafTemplate extends Validity {
  /** The key of the leaf, as SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly subject?: SubjectName;
  readonly names: Partial<AlternativeNames>;
}

/** An authority to be issued. */
export interface AuthorityTemplate extends Validity {
  readonly spki: Uint8Array;
  /**
   * The name, or the name's bytes. With the same key and the same bytes, a new certificate can replace an authority's
   * certificate: issued certificates stay valid.
   */
  readonly subject: SubjectName | Uint8Array;
  /** Most authorities allowed between this authority and a leaf. Default: any number. */
  readonly pathLength?: number;
}

/** A certificate for a server or client, in DER. Alternative names are critical, because the subject may be empty. */
export function issueLeaf(issuer: Issuer, template: LeafTemplate): Promise<Uint8Array> {
  const extensions = [...leafExtensions(issuer), namesExtension(template.names, true)];
  return signed(issuer, template, writeSubject(template.subject ?? {}), extensions);
}

/** The common extensions of an authority's leaves, by the authority's certificate. */
const ofLeaves = new WeakMap<Issuer["certificate"], readonly Uint8Array[]>();

function leafExtensions(issuer: Issuer): readonly Uint8Array[] {
  return ofLeaves.getOrInsertComputed(issuer.certificate, () => [...LEAF_EXTENSIONS, ...issuerKey(issuer)]);
}

/** A certificate of an authority below another authority, in DER. */
export function issueIntermediate(issuer: Issuer, template: AuthorityTemplate): Promise<Uint8Array> {
  const extensions = [...authorityExtensions(keyId(template.spki), template.pathLength), ...issuerKey(issuer)];
  return signed(issuer, template, subjectOf(template), extensions);
}

/** The certificate of a root authority, signed by the root's own key, in DER. */
export function issueRoot(key: PrivateKey, template: Omit<AuthorityTemplate, "spki">): Promise<Uint8Array> {
  const subjectDer = subjectOf(template);
  const extensions = authorityExtensions(keyId(key.spki), template.pathLength);
  return signed({ certificate: { subjectDer }, key }, { ...template, spki: key.spki }, subjectDer, extensions);
}

function subjectOf({ subject }: Pick<AuthorityTemplate, "subject">): Uint8Array {
  return subject instanceof Uint8Array ? subject : writeSubject(subject);
}

async function signed(
  { certificate, key }: Issuer,
  { notBefore, notAfter, spki }: Validity & { readonly spki: Uint8Array },
  subject: Uint8Array,
  extensions: readonly Uint8Array[],
): Promise<Uint8Array> {
  const body = sequence(
    VERSION_3,
    randomSerial(),
    key.signatureAlgorithm,
    certificate.subjectDer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    spki,
    tagged(3, sequence(...extensions)),
  );
  return sequence(body, key.signatureAlgorithm, bits(await key.sign(body)));
}

const VERSION_3 = tagged(0, unsignedInteger(Uint8Array.of(2)));

/** A positive number of 127 bits, all random except the first. */
function randomSerial(): Uint8Array {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x40; // Never 0, always of the same length.
  return unsignedInteger(bytes);
}

function issuerKey({ certificate: { subjectKeyId } }: Issuer): Uint8Array[] {
  return subjectKeyId === undefined ? [] : [issuerKeyExtension(subjectKeyId)];
}

/**
 * The identifier of a key: the SHA-1 of the key's bits (RFC 5280, section 4.2.1.2). The identifier is a name, not a
 * proof.
 */
function keyId(spki: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha1").update(keyBits(spki)).digest());
}
