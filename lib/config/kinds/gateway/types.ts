/**
 * Gateway: ports that a standalone proxy listens on.
 *
 * @module
 */
import type { ServerTlsSettings, StringMap } from "../common/types.ts";

/** Spec of a Gateway. */
export interface GatewaySpec {
  readonly servers: readonly Server[];
  /** Labels of the gateway workloads; absent: all. */
  readonly selector?: StringMap;
}

/** One listening port. */
export interface Server {
  readonly port: GatewayPort;
  /** IP, unix socket path (`unix:///...`) or abstract socket (`unix://@name`); absent: all addresses. */
  readonly bind?: string;
  /** `[namespace/]host`; namespace `*` (any) or `.` (own). */
  readonly hosts: readonly string[];
  readonly tls?: ServerTlsSettings;
  /** Accepted, unused. */
  readonly defaultEndpoint?: string;
  /** Name of the server; part of route names' uniqueness check. */
  readonly name?: string;
}

/** Port of a server. */
export interface GatewayPort {
  readonly number: number;
  /** HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP, TLS, ... as written. */
  readonly protocol: string;
  readonly name: string;
  /** Deprecated. */
  readonly targetPort?: number;
}
