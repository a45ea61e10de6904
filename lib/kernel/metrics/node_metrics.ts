/**
 * Metrics of the agent, of Wasm modules and of the node plugin.
 *
 * @module
 */
import { distribution, gauge, sum } from "./define.ts";

/** Metrics of agent, modules and node. */
export const nodeMetrics = {
  cert_expiry_seconds: gauge("A", "Seconds until a certificate chain expires; negative: it has.", ["resource_name"]),
  dns_requests_total: sum("A", "DNS questions."),
  dns_upstream_failures_total: sum("A", "DNS questions that no upstream answered."),
  dns_upstream_request_duration_seconds: distribution("A", "Seconds for an upstream's DNS answer.", [
    0.001,
    0.005,
    0.01,
    0.1,
    1,
    5,
  ]),
  dns_upstream_requests_total: sum("A", "DNS questions passed upstream."),
  mesh_cni_install_ready: gauge("C", "1 when the plugin is installed."),
  mesh_cni_installs_total: sum("C", "Installations of the plugin, by result.", ["result"]),
  mesh_cni_repair_pods_repaired_total: sum("C", "Broken pods handled, by what was done and its result.", [
    "type",
    "result",
  ]),
  meshd_connection_failures: sum("A", "Connections to the server that could not be made."),
  meshd_connection_terminations: sum("A", "Connections to the server that ended: cancelled, error.", ["type"]),
  nodeagent_reconcile_events_total: sum("C", "Pod events that the node agent handled.", ["type"]),
  num_failed_outgoing_requests: sum("A", "Calls that failed: token exchange, certificate authority and so on.", [
    "request_type",
  ]),
  num_file_secret_failures_total: sum("A", "Certificates that could not be made from files."),
  num_file_watcher_failures_total: sum("A", "Files that could not be watched."),
  num_outgoing_requests: sum("A", "Calls made: token exchange, certificate authority and so on.", ["request_type"]),
  outgoing_latency: sum("A", "Milliseconds spent in such calls, in all.", ["request_type"]),
  proxy_connection_terminations: sum("A", "Connections of the proxy that ended: cancelled, error.", ["type"]),
  wasm_cache_entries: gauge("DA", "Wasm modules in the cache."),
  wasm_cache_lookup_count: sum("DA", "Look-ups of Wasm modules, by whether they were there.", ["hit"]),
  wasm_config_conversion_count: sum("DA", "Filters with a remote Wasm module turned local, by result.", ["result"]),
  wasm_config_conversion_duration: distribution(
    "DA",
    "Milliseconds for that.",
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384],
  ),
  wasm_remote_fetch_count: sum("DA", "Downloads of Wasm modules, by result.", ["result"]),
  xds_proxy_requests: sum("A", "Discovery requests relayed for the proxy."),
  xds_proxy_responses: sum("A", "Discovery answers relayed to the proxy."),
  ztunnel_connected: gauge("C", "Connections of the node tunnel."),
};
