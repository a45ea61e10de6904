/**
 * Filters roots and revocation lists that are sent to the proxy unchanged: one unreadable text would cost the proxy all
 * roots.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { judgeAuthorities } from "../../pki/credential.ts";
import { PkiError } from "../../pki/pki_error.ts";
import { proxyPem } from "../../pki/proxy_pem.ts";

/** @throws {PkiError} when the proxy would not read a text of roots */
export function checkRoots(text: string, what: string): void {
  const verdict = judgeAuthorities(text);
  if ("why" in verdict) throw new PkiError(`${what}: expected certificates in PEM that Envoy takes: it ${verdict.why}`);
}

/** The texts that the proxy can read. The other texts are reported. */
export function usableRoots(texts: readonly string[], what: string, log: Pick<Logger, "error">): string[] {
  return texts.filter((text, i) => {
    try {
      checkRoots(text, `${what}[${i}]`);
      return true;
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      log.error(`a root is not trusted: ${error.message}`);
      return false;
    }
  });
}

/** @throws {PkiError} when the proxy would not read each of so many lists */
export function checkLists(text: string, count: number, what: string): void {
  let found = 0;
  for (const part of proxyPem(text)) {
    if ("fault" in part) throw new PkiError(`${what} ${part.fault}`);
    if (part.label === "X509 CRL" && part.header === "") found++;
  }
  if (found < count) {
    throw new PkiError(`${what}: expected each BEGIN at the start of a line, and no blank lines within a list`);
  }
}
