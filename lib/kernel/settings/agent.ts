/**
 * Variables that only pilot-agent reads.
 *
 * @module
 */
import { bool, choice, dur, float, int, str } from "./define.ts";

/** Variables of `pilot-agent`. */
export const agentSettings = {
  CA_ADDR: str("A", "", "Address of the certificate authority; empty: the discovery address."),
  CA_PROVIDER: str("A", "Citadel", "Protocol by which certificates are asked for."),
  CA_ROOT_CA: str("A", "", "File with the root certificate expected of the certificate authority."),
  CREDENTIAL_FETCHER_TYPE: str(
    "A",
    "JWT",
    "Token that proves the workload: `JWT`, the one in a file; `GoogleComputeEngine`, the machine's own.",
  ),
  CREDENTIAL_IDENTITY_PROVIDER: str(
    "A",
    "GoogleComputeEngine",
    "The issuer that vouches for the machine's own token; there is no other one.",
    {
      shown: { A: "a cloud compute identity provider" },
    },
  ),
  DISABLE_PROXY: bool("A", false, "Switch off everything that the agent does for a proxy."),
  DNS_FORWARD_PARALLEL: bool("A", false, "Ask all upstream name servers at once and take the first answer."),
  DNS_PROXY_ADDR: str(
    "A",
    "localhost:15053",
    "Where the agent answers DNS. On port 53, as root, no redirection is needed.",
  ),
  ECC_CURVE: choice("A", "P256", ["P256", "P384"], "Curve of ECDSA keys."),
  ECC_SIGNATURE_ALGORITHM: choice("A", "", ["", "ECDSA"], "Kind of elliptic-curve keys; empty: RSA."),
  PROXY_METRICS_PORT: int("A", 15090, "Port on which the proxy serves its own metrics.", { min: 0, max: 65535 }),
  PROXY_SKIP_DEPRECATED_LOGS: bool("A", true, "Leave out the proxy's log lines about deprecated fields."),
  PROXY_STATUS_PORT: int("A", 15021, "Port on which the proxy answers health checks.", { min: 0, max: 65535 }),
  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: bool("A", false, "While draining, end as soon as no client is connected."),
  FILE_DEBOUNCE_DURATION: dur("A", "100ms", "Quiet time after a file change before the file is read.", { min: 0 }),
  FILE_MOUNTED_CERTS: bool("A", false, "Certificates are mounted as files; ask no certificate authority."),
  GRPC_XDS_BOOTSTRAP: str(
    "A",
    "etc/mesh/proxy/grpc-bootstrap.json",
    "Bootstrap file that the agent writes for proxyless gRPC applications.",
  ),
  INSTANCE_IP: str("A", "", "Address of the workload."),
  MESHD_SAN: str("A", "", "Name expected in the server's certificate when its address is not that name."),
  MESH_BOOTSTRAP_OVERRIDE: str("A", "", "File merged over the proxy's bootstrap."),
  MESH_CPU_LIMIT: int("A", 0, "CPU limit of the container, rounded up; 0: none known.", { min: 0 }),
  MESH_PROXY_ENABLE_CORE_DUMP: bool("A", false, "Let a crashing proxy write a core dump."),
  MESH_ORCH_APP_PROBERS: str("A", "", "Probes that the agent makes in the orchestrator's place: JSON, path to probe."),
  MESH_META_CERT_SIGNER: str("A", "", "Signer asked to sign the workload's certificate."),
  MESH_META_CLUSTER_ID: str("A", "", "Cluster of the workload, as reported to the server."),
  MESH_META_DNS_CAPTURE: bool("A", false, "Redirect the workload's DNS to the agent."),
  MESH_META_ENABLE_DNS_SERVER: bool(
    "A",
    false,
    "Answer DNS without redirecting anything, for clients that ask the agent directly.",
  ),
  JWT_POLICY: str("A", "third-party-jwt", "Kind of token by which the workload proves its identity."),
  MINIMUM_DRAIN_DURATION: dur("A", "5s", "Least time of draining before connections are counted.", { min: 0 }),
  OUTPUT_CERTS: str("A", "", "Folder into which key and certificate are written; empty: nowhere."),
  PEER_METADATA_DISCOVERY: bool("A", false, "Find out a peer's metadata by discovery."),
  PKCS8_KEY: bool("A", false, "Write private keys as PKCS#8."),
  PROV_CERT: str("A", "", "Folder of certificates that a machine was given in advance."),
  PROXY_CONFIG: str("A", "", "Proxy configuration, YAML or JSON, over that of the mesh."),
  PROXY_CONFIG_XDS_AGENT: bool("A", false, "Take changes of the proxy configuration from the server."),
  SECRET_GRACE_PERIOD_RATIO: float(
    "A",
    0.5,
    "Part of a certificate's lifetime, counted from its end, in which it is renewed.",
    {
      min: 0,
      max: 1,
    },
  ),
  SECRET_GRACE_PERIOD_RATIO_JITTER: float(
    "A",
    0.01,
    "Random change of that part, either way, so that not all renew at once.",
    {
      min: 0,
      max: 1,
    },
  ),
  SECRET_TTL: dur("A", "24h0m0s", "Certificate lifetime that the agent asks for.", { min: 1 }),
  SERVICE_ACCOUNT: str("A", "", "Service account of the workload."),
  TRUST_DOMAIN: str("A", "cluster.local", "Trust domain of the workload's identity."),
  WASM_HTTP_REQUEST_MAX_RETRIES: int("A", 5, "Attempts to download a Wasm module.", { min: 0 }),
  WASM_HTTP_REQUEST_TIMEOUT: dur("A", "15s", "Time for one such attempt.", { min: 1 }),
  WASM_INSECURE_REGISTRIES: str(
    "A",
    "",
    "Hosts, comma separated, from which Wasm modules may come without a valid certificate.",
  ),
  WASM_MODULE_EXPIRY: dur("A", "24h0m0s", "Age since last use at which a Wasm module is dropped.", { min: 1 }),
  WASM_PURGE_INTERVAL: dur("A", "1h0m0s", "Time between two looks for such modules.", { min: 1 }),
  WORKLOAD_IDENTITY_SOCKET_FILE: str(
    "A",
    "socket",
    "Socket, by name, under `./var/run/secrets/workload-spiffe-uds` that hands out identities instead of the agent.",
  ),
  WORKLOAD_RSA_KEY_SIZE: int("A", 2048, "Bits of a workload's RSA key.", { min: 2048 }),
  XDS_AUTH_PROVIDER: str("A", "", "Provider of the credential shown to the discovery server."),
  XDS_ROOT_CA: str("A", "", "File with the root certificate expected of the discovery server."),
};
