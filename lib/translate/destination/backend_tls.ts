/**
 * TLS to backends by BackendTLSPolicies, merged into the traffic policy of a destination.
 *
 * A user's destination rule has precedence field by field: in mode SIMPLE or MUTUAL its unset fields come from the
 * BackendTLSPolicy, and in another mode the user's settings stand alone.
 *
 * @module
 */
import type { ClientTlsSettings } from "../../config/kinds/common/schema.ts";
import type { BackendTls } from "../../config/kinds/destination_rule/internal.ts";
import type { EffectivePolicy } from "./policy.ts";

/** The policy of a destination with TLS to the backend. */
export interface BackendPolicy {
  readonly policy: EffectivePolicy;
  /** Present: TLS of a BackendTLSPolicy is in the policy. */
  readonly backendTls?: BackendTls;
}

/**
 * Adds TLS to a policy.
 *
 * @param all The entries of the destination's host. Absent: no BackendTLSPolicy targets the host.
 */
export function withBackendTls(
  policy: EffectivePolicy,
  all: readonly BackendTls[] | undefined,
  port: number,
): BackendPolicy {
  const backendTls = all?.find((one) => one.port === port) ?? all?.find((one) => one.port === undefined);
  const written = policy.tls;
  if (backendTls === undefined || written?.mode === "DISABLE" || written?.mode === "MESH_MUTUAL") return { policy };
  const tls = tlsToBackend(backendTls, written);
  const isVerified = written !== undefined && hasAuthorities(written);
  if (!isVerified) return { policy: { ...policy, tls }, backendTls };
  const { closed: _, ...open } = backendTls;
  return { policy: { ...policy, tls }, backendTls: open };
}

function tlsToBackend(
  { sni, subjectAltNames, authorities }: BackendTls,
  written: ClientTlsSettings | undefined,
): ClientTlsSettings {
  const own: ClientTlsSettings = { mode: "SIMPLE", sni, subjectAltNames };
  if (authorities === undefined || written !== undefined && hasAuthorities(written)) return { ...own, ...written };
  return { ...own, credentialName: authorities, ...written };
}

/** Whether settings say how the server is verified. */
function hasAuthorities({ caCertificates, credentialName, insecureSkipVerify }: ClientTlsSettings): boolean {
  return caCertificates !== undefined || credentialName !== undefined || insecureSkipVerify === true;
}
