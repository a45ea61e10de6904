/**
 * Trees shared by many resources, with names for goldens.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";

const AGENT = {
  api_config_source: {
    api_type: "GRPC",
    grpc_services: [{ envoy_grpc: { cluster_name: "sds-grpc" } }],
    set_node_on_first_message_only: true,
    transport_api_version: "V3",
  },
};

const PREVIOUS_HOSTS = {
  name: "envoy.retry_host_predicates.previous_hosts",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate" },
};

const BLOCKS: Readonly<Record<string, unknown>> = {
  "<asked of the agent>": { ...AGENT, initial_fetch_timeout: "0s", resource_api_version: "V3" },
  "<asked of the agent, up to 15 s>": { ...AGENT, resource_api_version: "V3" },
  "<asked of the server>": { ads: {}, initial_fetch_timeout: "0s", resource_api_version: "V3" },
  "<cipher suites of the mesh>": [
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-GCM-SHA256",
  ],
  "<no limits>": {
    max_connections: 4294967295,
    max_pending_requests: 4294967295,
    max_requests: 4294967295,
    max_retries: 4294967295,
    track_remaining: true,
  },
  "<plain socket>": {
    name: "envoy.transport_sockets.raw_buffer",
    typed_config: { "@type": "type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer" },
  },
  "<retries of the mesh>": {
    retry_on: "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes",
    num_retries: 2,
    retry_host_predicate: [PREVIOUS_HOSTS],
    host_selection_retry_max_attempts: "5",
  },
  "<previous hosts>": PREVIOUS_HOSTS,
  "<default fields>": {
    start_time: "%START_TIME%",
    method: "%REQ(:METHOD)%",
    path: "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
    protocol: "%PROTOCOL%",
    response_code: "%RESPONSE_CODE%",
    response_flags: "%RESPONSE_FLAGS%",
    response_code_details: "%RESPONSE_CODE_DETAILS%",
    connection_termination_details: "%CONNECTION_TERMINATION_DETAILS%",
    upstream_transport_failure_reason: "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
    bytes_received: "%BYTES_RECEIVED%",
    bytes_sent: "%BYTES_SENT%",
    duration: "%DURATION%",
    upstream_service_time: "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%",
    x_forwarded_for: "%REQ(X-FORWARDED-FOR)%",
    user_agent: "%REQ(USER-AGENT)%",
    request_id: "%REQ(X-REQUEST-ID)%",
    authority: "%REQ(:AUTHORITY)%",
    upstream_host: "%UPSTREAM_HOST%",
    upstream_cluster: "%UPSTREAM_CLUSTER_RAW%",
    upstream_local_address: "%UPSTREAM_LOCAL_ADDRESS%",
    downstream_local_address: "%DOWNSTREAM_LOCAL_ADDRESS%",
    downstream_remote_address: "%DOWNSTREAM_REMOTE_ADDRESS%",
    requested_server_name: "%REQUESTED_SERVER_NAME%",
    route_name: "%ROUTE_NAME%",
  },
};

/** A tree with blocks replaced by their names. A block with any difference is kept. */
export function withBlocks(tree: unknown): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  const found = Object.entries(BLOCKS).find(([, block]) => isDeepStrictEqual(tree, block));
  if (found !== undefined) return found[0];
  if (Array.isArray(tree)) return tree.map(withBlocks);
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, withBlocks(value)]));
}
