/**
 * Names in certificates.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { isIp } from "../../registry/address.ts";
import { SubjectAltNameMatcher_SanType as SanType } from "../../../proto/gen/enums.ts";

/**
 * Matchers for names, of which a certificate must satisfy one. The form of a name determines its kind: `spiffe://...`
 * and other URIs, IP addresses, `user@host`. Any other name is a DNS name (which Envoy also matches with a wildcard in
 * the certificate).
 */
export function exactNames(
  names: readonly string[],
): envoy.extensions.transport_sockets.tls.v3.SubjectAltNameMatcher[] {
  return names.map((name) => ({ san_type: kindOf(name), matcher: { exact: name } }));
}

function kindOf(name: string): envoy.extensions.transport_sockets.tls.v3.SubjectAltNameMatcher.SanType {
  if (name.includes("://")) return SanType.URI;
  if (isIp(name)) return SanType.IP_ADDRESS;
  return name.includes("@") ? SanType.EMAIL : SanType.DNS;
}
