/**
 * Files of a workload, ours first, then where Istio has them: images and manifests of both fit.
 *
 * @module
 */

/** The paths of an agent. Relative ones are below its working directory, which is the root of a container. */
export interface AgentPaths {
  /** Socket over which the proxy gets certificates. */
  readonly sdsSocket: string;
  /** Folder of sockets that hand out identities. */
  readonly identitySockets: string;
  /** Socket over which certificates in files come, where the workload's come from elsewhere. */
  readonly filesSocket: string;
  /** Socket of a server of credentials that configuration names `sds://`. */
  readonly credentialSocket: string;
  /** Tokens that prove the workload's identity. */
  readonly tokens: readonly string[];
  /** Roots of the control plane, where no variable names others. */
  readonly roots: readonly string[];
  /** Revocation lists of the mesh's authorities. */
  readonly revocationLists: readonly string[];
  /** Folders with the workload's certificate: `cert-chain.pem`, `key.pem`, `root-cert.pem`. */
  readonly certificates: readonly string[];
  /** Folder with the certificate that a cloud mounts. */
  readonly cloudCertificates: string;
  /** Folders of the files `labels` and `annotations`. */
  readonly pod: readonly string[];
  /** Folder for what Envoy writes about itself. */
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
