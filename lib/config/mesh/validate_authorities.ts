/**
 * Rules of trust domains, and of the trusted roots beside the authority's roots (`caCertificates`).
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import { isWebAddress, shownAddress } from "../../kernel/fetch/web_address.ts";
import type { Findings } from "../../finding/findings.ts";
import { isDnsLabel } from "../validation/names.ts";
import type { MeshConfig } from "./types.ts";
import { certificateTexts } from "../../kernel/text/edges.ts";

/** Hosts without a network in between. */
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Checks the name of a trust domain. */
export function checkTrustDomain(domain: string, at: string, report: Findings): void {
  const labels = domain.replace(/\.$/, "").split(".");
  if (!labels.every(isDnsLabel)) report.error(at, domain, "a trust domain such as cluster.local");
}

/** Checks each entry: a text with authorities, or the address of a bundle that nobody on the way can change. */
export function checkAuthorities({ caCertificates = [] }: MeshConfig, report: Findings): void {
  caCertificates.forEach(({ pem, spiffeBundleUrl, trustDomains = [] }, index) => {
    const at = `caCertificates[${index}]`;
    if (pem === undefined && spiffeBundleUrl === undefined) report.error(at, {}, "pem or spiffeBundleUrl");
    if (pem !== undefined && !holdsAuthorities(pem)) {
      report.error(`${at}.pem`, pem.slice(0, 40), "certificates of authorities in PEM");
    }
    if (spiffeBundleUrl !== undefined && !isSafeAddress(spiffeBundleUrl)) {
      const expected = "https://host/path (http only to this machine), without a user, a password and a fragment";
      report.error(`${at}.spiffeBundleUrl`, shownAddress(spiffeBundleUrl), expected);
    }
    trustDomains.forEach((domain, i) => checkTrustDomain(domain, `${at}.trustDomains[${i}]`, report));
  });
}

function holdsAuthorities(pem: string): boolean {
  const blocks = certificateTexts(pem);
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).ca);
  } catch {
    return false;
  }
}

function isSafeAddress(text: string): boolean {
  if (!isWebAddress(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && LOCAL.has(hostname));
}
