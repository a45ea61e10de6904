/**
 * Where a proxy gets keys, certificates and authorities from: its agent, or files of its own machine.
 *
 *     agent       sds-grpc         default, ROOTCA; file-cert:, file-root:
 *                 sds-files-grpc   file-cert:, file-root:, where another server serves the workload's certificate
 *                 sds-external     sds://
 *     no agent    ADS              file-cert:, file-root: as secrets that name the files (`message/file_secret.ts`)
 *
 * The clusters of the agent are in the bootstrap that it makes; their names and those of the secrets are Istio's.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { ApiConfigSource_ApiType as ApiType, ApiVersion } from "../../../proto/gen/enums.ts";
import { duration } from "../../pb/wellknown.ts";
import { credentialResource } from "../../config/credentials/named.ts";
import { fileAuthority, fileCertificate, type FileSecret, secretConfig } from "../message/file_secret.ts";
import type { Reader } from "../reader/reader.ts";

type SdsSecretConfig = envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig;

/** Cluster of the agent's certificates. */
export const AGENT_SECRETS = "sds-grpc";
/** Cluster of the agent's files, where another server serves certificates. */
export const AGENT_FILES = "sds-files-grpc";
/** Cluster of a server of credentials on the proxy's machine. */
export const EXTERNAL_SECRETS = "sds-external";

/** Name of the workload's certificate at its agent. */
const WORKLOAD_CERTIFICATE = "default";
/** Name of the authorities of the mesh at an agent. */
const MESH_AUTHORITIES = "ROOTCA";
/** Secrets that every connection of the mesh needs. */
const MESH_SECRETS: ReadonlySet<string> = new Set([WORKLOAD_CERTIFICATE, MESH_AUTHORITIES]);

/** How a TLS context asks for a secret, and the secret itself where it is to be sent along. */
export interface SecretReference {
  readonly config: SdsSecretConfig;
  readonly secret?: FileSecret;
}

/** Certificate and authorities that a proxy has of the mesh. */
export interface Identity {
  readonly certificate: SecretReference;
  readonly authorities: SecretReference;
}

/** How a proxy asks a server of its own machine for a secret. */
export function localSecret(name: string, cluster: string): SdsSecretConfig {
  return {
    name,
    sds_config: {
      api_config_source: {
        api_type: ApiType.GRPC,
        set_node_on_first_message_only: true,
        transport_api_version: ApiVersion.V3,
        grpc_services: [{ envoy_grpc: { cluster_name: cluster } }],
      },
      resource_api_version: ApiVersion.V3,
      // The agent asks an authority: a listener that gave up waiting would refuse everyone. For a file that one object
      // names the wait is Envoy's default, because the whole proxy starts when all its clusters have stopped waiting.
      ...(MESH_SECRETS.has(name) ? { initial_fetch_timeout: duration(0) } : {}),
    },
  };
}

/** A certificate and its key in files. */
export function certificateFiles(read: Reader, chain: string, key: string): SecretReference {
  return fromFiles(read, fileCertificate(chain, key));
}

/** Authorities in a file, with a list of revoked certificates in another where there is one: agents know no lists. */
export function authorityFile(read: Reader, authorities: string, revoked?: string): SecretReference {
  const secret = fileAuthority(authorities, revoked);
  return revoked === undefined ? fromFiles(read, secret) : { config: secretConfig(secret.name), secret };
}

/** An agent reads the files by the name of the secret; without one Envoy does. */
function fromFiles(read: Reader, secret: FileSecret): SecretReference {
  if (!read.property("agent")) return { config: secretConfig(secret.name), secret };
  return { config: localSecret(secret.name, read.property("fileSocket") ? AGENT_FILES : AGENT_SECRETS) };
}

/**
 * How a proxy asks for a credential that configuration names: a secret of the orchestrator over ADS, unless the name
 * says otherwise (`configmap://`, `kubernetes-gateway://`). `builtin://` is the workload's own certificate; `sds://` is
 * asked of the server of credentials on the proxy's machine where there is one.
 *
 * @param name As configuration has it; authorities have `-cacert` at its end.
 */
export function credentialSecret(read: Reader, name: string): SdsSecretConfig {
  if (name.startsWith("builtin://")) {
    return localSecret(name.endsWith("-cacert") ? MESH_AUTHORITIES : WORKLOAD_CERTIFICATE, AGENT_SECRETS);
  }
  if (name.startsWith("sds://")) {
    if (read.property("credentialSocket")) return localSecret(name, EXTERNAL_SECRETS);
    return secretConfig(`kubernetes://${name.slice("sds://".length)}`);
  }
  return secretConfig(credentialResource(name) ?? name);
}

/** Identity of the workload towards its clients; undefined: it has none. */
export function serverIdentity(read: Reader): Identity | undefined {
  return identity(read, {
    chain: read.property("tlsServerCertChain"),
    key: read.property("tlsServerKey"),
    root: read.property("tlsServerRootCert"),
  });
}

/** The identity towards services: of the agent, or files that clusters name themselves (secrets go with listeners alone). */
export type ClientIdentity = Identity | { readonly files: Files };

/** Identity of the workload towards the services that it calls; undefined: it has none. */
export function clientIdentity(read: Reader): ClientIdentity | undefined {
  const files = {
    chain: read.property("tlsClientCertChain"),
    key: read.property("tlsClientKey"),
    root: read.property("tlsClientRootCert"),
  };
  const found = identity(read, files);
  return found === undefined || read.property("agent") ? found : { files };
}

/** Whether connections to endpoints may be mutual TLS. One question, not one for each file. */
export function offersPeerTls(read: Reader): boolean {
  return read.derived(
    "offersPeerTls",
    (t) => t.agent || t.tlsClientCertChain !== "" && t.tlsClientKey !== "" && t.tlsClientRootCert !== "",
  );
}

interface Files {
  readonly chain: string;
  readonly key: string;
  readonly root: string;
}

function identity(read: Reader, { chain, key, root }: Files): Identity | undefined {
  const agent = read.property("agent");
  const hasCertificate = chain !== "" && key !== "";
  if (!agent && !(hasCertificate && root !== "")) return undefined;
  const ofAgent = (name: string): SecretReference => ({ config: localSecret(name, AGENT_SECRETS) });
  return {
    certificate: hasCertificate ? certificateFiles(read, chain, key) : ofAgent(WORKLOAD_CERTIFICATE),
    authorities: root === "" ? ofAgent(MESH_AUTHORITIES) : authorityFile(read, root),
  };
}

/** The secrets that are to be sent along with a context that has these references. */
export function secretsOf(references: readonly SecretReference[]): FileSecret[] {
  return references.flatMap(({ secret }) => secret ?? []);
}
