/**
 * Variables about identity, certificates and trust, used by several programs.
 *
 * @module
 */
import { bool, choice, str } from "./define.ts";

/** Security, identity and safety variables. */
export const generalSettings = {
  AMBIENT_ENABLE_MULTI_NETWORK: bool(
    "DAC",
    false,
    "Node tunnels reach workloads of other networks and of remote clusters, proxies those of other networks, and Gateways of class `mesh-east-west` are deployed. Needs PILOT_ENABLE_AMBIENT.",
  ),
  AMBIENT_ENABLE_STATUS: bool(
    "DAC",
    false,
    "Write into AuthorizationPolicies what node tunnels and waypoints do with them, and into Services, ServiceEntries and WorkloadEntries whether their waypoint is used.",
    {
      ambient: true,
    },
  ),
  CA_TRUSTED_NODE_ACCOUNTS: str(
    "DAC",
    "",
    "Service accounts (`namespace/name`, comma separated) of node proxies, which may ask for certificates of pods on their own node.",
  ),
  CERT_SIGNER_DOMAIN: str("DAC", "", "Domain put before a certificate signer's name to make the full signer name."),
  CLOUD_PLATFORM: choice(
    "DA",
    "",
    ["", "aws", "azure", "gcp", "none"],
    "Cloud in which the proxy runs; empty: the one that the machine's firmware names.",
  ),
  CLUSTER_ID: str("DAC", "Orch", "Name of the cluster, and of its service registry, in which this instance runs."),
  COMPLIANCE_POLICY: choice(
    "DAC",
    "",
    ["", "fips-140-2"],
    "`fips-140-2` limits TLS everywhere to the versions and ciphers of that standard, over every other setting.",
  ),
  DRY_RUN_FILE_PATH: str("AC", "", "In a dry run, the file that receives every rule instead of the kernel."),
  EXTERNAL_MESHD: bool("DAC", false, "This server also steers remote clusters, and signs their certificates."),
  CLOUD_METADATA: str(
    "DA",
    "",
    "Cloud facts given by hand: `project_id|project_number|cluster_name|cluster_zone`.",
  ),
  CLOUD_QUOTA_PROJECT: str("DA", "", "Project charged for calls to the cloud's API."),
  CLOUD_ZONE: str("DA", "", "Cloud zone of the workload, whichever its cloud names; the region follows from it."),
  JWKS_RESOLVER_INSECURE_SKIP_VERIFY: bool(
    "DAC",
    false,
    "Fetch token keys without checking the key server's certificate.",
  ),
  TRUSTED_GATEWAY_CIDR: str(
    "DAC",
    "",
    "Address ranges (comma separated) whose gateways are believed when they forward a client certificate. For trusted networks only.",
  ),
  TOKEN_AUDIENCES: str("DA", "mesh-ca", "Audiences, comma separated, of which a token must carry one to be accepted."),
  XDS_AUTH: bool("DAC", true, "Ask discovery clients for proof of their identity."),
  XDS_AUTH_PLAINTEXT: bool(
    "DA",
    false,
    "Ask clients on the plain-text port for proof of their identity, too. For trusted networks only.",
  ),
  PILOT_ENABLE_XDS_IDENTITY_CHECK: bool(
    "DAC",
    true,
    "Refuse a discovery client that claims a namespace or service account other than its proven identity.",
  ),
  PILOT_SKIP_VALIDATE_TRUST_DOMAIN: bool("DAC", false, "With mutual TLS, accept peers of any trust domain."),
  PILOT_CERT_PROVIDER: str(
    "DAC",
    "meshd",
    "The signer of the server's own certificate: `meshd` (the built-in CA), `orch.io/NAME` (a signer of the orchestrator), anything else: nobody, the root in `./etc/certs/root-cert.pem` is still handed out. Mounted certificates win.",
  ),
  PILOT_CA_CERT_CONFIGMAP: str(
    "DAC",
    "mesh-ca-root-cert",
    "Config map that carries the root certificate to every namespace.",
  ),
  MESH_MULTIROOT_MESH: bool("DAC", false, "Mutual TLS accepts certificates of several roots."),
  ENABLE_CA_SERVER: bool("DAC", true, "Run the certificate authority in the server."),
  ENABLE_CLUSTER_TRUST_BUNDLE_API: bool(
    "DAC",
    false,
    "Hand out the root certificate by cluster trust bundles instead of config maps.",
  ),
  USE_CACERTS_FOR_SELF_SIGNED_CA: bool("DAC", false, "Keep the self-signed root in the secret `cacerts`."),
  VALIDATION_WEBHOOK_CONFIG_NAME: str(
    "DAC",
    "mesh-mesh-system",
    "Validating webhook configuration whose CA bundle is kept current; empty: none.",
  ),
  INJECTION_WEBHOOK_CONFIG_NAME: str(
    "DAC",
    "mesh-sidecar-injector",
    "Mutating webhook configuration whose CA bundle is kept current; empty: none.",
  ),
  ENABLE_TLS_ON_SIDECAR_INGRESS: bool("DAC", false, "Honour `tls` on the ingress listeners of a Sidecar."),
  PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES: bool(
    "DAC",
    true,
    "For services outside the mesh a destination rule's TLS beats what endpoint metadata says.",
  ),
  UNSAFE_ENABLE_ADMIN_ENDPOINTS: bool("DAC", false, "Serve debug pages that change state. Not for production."),
  UNSAFE_PILOT_ENABLE_DELTA_TEST: bool(
    "DAC",
    false,
    "Compare every delta answer with the full state. Very slow; for tests.",
    { hidden: true },
  ),
  UNSAFE_PILOT_ENABLE_RUNTIME_ASSERTIONS: bool(
    "DAC",
    false,
    "Check inner rules while running and end the process on the first that is broken. Slow; for tests.",
    { hidden: true },
  ),
};
