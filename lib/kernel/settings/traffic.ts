/**
 * PILOT_ variables that shape the configuration of proxies: filters, listeners, clusters, sessions, telemetry.
 *
 * @module
 */
import { bool, dur, float, str } from "./define.ts";

/** Variables that change translated proxy configuration. */
export const trafficSettings = {
  PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: bool(
    "DAC",
    false,
    "A Sidecar with ingress listeners keeps those of the service's own ports.",
  ),
  PILOT_AUTO_ALLOW_WAYPOINT_POLICY: bool(
    "DAC",
    false,
    "Each workload behind a waypoint gets a policy that admits the waypoint; so, without other policies, nothing else.",
  ),
  PILOT_DISABLE_MX_ALPN: bool("DAC", false, "Do not offer the ALPN `mesh-peer-exchange` in TLS handshakes."),
  PILOT_DNS_CARES_UDP_MAX_QUERIES: str(
    "DAC",
    "100",
    "Queries on one UDP socket of a proxy's resolver; 0: no limit.",
    { form: { pattern: /^\d{1,9}$/, expected: "a whole number from 0 to 999999999" } },
  ),
  PILOT_DNS_JITTER_DURATION: dur("DAC", "100ms", "Random time added to a proxy's periodic name resolution.", {
    min: 0,
  }),
  PILOT_DRAINING_LABEL: str("DAC", "mesh.io/draining", "Label that makes an endpoint DRAINING; empty: none does."),
  PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN: bool(
    "DAC",
    true,
    "Virtual hosts also answer to the absolute name, with a dot at the end.",
  ),
  PILOT_ENABLE_ALPN_FILTER: bool("DAC", true, "Set the ALPN by which protocols are recognised on the other side."),
  PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES: bool(
    "DAC",
    false,
    "Send endpoints of headless services, so that the proxy balances over their pods.",
  ),
  PILOT_ENABLE_METADATA_EXCHANGE: bool("DAC", true, "Let proxies exchange workload metadata for telemetry."),
  PILOT_ENABLE_MONGO_FILTER: bool("DAC", true, "Understand the MongoDB protocol on ports that declare it."),
  PILOT_ENABLE_MYSQL_FILTER: bool("DAC", false, "Understand the MySQL protocol on ports that declare it."),
  PILOT_ENABLE_PERSISTENT_SESSION_FILTER: bool(
    "DAC",
    false,
    "Keep sessions on one endpoint for services labelled for it (PILOT_PERSISTENT_SESSION_LABEL).",
  ),
  PILOT_ENABLE_QUIC_LISTENERS: bool(
    "DAC",
    false,
    "Listen for HTTP/3 where a gateway ends TLS and its service has a UDP port of the same number.",
  ),
  PILOT_ENABLE_REDIS_FILTER: bool("DAC", false, "Understand the Redis protocol on ports that declare it."),
  PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION: bool("DAC", true, "Put virtual hosts with the same routes into one."),
  PILOT_ENABLE_SENDING_HBONE: bool("DAC", false, "Proxies may open tunnels (HBONE) to destinations that take them.", {
    ambient: true,
  }),
  PILOT_ENABLE_SIDECAR_LISTENING_HBONE: bool("DAC", false, "Proxies may be configured to accept tunnels (HBONE).", {
    ambient: true,
  }),
  PILOT_ENABLE_TELEMETRY_LABEL: bool(
    "DAC",
    true,
    "Name workload and service in the metadata of clusters and endpoints.",
  ),
  PILOT_ENDPOINT_TELEMETRY_LABEL: bool("DAC", true, "Name the workload in the metadata of endpoints."),
  PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: bool("DAC", false, "A gateway gets only the clusters to which its routes lead."),
  PILOT_HTTP10: bool("DAC", false, "Outbound listeners take HTTP/1.0."),
  PILOT_MX_ADDITIONAL_LABELS: str("DAC", "", "Further workload labels, comma separated, that proxies exchange."),
  PILOT_PERSISTENT_SESSION_HEADER_LABEL: str(
    "DAC",
    "mesh.io/persistent-session-header",
    "Service label whose value names the header of persistent sessions.",
  ),
  PILOT_PERSISTENT_SESSION_LABEL: str(
    "DAC",
    "mesh.io/persistent-session",
    "Service label whose value names the cookie of persistent sessions.",
  ),
  PILOT_PREFER_SENDING_HBONE: bool(
    "DAC",
    false,
    "Where a destination takes both, tunnel (HBONE) instead of plain mutual TLS.",
  ),
  PILOT_SEND_UNHEALTHY_ENDPOINTS: bool(
    "DAC",
    false,
    "Send unhealthy endpoints, marked as such and not balanced to, and never panic-route.",
  ),
  PILOT_SIDECAR_USE_REMOTE_ADDRESS: bool(
    "DAC",
    false,
    "Outbound listeners of sidecars take the remote address of the connection as the client's.",
  ),
  PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY: bool(
    "DAC",
    false,
    "A gateway reports a tracing span of its own for each upstream request.",
  ),
  PILOT_TRACE_SAMPLING: float("DAC", 1, "Percent of requests traced, 0 to 100 in steps of 0.01.", { min: 0, max: 100 }),
};
