/**
 * PILOT_ variables that steer the server: pushes, caches, controllers, status, registries.
 *
 * @module
 */
import { bool, choice, dur, float, int, str } from "./define.ts";

/** Variables of the server's inner workings. */
export const controlPlaneSettings = {
  PILOT_ANALYSIS_INTERVAL: dur("DAC", "10s", "Time between analyses, where PILOT_ENABLE_ANALYSIS is on.", { min: 1 }),
  PILOT_CONVERT_SIDECAR_SCOPE_CONCURRENCY: int("DAC", 1, "Scopes computed at the same time.", { min: 1 }),
  PILOT_DEBOUNCE_AFTER: dur(
    "DAC",
    "100ms",
    "Quiet time after a change before it is pushed; each further change starts it anew.",
    {
      min: 0,
    },
  ),
  PILOT_DEBOUNCE_MAX: dur("DAC", "10s", "Longest time changes that never pause are held back.", { min: 0 }),
  PILOT_ENABLE_ALPHA_GATEWAY_API: bool(
    "DAC",
    false,
    "Read the alpha versions of the Gateway API's kinds, where the cluster serves no later version, and its experimental kinds.",
  ),
  PILOT_ENABLE_AMBIENT: bool("DAC", false, "Ambient mode; nothing of it works without."),
  PILOT_ENABLE_AMBIENT_WAYPOINTS: bool(
    "DAC",
    false,
    "Serve waypoints, the proxies in front of services in ambient mode.",
    {
      ambient: true,
    },
  ),
  PILOT_ENABLE_ANALYSIS: bool("DAC", false, "Analyse configuration and write the findings into each object's status."),
  PILOT_ENABLE_CDS_CACHE: bool("DAC", true, "Keep encoded clusters. Needs PILOT_ENABLE_XDS_CACHE."),
  PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY: bool(
    "DAC",
    true,
    "Read workload entries of remote clusters, for services of their cluster and for service entries.",
  ),
  PILOT_ENABLE_EDS_DEBOUNCE: bool("DAC", true, "Hold back endpoint changes like others: fewer pushes, a little later."),
  PILOT_ENABLE_GATEWAY_API: bool(
    "DAC",
    true,
    "Read the Gateway API from the cluster; its definitions must be installed.",
  ),
  PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER: bool(
    "DAC",
    true,
    "Create deployment and service for each Gateway API gateway.",
  ),
  PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER: bool("DAC", true, "Create the default gateway classes."),
  PILOT_ENABLE_GATEWAY_API_STATUS: bool("DAC", true, "Write status into Gateway API objects."),
  PILOT_ENABLE_IP_AUTOALLOCATE: bool(
    "DAC",
    true,
    "Give service entries without an address one of their own, so that TCP connections to them can be recognized.",
  ),
  PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS: bool("DAC", false, "Take the taint off nodes whose plugin pod is ready."),
  PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES: bool(
    "DAC",
    true,
    "Services of the orchestrator select workload entries by label.",
  ),
  PILOT_ENABLE_RDS_CACHE: bool("DAC", true, "Keep encoded routes. Needs PILOT_ENABLE_XDS_CACHE."),
  PILOT_ENABLE_SERVICEENTRY_SELECT_PODS: bool("DAC", true, "Service entries with a selector select pods."),
  PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION: bool(
    "DAC",
    true,
    "A connecting workload of a WorkloadGroup gets its WorkloadEntry.",
  ),
  PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS: bool(
    "DAC",
    true,
    "Workload entries carry the health that their agent reports.",
  ),
  PILOT_ENABLE_XDS_CACHE: bool("DAC", true, "Keep encoded resources and share them between proxies."),
  PILOT_GATEWAY_API_CONTROLLER_NAME: str(
    "DAC",
    "mesh.io/gateway-controller",
    "Controller name that a gateway class must carry to be ours.",
  ),
  PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME: str("DAC", "mesh", "Name of the default gateway class."),
  PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS: str(
    "DAC",
    "",
    "Ways of authentication, comma separated, allowed in remote-cluster secrets although they run code or read files: an auth provider's name, `clientKey`, `clientCertificate`, `certificateAuthority`, `tokenFile`, `exec`.",
  ),
  PILOT_JWT_ENABLE_REMOTE_JWKS: choice(
    "DAC",
    "false",
    ["meshd", "false", "hybrid", "true", "proxy"],
    "The program that fetches token keys: the server (`meshd`, `false`), the proxy (`proxy`), or the proxy with the server for keys outside the mesh (`hybrid`, `true`).",
  ),
  PILOT_JWT_PUB_KEY_REFRESH_INTERVAL: dur("DAC", "20m0s", "Time between two fetches of token keys by the server.", {
    min: 1,
  }),
  PILOT_MAX_REQUESTS_PER_SECOND: float(
    "DAC",
    0,
    "Discovery streams accepted per second; 0: by the number of cores.",
    { min: 0 },
  ),
  PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: bool("DAC", true, "Labelled Gateway API gateways join networks."),
  PILOT_PROXY_FILTER_STATS: bool("DAC", false, "Count which ProxyFilter patches applied."),
  PILOT_PUSH_THROTTLE: int("DAC", 0, "Pushes under way at the same time; 0: by the number of cores.", { min: 0 }),
  PILOT_REMOTE_CLUSTER_TIMEOUT: dur(
    "DAC",
    "30s",
    "Longest time that readiness waits for remote clusters; 0: as long as it takes.",
    { min: 0 },
  ),
  PILOT_SCOPE_GATEWAY_TO_NAMESPACE: bool("DAC", false, "A Gateway selects workloads of its own namespace only."),
  PILOT_STATUS_BURST: int("DAC", 500, "Status updates that may go out at once.", { min: 1 }),
  PILOT_STATUS_MAX_WORKERS: int("DAC", 100, "Status updates under way at the same time.", { min: 1 }),
  PILOT_STATUS_QPS: int("DAC", 100, "Status updates per second.", { min: 1 }),
  PILOT_STATUS_UPDATE_INTERVAL: dur("DAC", "500ms", "Time between two rounds of distribution status.", { min: 1 }),
  PILOT_UNIFIED_SIDECAR_SCOPE: bool("DAC", true, "Accepted for compatibility: scopes are computed in one way."),
  PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: dur(
    "DAC",
    "10s",
    "How long an auto-registered workload may be away from every server before its entry is removed.",
    { min: 0 },
  ),
  PILOT_XDS_CACHE_INDEX_CLEAR_INTERVAL: dur("DAC", "5s", "Time between two clean-ups of the cache's index.", {
    min: 1,
  }),
  PILOT_XDS_CACHE_SIZE: int("DAC", 60000, "Most entries in the cache of encoded resources.", { min: 1 }),
  PILOT_XDS_CACHE_STATS: bool("DAC", false, "Count hits, misses and evictions of that cache."),
};
