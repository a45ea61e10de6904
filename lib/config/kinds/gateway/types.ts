/**
 * Gateway: ports that a standalone proxy listens on.
 *
 * @module
 */
import type { ServerTlsSettings, StringMap } from "../common/types.ts";

/** Spec of a Gateway. */
export interface GatewaySpec {
  /** Ports that the gateway serves. */
  readonly servers: readonly GatewayServerSpec[];
  /** Labels of the gateway workloads; absent: all. */
  readonly selector?: StringMap;
}

/** One listening port. */
export interface GatewayServerSpec {
  /** The port that the gateway listens on. */
  readonly port: GatewayPort;
  /** IP, unix socket path (`unix:///...`) or abstract socket (`unix://@name`); absent: all addresses. */
  readonly bind?: string;
  /** `[namespace/]host`; namespace `*` (any) or `.` (own). */
  readonly hosts: readonly string[];
  /** TLS of the port; HTTPS and TLS need it. */
  readonly tls?: ServerTlsSettings;
  /** Accepted, unused. */
  readonly defaultEndpoint?: string;
  /** Name of the server; part of route names' uniqueness check. */
  readonly name?: string;
}

/** Port of a server. */
export interface GatewayPort {
  /** Number of the port, 1 to 65535; 0 with a Unix socket. */
  readonly number: number;
  /** HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP, TLS, ... as written. */
  readonly protocol: string;
  /** Name of the port, unique among the servers of the gateway. */
  readonly name: string;
  /** Deprecated. */
  readonly targetPort?: number;
}
