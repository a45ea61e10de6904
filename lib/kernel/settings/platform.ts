/**
 * Variables about the platform, clusters, connections and metrics, used by several programs.
 *
 * @module
 */
import { bool, choice, dur, int, str } from "./define.ts";

/** Platform and cluster variables. */
export const platformSettings = {
  ENABLE_100_CONTINUE_HEADERS: bool("DAC", true, "Pass `100-continue` answers on to the client."),
  ENABLE_DEBUG_ON_HTTP: bool("DAC", true, "Serve the debug pages; best off in production."),
  ENABLE_ENHANCED_DESTINATIONRULE_MERGE: bool(
    "DAC",
    true,
    "Merge destination rules of one host only when they are exported to the same namespaces.",
  ),
  ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT: bool(
    "DAC",
    true,
    "A Gateway API gateway may name an existing deployment's service as its address.",
  ),
  ENABLE_HCM_INTERNAL_NETWORKS: bool("DAC", false, "Address ranges of the mesh networks count as internal for HTTP."),
  ENABLE_INGRESS_WAYPOINT_ROUTING: bool(
    "DAC",
    false,
    "Gateways use a service's waypoint if the service or its namespace has the label `mesh.io/ingress-use-waypoint: true`. Needs PILOT_ENABLE_AMBIENT_WAYPOINTS.",
    { ambient: true },
  ),
  ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: bool(
    "DAC",
    false,
    "AuthorizationPolicies without targetRefs also hold at waypoints, for connections: of the root namespace, of the waypoint's namespace, and by labels. A refused connection gets the status 403. Needs PILOT_ENABLE_AMBIENT_WAYPOINTS.",
  ),
  ENABLE_LEADER_ELECTION: bool("DAC", true, "Run controllers only in the elected instance; off: assume one instance."),
  ENABLE_LOCALITY_WEIGHTED_LB_CONFIG: bool(
    "DAC",
    false,
    "Give every cluster locality weights, not only those whose destination rule asks for it.",
  ),
  ENABLE_MCS_AUTO_EXPORT: bool(
    "DAC",
    false,
    "Export each service to the other clusters unless it is kept cluster-local.",
  ),
  ENABLE_MCS_CLUSTER_LOCAL: bool(
    "DAC",
    false,
    "`svc.namespace.svc.cluster.local` reaches the client's own cluster only. Needs ENABLE_MCS_HOST and ENABLE_MCS_SERVICE_DISCOVERY.",
  ),
  ENABLE_MCS_HOST: bool(
    "DAC",
    false,
    "Serve `svc.namespace.svc.clusterset.local` for exported services. Needs ENABLE_MCS_SERVICE_DISCOVERY.",
  ),
  ENABLE_MCS_SERVICE_DISCOVERY: bool(
    "DAC",
    false,
    "Endpoints are seen in other clusters only when their service is exported.",
  ),
  ENABLE_MULTICLUSTER_HEADLESS: bool(
    "DAC",
    true,
    "Names of headless services resolve to endpoints of every cluster on the same network.",
  ),
  ENABLE_NATIVE_SIDECARS: bool(
    "DAC",
    false,
    "Inject the proxy as a native sidecar (an init container that keeps running).",
  ),
  ENABLE_PROBE_KEEPALIVE_CONNECTIONS: bool(
    "DA",
    false,
    "The agent keeps its connection to the application between probes.",
  ),
  ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY: bool(
    "DAC",
    true,
    "Policies with a workload selector also hold for Gateway API gateways; off: only policies that target them by name.",
  ),
  ENABLE_VTPROTOBUF: bool("DAC", true, "Accepted for compatibility: the encoder here has one mode."),
  PROXY_USER: str("AC", "mesh-proxy", "User name under which the proxy runs; its traffic is not redirected."),
  GRPC_KEEPALIVE_INTERVAL: dur("DAC", "30s", "Silence on a gRPC connection after which the remote end is pinged.", {
    min: 1000,
  }),
  GRPC_KEEPALIVE_TIMEOUT: dur("DAC", "10s", "Time for the answer to that ping before the connection is closed.", {
    min: 1,
  }),
  HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED: bool(
    "DA",
    true,
    "Cut `#fragment` off request paths. Off, a path rule can be evaded.",
  ),
  INBOUND_INTERCEPTION_MODE: choice("DAC", "", ["", "REDIRECT", "TPROXY"], "How inbound connections reach the proxy."),
  INBOUND_TPROXY_MARK: str("DAC", "", "Packet mark of connections taken by TPROXY."),
  MESHD_CUSTOM_HOST: str("DAC", "", "Further host names, comma separated, in the server's own certificate."),
  MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION: bool(
    "DAC",
    true,
    "The agent downloads Wasm modules and gives the proxy a local file.",
  ),
  MESH_BOOTSTRAP: str("DA", "", "Bootstrap template of the proxy, used instead of the built-in one."),
  MESH_DELTA_XDS: bool("DAC", true, "Agents ask for delta discovery: only what changed is sent."),
  MESH_DUAL_STACK: bool("DAC", false, "Serve IPv4 and IPv6 side by side."),
  MESH_ENABLE_CONTROLLER_QUEUE_METRICS: bool(
    "DAC",
    false,
    "Measure depth, waiting and working time of controller queues.",
  ),
  MESH_ENABLE_HTTP2_PROBING: bool("DA", true, "HTTPS probes of the agent may use HTTP/2."),
  MESH_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: bool(
    "DAC",
    false,
    "In IPv6-only clusters, also listen for outbound IPv4.",
  ),
  MESH_GPRC_MAXRECVMSGSIZE: int("DAC", 4194304, "Largest gRPC message accepted, in bytes.", {
    min: 1,
    max: 2 ** 32 - 1,
  }),
  MESH_GPRC_MAXSTREAMS: int("DAC", 100000, "Most gRPC streams open at once on a connection.", {
    min: 1,
    max: 2 ** 32 - 1,
  }),
  MESH_ORCH_CLIENT_CONTENT_TYPE: choice(
    "DAC",
    "protobuf",
    ["protobuf", "json"],
    "Encoding used when calling the orchestrator.",
  ),
  MESH_OUTBOUND_IPV4_LOOPBACK_CIDR: str(
    "DAC",
    "127.0.0.1/32",
    "IPv4 range on the loopback device that means the application itself.",
  ),
  MESH_OUTBOUND_OWNER_GROUPS: str(
    "DAC",
    "*",
    "Groups, by name or number, comma separated, whose outbound traffic is redirected; `*`: all.",
  ),
  MESH_OUTBOUND_OWNER_GROUPS_EXCLUDE: str("DAC", "", "Groups left alone when all (`*`) are redirected."),
  MESH_METRICS_ANNOTATIONS: str(
    "DA",
    "",
    "Where the agent scrapes the application: JSON with `scrape`, `path` and `port`.",
  ),
  MESH_WATCH_NAMESPACE: str("DAC", "", "Watch this one namespace only; empty: all."),
  MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY: bool(
    "DAC",
    true,
    "A workload may register, or report health, only for an entry of its own identity.",
  ),
  ORCH_SERVICE_HOST: str("DAC", "", "Host of the orchestrator's API; set inside a cluster."),
  LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES: bool(
    "DAC",
    false,
    "Name the canonical service in the metadata of services outside the mesh.",
  ),
  LOCAL_CLUSTER_SECRET_WATCHER: bool(
    "DAC",
    false,
    "Look for remote-cluster secrets in the local cluster, not the config cluster.",
  ),
  MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP: int(
    "DAC",
    1,
    "Connections a proxy accepts on a listener per turn of its event loop; 0: no limit.",
    { min: 0 },
  ),
  MCS_API_GROUP: str("DAC", "multicluster.orch.example", "API group of multi-cluster services."),
  MCS_API_VERSION: str("DAC", "v1alpha1", "API version of multi-cluster services."),
  METRICS_LOCALHOST_ACCESS_ONLY: bool("DAC", false, "Answer scrapes from this machine only."),
  METRIC_GRACEFUL_DELETION_INTERVAL: dur(
    "DAC",
    "5m0s",
    "How long an expired metric series is still served; without rotation it means nothing.",
    { min: 0 },
  ),
  METRIC_ROTATION_INTERVAL: dur("DAC", "0s", "Age at which metric series start anew; 0: never.", { min: 0 }),
  MUTEX_PROFILE_FRACTION: int(
    "DAC",
    1000,
    "Accepted for compatibility: a single-threaded event loop has no lock contention.",
    {
      min: 0,
    },
  ),
  POD_NAME: str("DAC", "", "Name of the pod in which the program runs."),
  POD_NAMESPACE: str("DAC", "", "Namespace of the pod in which the program runs.", {
    per: { D: "mesh-system" },
    shown: { C: "the pod's own namespace" },
  }),
  REVISION: str("DC", "", "Revision of this control plane; empty: the default revision."),
  REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION: bool(
    "DA",
    false,
    "The agent probes `localhost` instead of the pod's address.",
  ),
  RESOLVE_HOSTNAME_GATEWAYS: bool(
    "DAC",
    true,
    "Resolve host names of gateways between networks in the server.",
  ),
  SHARED_MESH_CONFIG: str("DAC", "", "Config map with mesh settings under those of the standard one."),
};
