/**
 * Authorities and leaves for tests.
 *
 * @module
 */
import { type Certificate, readCertificate } from "../../../lib/pki/certificate.ts";
import { issueIntermediate, issueLeaf, type Issuer, issueRoot } from "../../../lib/pki/issue.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import type { KeySpec } from "../../../lib/pki/public_key.ts";

/** 2026-01-01. */
export const NOW = Date.UTC(2026, 0, 1);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const P256: KeySpec = { type: "EC", curve: "P-256" };

/** An authority with its certificate. */
export interface MadeAuthority extends Issuer {
  readonly certificate: Certificate;
  readonly key: PrivateKey;
}

const VALID = { notBefore: NOW - DAY, notAfter: NOW + 365 * DAY };

/** A root authority. */
export async function makeRoot(
  spec: KeySpec = P256,
  more: { notBefore?: number; notAfter?: number; name?: string } = {},
) {
  const key = await PrivateKey.generate(spec);
  const { name = "root", ...validity } = more;
  const subject = { organization: "cluster.local", commonName: name };
  return { key, certificate: readCertificate(await issueRoot(key, { ...VALID, ...validity, subject })) };
}

/** An authority below another authority. */
export async function makeIntermediate(
  issuer: Issuer,
  spec: KeySpec = P256,
  more: { notBefore?: number; notAfter?: number; pathLength?: number; name?: string } = {},
): Promise<MadeAuthority> {
  const key = await PrivateKey.generate(spec);
  const { name = "intermediate", ...rest } = more;
  const template = { ...VALID, ...rest, spki: key.spki, subject: { commonName: name } };
  return { key, certificate: readCertificate(await issueIntermediate(issuer, template)) };
}

/** A leaf with its key. */
export async function makeLeaf(
  issuer: Issuer,
  spec: KeySpec = P256,
  more: { notBefore?: number; notAfter?: number; uris?: readonly string[]; dns?: readonly string[] } = {},
) {
  const key = await PrivateKey.generate(spec);
  const { uris = ["spiffe://cluster.local/ns/shop/sa/cart"], dns = [], ...validity } = more;
  const times = { notBefore: NOW - HOUR, notAfter: NOW + DAY, ...validity };
  const leaf = await issueLeaf(issuer, { ...times, spki: key.spki, names: { uris, dns } });
  return { key, certificate: readCertificate(leaf) };
}
