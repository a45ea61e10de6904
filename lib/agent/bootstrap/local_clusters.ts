/**
 * Static clusters of a proxy's own machine: its admin page, the agent, and the agent's sockets.
 *
 * @module
 */
import { assignment, type EnvoyJson, http2Options, pipeAddress, tcpAddress } from "./envoy_json.ts";

/** Ports and sockets of the parts beside a proxy. */
export interface LocalPorts {
  readonly localhost: string;
  readonly adminPort: number;
  /** The agent's status port. */
  readonly agentPort: number;
  /** Socket of the xDS stream. */
  readonly xdsSocket: string;
  /** Socket of the workload's certificate. */
  readonly sdsSocket: string;
  /** Socket of certificates in files, if another program serves the workload's certificate. */
  readonly filesSocket: string | undefined;
  /** Socket of another program's credentials. */
  readonly credentialSocket: string | undefined;
}

export function localClusters(local: LocalPorts): EnvoyJson[] {
  const { localhost, adminPort, agentPort, xdsSocket, sdsSocket, filesSocket, credentialSocket } = local;
  return [
    // Users name this cluster in patches and templates.
    localCluster("prometheus_stats", tcpAddress(localhost, adminPort), "0.250s"),
    localCluster("agent", tcpAddress(localhost, agentPort), "0.250s"),
    socketCluster("sds-grpc", sdsSocket),
    ...filesSocket === undefined ? [] : [socketCluster("sds-files-grpc", filesSocket)],
    ...credentialSocket === undefined ? [] : [socketCluster("sds-external", credentialSocket)],
    {
      ...socketCluster("xds-grpc", xdsSocket),
      circuit_breakers: { thresholds: [unlimited("DEFAULT"), unlimited("HIGH")] },
      upstream_connection_options: { tcp_keepalive: { keepalive_time: 300 } },
    },
  ];
}

function localCluster(name: string, address: EnvoyJson, connect_timeout: string): EnvoyJson {
  return {
    name,
    type: "STATIC",
    connect_timeout,
    lb_policy: "ROUND_ROBIN",
    load_assignment: assignment(name, address),
  };
}

/** A gRPC server behind a Unix socket. */
function socketCluster(name: string, path: string): EnvoyJson {
  return { ...localCluster(name, pipeAddress(path), "1s"), typed_extension_protocol_options: http2Options() };
}

/** Circuit breakers must never keep the proxy from the proxy's own configuration. */
function unlimited(priority: "DEFAULT" | "HIGH"): EnvoyJson {
  const most = 100_000;
  return { priority, max_connections: most, max_pending_requests: most, max_requests: most };
}
