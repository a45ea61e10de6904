/**
 * Certificates, keys and authorities in files of the proxy's own machine, as secrets.
 *
 * Envoy would refuse a whole listener if a file named in the listener is missing. A secret with file names is a
 * separate resource: a missing file costs only the chains with the secret, and Envoy reads files that appear later or
 * change (moved into place, as orchestrators and certificate tools do). The bytes never leave the machine.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { ApiVersion } from "../../../proto/gen/enums.ts";

type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.Secret;

/** A secret with its name. */
export type FileSecret = CommonTlsContext & { readonly name: string };

/** A certificate with its key, named `file-cert:<chain>~<key>` (Istio's name). */
export function fileCertificate(chain: string, key: string): FileSecret {
  const tls_certificate = {
    certificate_chain: { filename: chain },
    private_key: { filename: key },
    ...watched([chain, key]),
  };
  return { name: `file-cert:${chain}~${key}`, tls_certificate };
}

/** Authorities, named `file-root:<authorities>` (Istio's name), plus `~<list>` for a list of revoked certificates. */
export function fileAuthority(authorities: string, revoked: string | undefined): FileSecret {
  const validation_context = {
    trusted_ca: { filename: authorities },
    ...(revoked === undefined ? {} : { crl: { filename: revoked } }),
    ...watched([authorities, ...revoked === undefined ? [] : [revoked]]),
  };
  return { name: `file-root:${authorities}${revoked === undefined ? "" : `~${revoked}`}`, validation_context };
}

/** How a TLS context asks for a secret: over ADS. */
export function secretConfig(name: string): envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig {
  return { name, sds_config: { ads: {}, resource_api_version: ApiVersion.V3 } };
}

/**
 * The common folder of the files, where files may appear later. Without a common folder Envoy watches each existing
 * file.
 */
function watched(files: readonly string[]): { readonly watched_directory?: { readonly path: string } } {
  const [first, ...others] = new Set(files.map(folderOf));
  return first === undefined || others.length > 0 ? {} : { watched_directory: { path: first } };
}

function folderOf(file: string): string {
  const slash = file.lastIndexOf("/");
  return slash < 0 ? "." : file.slice(0, slash) || "/";
}
