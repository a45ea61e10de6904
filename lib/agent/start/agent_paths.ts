/**
 * Files of a workload: our paths first, then Istio's paths, so that images and manifests of both fit.
 *
 * @module
 */

/** The paths of an agent. Relative paths are below the working directory, which is the root of a container. */
export interface AgentPaths {
  /** Socket of the proxy's certificates. */
  readonly sdsSocket: string;
  /** Folder of sockets of identity providers. */
  readonly identitySockets: string;
  /** Socket of certificates in files, if another program serves the workload's certificate. */
  readonly filesSocket: string;
  /** Socket of a server of credentials (`sds://` in the configuration). */
  readonly credentialSocket: string;
  /** Tokens of the workload's identity. */
  readonly tokens: readonly string[];
  /** Roots of the control plane, where no variable names others. */
  readonly roots: readonly string[];
  /** Revocation lists of the mesh's authorities. */
  readonly revocationLists: readonly string[];
  /** Folders with the workload's certificate: `cert-chain.pem`, `key.pem`, `root-cert.pem`. */
  readonly certificates: readonly string[];
  /** Folder of the certificate from a cloud. */
  readonly cloudCertificates: string;
  /** Folders of the files `labels` and `annotations`. */
  readonly pod: readonly string[];
  /** Folder for the files that Envoy writes. */
  readonly data: string;
}

/** The paths of a container. */
export const AGENT_PATHS: AgentPaths = {
  sdsSocket: "./var/run/secrets/workload-spiffe-uds/socket",
  identitySockets: "./var/run/secrets/workload-spiffe-uds",
  filesSocket: "./var/run/secrets/credential-uds/files-socket",
  credentialSocket: "./var/run/secrets/credential-uds/socket",
  tokens: ["./var/run/secrets/tokens/mesh-token", "./var/run/secrets/tokens/istio-token"],
  roots: [
    "./etc/certs/root-cert.pem",
    "./var/run/secrets/mesh/root-cert.pem",
    "./var/run/secrets/istio/root-cert.pem",
  ],
  revocationLists: ["./var/run/secrets/mesh/crl/ca-crl.pem", "./var/run/secrets/istio/crl/ca-crl.pem"],
  certificates: ["./etc/certs", "./var/run/secrets/workload-spiffe-credentials"],
  cloudCertificates: "./var/run/secrets/workload-spiffe-credentials",
  pod: ["./etc/mesh/pod", "./etc/istio/pod"],
  data: "/var/lib/mesh/data",
};
