/**
 * Metrics of controllers, clusters, webhooks, certificates and the process.
 *
 * @module
 */
import { distribution, gauge, sum } from "./define.ts";

const QUEUE_SECONDS = [0.01, 0.1, 0.2, 0.5, 1, 3, 5];

/** Metrics of the orchestrator's side, of certificates and of the process. */
export const platformMetrics = {
  ambient_meshd_managed_clusters: gauge("D", "Clusters managed for ambient mode: local, remote.", [
    "ambient_cluster_type",
  ]),
  ambient_remote_cluster_sync_timeouts_total: sum(
    "D",
    "Remote clusters left out at start, for ambient mode, because they were slow.",
    [
      "cluster",
    ],
  ),
  citadel_server_authentication_failure_count: sum("D", "Certificate requests whose sender was not proven."),
  citadel_server_cert_chain_expiry_seconds: gauge(
    "D",
    "Seconds until the certificate chain expires; negative: it has.",
  ),
  citadel_server_cert_chain_expiry_timestamp: gauge(
    "D",
    "Unix time, in seconds, at which the certificate chain expires.",
  ),
  citadel_server_csr_count: sum("D", "Certificate requests."),
  citadel_server_csr_parsing_err_count: sum("D", "Certificate requests that could not be read."),
  citadel_server_csr_sign_err_count: sum("D", "Certificate requests that could not be signed, by error.", ["error"]),
  citadel_server_id_extraction_err_count: sum("D", "Certificate requests without a readable identity."),
  citadel_server_root_cert_expiry_seconds: gauge("D", "Seconds until the root expires; negative: it has."),
  citadel_server_root_cert_expiry_timestamp: gauge("D", "Unix time, in seconds, at which the root expires."),
  citadel_server_success_cert_issuance_count: sum("D", "Certificates issued."),
  controller_sync_errors_total: sum("DC", "Watches of the orchestrator that failed, by cluster.", ["cluster"]),
  galley_validation_config_load_error: sum("D", "Webhook configurations that could not be loaded.", ["reason"]),
  galley_validation_config_update_error: sum("D", "Webhook configurations that could not be updated.", ["reason"]),
  galley_validation_config_updates: sum("D", "Webhook configurations updated."),
  galley_validation_failed: sum("D", "Objects found invalid.", ["group", "version", "resource", "reason"]),
  galley_validation_http_error: sum("D", "Validation requests answered with an HTTP error.", ["status"]),
  galley_validation_passed: sum("D", "Objects found valid.", ["group", "version", "resource"]),
  mesh_build: gauge("DAC", "Build of the component; always 1.", ["component", "tag"]),
  meshd_managed_clusters: gauge("D", "Clusters managed: local, remote.", ["cluster_type"]),
  meshd_uptime_seconds: gauge("D", "Seconds since the server started."),
  num_outgoing_retries: sum("DA", "Calls made again: token exchange, certificate authority and so on.", [
    "request_type",
  ]),
  pilot_info: gauge("D", "Version of the server; always 1.", ["version"]),
  pilot_k8s_cfg_events: sum("D", "Configuration events of the orchestrator.", ["type", "event"]),
  pilot_k8s_endpoints_pending_pod: gauge("D", "Endpoints that wait for their pod."),
  pilot_k8s_endpoints_with_no_pods: sum("D", "Endpoints that came without a pod."),
  pilot_k8s_reg_events: sum("D", "Registry events of the orchestrator.", ["type", "event"]),
  pilot_worker_queue_depth: gauge("DAC", "Items in a controller's queue.", ["queueID"]),
  pilot_worker_queue_duration: distribution("DAC", "Seconds to work on an item.", QUEUE_SECONDS, ["queueID"]),
  pilot_worker_queue_latency: distribution("DAC", "Seconds that an item waited.", QUEUE_SECONDS, ["queueID"]),
  provider_lookup_cluster_failures: sum(
    "DC",
    "Look-ups of a telemetry or authorization provider's cluster that failed.",
  ),
  remote_cluster_sync_timeouts_total: sum("D", "Remote clusters left out at start because they were slow.", [
    "cluster",
  ]),
  scrape_failures_total: sum("DA", "Scrapes of a source that failed or broke off: envoy, application, agent.", [
    "type",
  ]),
  scrapes_total: sum("DA", "Scrapes."),
  sidecar_injection_failure_total: sum("D", "Injections that failed."),
  sidecar_injection_requests_total: sum("D", "Injections asked for."),
  sidecar_injection_skip_total: sum("D", "Injections left out because the pod did not want one."),
  sidecar_injection_success_total: sum("D", "Injections done."),
  sidecar_injection_time_seconds: distribution("D", "Seconds for an injection.", [0.1, 1, 3, 5, 10, 20, 30, 60]),
  startup_duration_seconds: gauge("DA", "Seconds from the start of the process until it was ready."),
  webhook_patch_attempts_total: sum("D", "Attempts to keep a webhook configuration's CA current.", ["name"]),
  webhook_patch_failures_total: sum("D", "Such attempts that failed.", ["name", "reason"]),
  webhook_patch_retries_total: sum("D", "Such attempts made again.", ["name"]),
};
