/**
 * Where a proxy gets keys, certificates and authorities: from its agent, or from files of its own machine.
 *
 *     agent       sds-grpc         default, ROOTCA; file-cert:, file-root:
 *                 sds-files-grpc   file-cert:, file-root:, where another server serves the workload's certificate
 *                 sds-external     sds://
 *     no agent    ADS              file-cert:, file-root: as secrets that name the files (`message/file_secret.ts`)
 *
 * The clusters of the agent are in its bootstrap. Names of clusters and secrets are Istio's.
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
const AGENT_SECRETS = "sds-grpc";
/** Cluster of the agent's files, used if another server serves certificates. */
const AGENT_FILES = "sds-files-grpc";
/** Cluster of a credential server on the proxy's machine. */
const EXTERNAL_SECRETS = "sds-external";

/** Name of the workload's certificate at the agent. */
const WORKLOAD_CERTIFICATE = "default";
/** Name of the authorities of the mesh at an agent. */
const MESH_AUTHORITIES = "ROOTCA";
/** Secrets needed for every connection of the mesh. */
const MESH_SECRETS: ReadonlySet<string> = new Set([WORKLOAD_CERTIFICATE, MESH_AUTHORITIES]);

/** How a TLS context refers to a secret. Includes the secret itself if the secret must be sent, too. */
export interface SecretReference {
  readonly config: SdsSecretConfig;
  readonly secret?: FileSecret;
}

/** A proxy's certificate and authorities of the mesh. */
export interface Identity {
  readonly certificate: SecretReference;
  readonly authorities: SecretReference;
}

/** How a proxy requests a secret from a server on its own machine. */
function localSecret(name: string, cluster: string): SdsSecretConfig {
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
      // The agent asks an authority. A listener that stopped waiting would refuse everyone. For a file of a single
      // object, Envoy's default wait applies, because a proxy starts only when all its clusters have stopped waiting.
      ...(MESH_SECRETS.has(name) ? { initial_fetch_timeout: duration(0) } : {}),
    },
  };
}

/** A certificate and its key in files. */
export function certificateFiles(read: Reader, chain: string, key: string): SecretReference {
  return fromFiles(read, fileCertificate(chain, key));
}

/** Authorities in a file, optionally with a file of revoked certificates. Agents support no revocation lists. */
export function authorityFile(read: Reader, authorities: string, revoked?: string): SecretReference {
  const secret = fileAuthority(authorities, revoked);
  return revoked === undefined ? fromFiles(read, secret) : { config: secretConfig(secret.name), secret };
}

/** An agent reads files by the secret's name. Without an agent Envoy reads the files. */
function fromFiles(read: Reader, secret: FileSecret): SecretReference {
  if (!read.property("agent")) return { config: secretConfig(secret.name), secret };
  return { config: localSecret(secret.name, read.property("fileSocket") ? AGENT_FILES : AGENT_SECRETS) };
}

/**
 * How a proxy requests a credential from configuration: a secret of the orchestrator over ADS, unless the name has
 * another scheme (`configmap://`, `kubernetes-gateway://`). `builtin://` is the workload's own certificate. For
 * `sds://` the credential server on the proxy's machine is used, if present.
 *
 * @param name As in configuration. Names of authorities end in `-cacert`.
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

/** Identity of the workload towards its clients. Undefined: none. */
export function serverIdentity(read: Reader): Identity | undefined {
  return identity(read, {
    chain: read.property("tlsServerCertChain"),
    key: read.property("tlsServerKey"),
    root: read.property("tlsServerRootCert"),
  });
}

/**
 * The identity towards services: from the agent, or from files that clusters name directly, because only listeners can
 * bring secrets.
 */
export type ClientIdentity = Identity | { readonly files: Files };

/** Identity of the workload towards the services it calls. Undefined: none. */
export function clientIdentity(read: Reader): ClientIdentity | undefined {
  const files = {
    chain: read.property("tlsClientCertChain"),
    key: read.property("tlsClientKey"),
    root: read.property("tlsClientRootCert"),
  };
  const found = identity(read, files);
  return found === undefined || read.property("agent") ? found : { files };
}

/** Whether connections to endpoints may be mutual TLS. A single query, not a query per file. */
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

/** The secrets to send for the references of a context. */
export function secretsOf(references: readonly SecretReference[]): FileSecret[] {
  return references.flatMap(({ secret }) => secret ?? []);
}
