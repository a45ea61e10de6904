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
  PILOT_ENABLE_ON_DEMAND_SIDECARS: bool(
    "D",
    false,
    "Injected sidecars get the virtual hosts and clusters that their workloads call, with the first call, instead of those of the whole mesh. The label mesh.io/on-demand of a pod or of its namespace decides otherwise.",
  ),
  MESH_ON_DEMAND_TIMEOUT: dur(
    "D",
    "3s",
    "How long a request or a connection of a sidecar that asks waits for the answer of the server. Then it fails as with a closed port.",
    { min: 100 },
  ),
  MESH_MAX_CONNECTIONS: int(
    "D",
    10_000,
    "Most connections that the server has open at a time. A further connection is closed at once, with a line in the log. A server that is near its limit cannot take back proxies whose lost connections are still open. Each connection needs a file descriptor, and a connected sidecar about 0.1 MB of memory.",
    { min: 1 },
  ),
  MESH_CALLS_LIFETIME: dur(
    "D",
    "168h",
    "For how long the server remembers what a workload has called, after the last call, and hands it to the workload's next sidecar that asks. 0: nothing is remembered.",
  ),
  MESH_CALLS_DIR: str(
    "D",
    "./var/lib/mesh/calls",
    "Folder in which a server without an orchestrator keeps what workloads have called; instances of the server may share it. Empty: a restart forgets.",
  ),
  MESH_HTTP_BY_ADDRESS: bool(
    "D",
    false,
    "A sidecar's request to the address of a service belongs to that service, whatever its Host header says. Costs a listener per HTTP port of each service.",
  ),
  ENABLE_GATEWAY_API_INFERENCE_EXTENSION: bool(
    "D",
    false,
    "HTTPRoutes may lead to InferencePools, whose endpoints a program picks for each request.",
  ),
  MESH_DEBUG_HOSTS: str(
    "DC",
    "",
    "Names, comma separated, by which debug pages may be asked for, beside IP addresses, localhost and the machine's name.",
  ),
  MESH_PROMETHEUS_ADDRESS: str(
    "D",
    "",
    "Address of a Prometheus that scrapes the proxies, such as `http://prometheus.monitoring:9090`: the service graph shows requests and errors, and rollouts stop when errors rise. Empty: none.",
  ),
  MESH_GATEWAY_ROLL_PAUSE: dur(
    "D",
    "30s",
    "Shortest time between two managed Gateways that get new pods for a reason that they share, such as another version of the server. The next Gateway also waits for the pods of the last one. 0: all at once.",
  ),
  MESH_GATEWAY_STATUS_BURST: int(
    "D",
    2000,
    "Status updates of the kinds of the Gateway API that may go out at once; then `PILOT_STATUS_QPS` holds.",
    { min: 1 },
  ),
  MESH_GATEWAY_STATUS_PATIENCE: dur(
    "D",
    "200ms",
    "How long a status of the Gateway API waits for connected proxies, so that an edit is one write where proxies are quick. Then the conditions that need no proxy are written, and the others follow.",
    { min: 0 },
  ),
  MESH_SELF_CHECK_INTERVAL: dur(
    "D",
    "10m",
    "Time between two checks that the server knows the same objects as the orchestrator has; differences are repaired and counted. 0: none.",
  ),
  MESH_WAYPOINT_FAIL_OPEN: bool(
    "D",
    false,
    "Without a usable waypoint, node tunnels and gateways connect to workloads directly, even if a policy is bound that only the waypoint can enforce.",
  ),
  MESH_SELF_SIGNED_CA_DIR: str(
    "D",
    "./var/lib/mesh/authority",
    "Folder in which a self-signed authority keeps its key and its roots; instances of the server may share it.",
  ),
  MESH_ROLLOUT_DEFAULTS: str(
    "D",
    "",
    "Shares of the staged rollouts of objects without the annotation mesh.io/rollout, by kind and namespace, such as `VirtualService=10%,100%; shop/*=25%,100%; shop/Telemetry=100%`. The more specific entry counts.",
  ),
  MESH_ROLLOUT_DIR: str(
    "D",
    "./var/lib/mesh/rollouts",
    "Folder in which a server without an orchestrator keeps its staged rollouts for a restart. Each server needs a folder of its own. Empty: no object is staged.",
  ),
  MESH_ROLLOUT_SOAK: dur(
    "D",
    "5m",
    "Time between the last acknowledgement of a rollout's stage and the next stage, where the object does not say.",
    { min: 0 },
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
  ALLOW_SWITCH_TO_HOST_NS: bool("C", false, "Accepted for compatibility: the agent is in the node's own network."),
  AMBIENT_DISABLE_SAFE_UPGRADE: bool(
    "C",
    false,
    "Each end of the installer takes the plugin and the exemption of probes away, without asking whether another installer comes. Until then, new pods start outside of the mesh.",
  ),
  AMBIENT_DNS_CAPTURE: bool("C", true, "DNS of pods in ambient mode goes to the node tunnel."),
  AMBIENT_ENABLEMENT_SELECTOR: str(
    "C",
    "",
    "Selectors of pods in ambient mode, a YAML list of `podSelector` and `namespaceSelector`; empty: by the label `istio.io/dataplane-mode`.",
  ),
  AMBIENT_IPV6: bool("C", true, "Pods in ambient mode have rules for IPv6 too."),
  AMBIENT_RECONCILE_POD_RULES_ON_STARTUP: bool(
    "C",
    true,
    "Accepted for compatibility: rules in pods are always compared with the wanted rules.",
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
