/**
 * A workload certificate, requested with a new key.
 *
 * @module
 */
import { createPrivateKey } from "node:crypto";
import { type Certificate, readCertificates } from "../../pki/certificate.ts";
import { joinPem } from "../../pki/pem.ts";
import { PkiError } from "../../pki/pki_error.ts";
import { PrivateKey } from "../../pki/private_key.ts";
import type { KeySpec } from "../../pki/public_key.ts";
import { createCertificateRequest } from "../../pki/request.ts";
import { isKeyOf } from "../../pki/certificate.ts";
import { checkRoots } from "./usable_roots.ts";

/** A certificate with its key and the roots of the mesh, as PEM. */
export interface IssuedCertificate {
  /** The workload's own certificate, then the certificates up to the root. */
  readonly chain: string;
  readonly key: string;
  readonly roots: string;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Signs a request. The first text of the answer has the certificate, the last text the roots. */
export type SignRequest = (csr: string, ttlSeconds: number) => Promise<readonly string[]>;

/** The requested certificate. */
export interface CertificateOrder {
  /** SPIFFE ID of the workload. */
  readonly uri: string;
  readonly key: KeySpec;
  /** Lifetime asked for, ms. */
  readonly ttl: number;
  /** Keys as PKCS#8; otherwise PKCS#1 and SEC1. */
  readonly pkcs8: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Makes a key, has a certificate signed for the key, and checks the answer.
 * @throws {PkiError} When the answer cannot be used. Errors of the signer are passed on.
 */
export async function orderCertificate(order: CertificateOrder, sign: SignRequest): Promise<IssuedCertificate> {
  const key = await PrivateKey.generate(order.key);
  const csr = await createCertificateRequest(key, { uris: [order.uri] });
  const answer = await sign(csr, Math.max(1, Math.round(order.ttl / 1000)));
  const chain = joinPem(answer.slice(0, -1));
  if (chain === "") throw new PkiError(`certificate authority: expected a chain and its roots, got ${answer.length}`);
  const roots = joinPem(answer.slice(-1));
  const [leaf, ...between] = readCertificates(chain, "certificate authority");
  const trusted = readCertificates(roots, "roots of the certificate authority");
  checkRoots(roots, "roots of the certificate authority");
  if (leaf === undefined || !isKeyOf(key, leaf)) {
    throw new PkiError("certificate authority: expected a certificate of the key that was sent, got another one's");
  }
  const now = order.now();
  const isValid = ({ notBefore, notAfter }: Certificate) => notBefore <= now && now <= notAfter;
  const unfit = [leaf, ...between].find((one) => !isValid(one)) ??
    (trusted.some(isValid) ? undefined : trusted[0]);
  if (unfit !== undefined) {
    const span = `${new Date(unfit.notBefore).toISOString()} to ${new Date(unfit.notAfter).toISOString()}`;
    const what = unfit === leaf ? "a certificate" : trusted.includes(unfit) ? "a root" : "an authority";
    throw new PkiError(
      `certificate authority: expected ${what} that is valid now (${new Date(now).toISOString()} by this ` +
        `machine's clock), got one from ${span}`,
    );
  }
  return { chain, roots, key: keyText(key, order.pkcs8), notBefore: leaf.notBefore, notAfter: leaf.notAfter };
}

function keyText(key: PrivateKey, pkcs8: boolean): string {
  if (pkcs8) return key.pem();
  const type = key.spec.type === "RSA" ? "pkcs1" : "sec1";
  return createPrivateKey(key.pem()).export({ type, format: "pem" }).toString();
}
