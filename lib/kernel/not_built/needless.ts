/**
 * Settings, fields and values that will never have an effect here because nothing exists for them to change, and
 * metrics that would never change.
 *
 * @module
 */
import type { Program } from "../program/program.ts";

/** The settings, with the reason. */
export const NEEDLESS_SETTINGS: Readonly<Record<string, string>> = {
  ALLOW_SWITCH_TO_HOST_NS:
    "the node agent runs in the node's own network (`hostNetwork`), and enters no other to exempt the node's probes",
  AMBIENT_RECONCILE_POD_RULES_ON_STARTUP:
    "the rules in pods are always compared with the wanted rules: at start, and pod after pod from then on",
  HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED: "Envoy has no such switch any more",
  PEER_METADATA_DISCOVERY: "stock Envoy has no such extension",
  USE_REMOTE_CERTS: "a secret `cacerts` of the configuration's API is used wherever no folder has an authority",
  XDS_AUTH_PROVIDER: "what an agent shows is what it has: a certificate of its machine, else its token",
  MESH_ORCH_CLIENT_CONTENT_TYPE:
    "JSON is read, and kinds of definitions have nothing else: protobuf would save 0.05 of 2.7 CPU s of a start with 80,000 endpoints",
  ENABLE_VTPROTOBUF: "the encoder here has one mode",
  MUTEX_PROFILE_FRACTION: "there is no lock to profile in one thread",
  PILOT_CONVERT_SIDECAR_SCOPE_CONCURRENCY: "a scope is made when the first proxy asks for it, and shared",
  PILOT_DISABLE_MX_ALPN: "the protocol `istio-peer-exchange` is never offered: stock Envoy lacks the filter behind it",
  PILOT_ENABLE_ALPN_FILTER: "stock Envoy has no such filter",
  PILOT_UNIFIED_SIDECAR_SCOPE: "scopes are made in one way only",
  PILOT_XDS_CACHE_INDEX_CLEAR_INTERVAL: "what indexes a cached resource goes with it",
  PILOT_XDS_CACHE_SIZE: "build results are shared by all proxies, and bounded for each host (256 variants), not in all",
  UNSAFE_PILOT_ENABLE_DELTA_TEST: "property tests show that deltas are the least",
  UNSAFE_PILOT_ENABLE_RUNTIME_ASSERTIONS: "assertions are tests here",
};

/** Fields of the mesh configuration, with the reason. */
export const NEEDLESS_MESH_FIELDS: Readonly<Record<string, string>> = {
  ca: "agents name an authority elsewhere by CA_ADDR; Istio does not read the field either",
  verifyCertificateAtClient:
    "DestinationRules say whether and by which authorities clients verify a server; Istio does not read the field either",
};

/** Ignored values of fields, with the reason. A warning names each given value. */
export const NEEDLESS_VALUES: Readonly<Record<string, string>> = {
  "configSources[].address k8s://CLUSTER":
    "a control plane in that cluster serves its configuration at xds://HOST:PORT; Istio reads nothing from there either",
};

const QUEUES = ["pilot_worker_queue_depth", "pilot_worker_queue_duration", "pilot_worker_queue_latency"];
const NO_QUEUE = "it has no queues of controllers: it watches nothing of the orchestrator";
const NO_PROXIES = "it serves no proxies";
const NO_TRANSLATION = "it reads no configuration and no services";
const OF_AGENTS = "agents do this work, and count it";

/**
 * Metrics without a use in a program, by program, with the reason. The program's metrics page leaves these metrics out.
 */
export const NEEDLESS_METRICS: Readonly<Record<Program, Readonly<Record<string, string>>>> = {
  "pilot-discovery": all(OF_AGENTS, [
    "num_outgoing_retries",
    "scrape_failures_total",
    "scrapes_total",
    "wasm_cache_entries",
    "wasm_cache_lookup_count",
    "wasm_config_conversion_count",
    "wasm_config_conversion_duration",
    "wasm_remote_fetch_count",
  ]),
  "pilot-agent": all(NO_QUEUE, QUEUES),
  "install-cni": {
    ...all(NO_QUEUE, QUEUES),
    ...all(NO_PROXIES, [
      "pilot_total_xds_internal_errors",
      "pilot_total_xds_rejects",
      "pilot_xds_cds_reject",
      "pilot_xds_eds_reject",
      "pilot_xds_expired_nonce",
      "pilot_xds_lds_reject",
      "pilot_xds_rds_reject",
      "pilot_xds_send_time",
      "pilot_xds_write_timeout",
      "xds_cache_dependent_config_size",
      "xds_cache_evictions",
      "xds_cache_reads",
      "xds_cache_size",
    ]),
    ...all(NO_TRANSLATION, [
      "endpoint_no_pod",
      "pilot_conflict_inbound_listener",
      "pilot_conflict_outbound_listener_tcp_over_current_tcp",
      "pilot_destrule_subsets",
      "pilot_dns_cluster_without_endpoints",
      "pilot_duplicate_proxy_clusters",
      "pilot_eds_no_instances",
      "pilot_endpoint_not_ready",
      "pilot_jwks_resolver_network_fetch_fail_total",
      "pilot_jwks_resolver_network_fetch_success_total",
      "pilot_no_ip",
      "pilot_total_rejected_configs",
      "pilot_virt_services",
      "pilot_vservice_dup_domain",
      "provider_lookup_cluster_failures",
    ]),
  },
};

function all(reason: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}

/** Programs without a use for a metric, each with the reason. */
export function needlessIn(metric: string): [program: string, reason: string][] {
  return Object.entries(NEEDLESS_METRICS).flatMap(([program, { [metric]: reason }]) =>
    reason === undefined ? [] : [[program, reason]]
  );
}
