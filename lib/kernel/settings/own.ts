/**
 * Variables of this project beyond the shared tables. A file of their own makes each addition a decision, not an
 * accident.
 *
 * @module
 */
import { bool, dur, int, str } from "./define.ts";

/** Our own variables. */
export const ownSettings = {
  PILOT_ENABLE_VHDS: bool(
    "D",
    true,
    "Virtual hosts by VHDS to delta Envoys: one changed rule is one small resource. Off: whole route configurations.",
  ),
  MESH_DEBUG_HOSTS: str(
    "DC",
    "",
    "Names, comma separated, by which debug pages may be asked for, beside IP addresses, localhost and the machine's name.",
  ),
  MESH_SELF_CHECK_INTERVAL: dur(
    "D",
    "10m",
    "Time between two checks that the server knows the same objects as the orchestrator has; differences are repaired and counted. 0: none.",
  ),
  MESH_SELF_SIGNED_CA_DIR: str(
    "D",
    "./var/lib/mesh/authority",
    "Folder in which a self-signed authority keeps its key and its roots; instances of the server may share it.",
  ),
  MESH_AGENT_METRIC_PREFIX: str(
    "A",
    "",
    "Put before every metric name of the agent, for dashboards that expect one (`istio_agent_`).",
  ),
  PROXY_XDS_DEBUG_VIA_AGENT: bool(
    "A",
    true,
    "The agent serves the control plane's debug pages to this machine, as Istio's agent does.",
  ),
  PROXY_XDS_DEBUG_VIA_AGENT_PORT: int("A", 15004, "Port of these pages.", { min: 0, max: 65535 }),
  GCE_METADATA_HOST: str("A", "", "Host, with port, of Google's metadata server, as the cloud's own programs read it."),
  AWS_EC2_METADATA_SERVICE_ENDPOINT: str(
    "A",
    "",
    "Address of Amazon's metadata server, as the cloud's own programs read it.",
  ),
  MESH_STS_EXCHANGE_ENDPOINT: str(
    "A",
    "https://sts.googleapis.com/v1/token",
    "Where GoogleTokenExchange exchanges a token for a federated one; another one in networks with private access.",
  ),
  MESH_STS_ACCESS_ENDPOINT: str(
    "A",
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/service-{project_number}@gcp-sa-meshdataplane.iam.gserviceaccount.com:generateAccessToken",
    "Where GoogleTokenExchange gets an access token for a federated one.",
  ),
  EXCLUDE_NAMESPACES: str("C", "", "Namespaces, comma separated, whose pods the node plugin passes on untouched."),
  MESH_CNI_BIN_DIR: str("C", "/host/opt/cni/bin", "Folder, as seen by the installer, of the node's network plugins."),
  MESH_CNI_HEALTH_PORT: int("C", 8000, "Port of the installer's `/healthz` and `/readyz`.", { min: 0, max: 65535 }),
  MESH_CNI_SERVICE_ACCOUNT_DIR: str(
    "C",
    "/var/run/secrets/kubernetes.io/serviceaccount",
    "Folder of the installer's token and of the orchestrator's CA.",
  ),
  MESH_OWNED_CNI_CONFIG: bool(
    "C",
    false,
    "Chain in a file of our own that sorts before the node's configuration, so that no other program rewrites it.",
  ),
  MESH_OWNED_CNI_CONFIG_FILENAME: str("C", "02-mesh-cni.conflist", "Name of that file."),
  HOME: str("D", "", "Home folder, in which `.kube/config` is looked for last."),
  KUBECONFIG: str("D", "", "Orchestrator config files, separated by colons, where `--orchconfig` names none."),
  ORCH_SERVICE_PORT: str("DC", "443", "Port of the orchestrator's API; set inside a cluster."),
  ORCH_SERVICE_PROTOCOL: str("C", "https", "Protocol of the orchestrator's API."),
  REPAIR_REPAIR_PODS: bool(
    "C",
    false,
    "Redirect the traffic of broken pods of this node where they are; before the others.",
  ),
  SKIP_CNI_BINARIES: str("C", "", "Executables, comma separated, that are not put on the node: it has them already."),
};
