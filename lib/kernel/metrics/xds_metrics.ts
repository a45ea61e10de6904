/**
 * Metrics of discovery: connections, pushes, rejections, caches.
 *
 * @module
 */
import { distribution, gauge, sum } from "./define.ts";

const SECONDS = [0.01, 0.1, 1, 3, 5, 10, 20, 30];
const QUEUE_SECONDS = [0.1, 0.5, 1, 3, 5, 10, 20, 30];

/** Metrics of the discovery wire. */
export const xdsMetrics = {
  pilot_debounce_time: distribution("D", "Seconds from the first held-back change to its push.", SECONDS),
  pilot_inbound_updates: sum("D", "Updates received, by kind: config, eds, svc, svcdelete.", ["type"]),
  pilot_proxy_convergence_time: distribution(
    "D",
    "Seconds from a change until a proxy has received all that it needs.",
    QUEUE_SECONDS,
  ),
  pilot_proxy_queue_time: distribution("D", "Seconds that a proxy waited for its push.", QUEUE_SECONDS),
  pilot_push_triggers: sum("D", "Pushes by the reason that caused them.", ["type"]),
  pilot_pushcontext_init_seconds: distribution("D", "Seconds to bring the snapshot up to date.", [
    0.01,
    0.1,
    0.5,
    1,
    3,
    5,
  ]),
  pilot_sds_certificate_errors_total: sum("D", "Keys and certificates that could not be fetched for proxies."),
  pilot_total_xds_internal_errors: sum("DAC", "Errors inside the discovery server."),
  pilot_total_xds_rejects: sum("DAC", "Answers that proxies rejected, by resource type.", ["type"]),
  pilot_xds: gauge("D", "Proxies connected, by their version.", ["version"]),
  pilot_xds_cds_reject: gauge("DAC", "Clusters that proxies rejected.", ["node", "err"]),
  pilot_xds_config_size_bytes: distribution(
    "D",
    "Bytes of the configurations pushed, by resource type.",
    [1, 10000, 1000000, 4000000, 10000000, 40000000],
    ["type"],
  ),
  pilot_xds_eds_reject: gauge("DAC", "Endpoints that proxies rejected.", ["node", "err"]),
  pilot_xds_expired_nonce: sum("DAC", "Requests that answered an older response, by resource type.", ["type"]),
  pilot_xds_lds_reject: gauge("DAC", "Listeners that proxies rejected.", ["node", "err"]),
  pilot_xds_push_time: distribution("D", "Seconds to build and send one resource type.", SECONDS, ["type"]),
  pilot_xds_pushes: sum("D", "Pushes, and errors of building and sending, by resource type.", ["type"]),
  pilot_xds_rds_reject: gauge("DAC", "Routes that proxies rejected.", ["node", "err"]),
  pilot_xds_send_time: distribution("DAC", "Seconds to send a built answer.", SECONDS),
  pilot_xds_write_timeout: sum("DAC", "Answers given up because the proxy did not read."),
  xds_cache_dependent_config_size: gauge("DC", "Configuration objects on which cached resources depend."),
  xds_cache_evictions: sum("DC", "Cached resources dropped, by cause: clear, size.", ["type"]),
  xds_cache_reads: sum("DC", "Look-ups in the cache: hit, miss.", ["type"]),
  xds_cache_size: gauge("DC", "Resources in the cache."),
};
