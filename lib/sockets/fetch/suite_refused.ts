/**
 * Cipher suites of outgoing connections. The runtime cannot be told which suites to accept (docs/decisions/0025).
 *
 * @module
 */
import type { TLSSocket } from "node:tls";
import type { TlsPolicy } from "../listen/tls_policy.ts";

/** The reason against a connection; undefined: the cipher suite is allowed. */
export function suiteRefused({ cipherSuites }: TlsPolicy, socket: TLSSocket): string | undefined {
  if (cipherSuites === undefined) return undefined;
  const suite = socket.getCipher().standardName;
  return cipherSuites.has(suite) ? undefined : `the server chose the cipher suite ${suite}, which is not allowed`;
}
