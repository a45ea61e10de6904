/**
 * Cipher suites of connections that we make: the runtime cannot be kept from agreeing on one (docs/decisions/0025).
 *
 * @module
 */
import type { TLSSocket } from "node:tls";
import type { TlsPolicy } from "../listen/tls_policy.ts";

/** Why a connection is not taken; undefined: its suite is allowed. */
export function suiteRefused({ cipherSuites }: TlsPolicy, socket: TLSSocket): string | undefined {
  if (cipherSuites === undefined) return undefined;
  const suite = socket.getCipher().standardName;
  return cipherSuites.has(suite) ? undefined : `the server chose the cipher suite ${suite}, which is not allowed`;
}
