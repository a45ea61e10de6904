/**
 * Secrets that TLS requests from the server. Without its secret, Envoy neither makes nor takes connections.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { LackedSecret, SecretPart } from "./secret_types.ts";
import type { ProxyResources } from "./types.ts";

type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type SdsSecretConfig = envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig;

/** The first secret of a TLS context that is certainly not sent, else the first secret that may not be sent. */
export function lackedSecret(
  { secrets }: Pick<ProxyResources, "secrets">,
  context: CommonTlsContext | undefined,
): LackedSecret | undefined {
  if (secrets === undefined || context === undefined) return undefined;
  let unsure: LackedSecret | undefined;
  for (const [part, { name = "", sds_config }] of asked(context)) {
    // Secrets of an agent do not come from the server.
    if (sds_config?.ads === undefined) continue;
    const verdict = secrets(name, part);
    if (verdict?.isCertain) return { name, ...verdict };
    if (verdict !== undefined) unsure ??= { name, ...verdict };
  }
  return unsure;
}

function* asked(context: CommonTlsContext): Iterable<readonly [SecretPart, SdsSecretConfig]> {
  for (const one of context.tls_certificate_sds_secret_configs ?? []) yield ["certificate", one];
  const authorities = context.validation_context_sds_secret_config ??
    context.combined_validation_context?.validation_context_sds_secret_config;
  if (authorities) yield ["authorities", authorities];
}

/** A missing secret in words, after the name of the part that needs the secret. */
export function lackedText({ name, why }: LackedSecret): string {
  return `${name} is not sent: ${why}`;
}
