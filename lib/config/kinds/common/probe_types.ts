/**
 * Readiness probes of workloads outside the orchestrator.
 *
 * @module
 */

/** HTTP probe. */
export interface HttpHealthCheck {
  /** Path of the request; absent: /. */
  readonly path?: string;
  /** Port of the workload. */
  readonly port: number;
  /** Host of the request; absent: the workload's address. */
  readonly host?: string;
  /** HTTP (default) or HTTPS. */
  readonly scheme?: string;
  /** Headers of the request. */
  readonly httpHeaders?: readonly {
    /** Name of the header. */
    readonly name?: string;
    /** Value of the header. */
    readonly value?: string;
  }[];
}

/** How a workload outside the orchestrator is probed. At most one method is set. */
export interface ReadinessProbe {
  /** Seconds from the start to the first probe. */
  readonly initialDelaySeconds?: number;
  /** Absent: 1. */
  readonly timeoutSeconds?: number;
  /** Absent: 10. */
  readonly periodSeconds?: number;
  /** Absent: 1. */
  readonly successThreshold?: number;
  /** Absent: 3. */
  readonly failureThreshold?: number;
  /** An HTTP request that must be answered with 200 to 399. */
  readonly httpGet?: HttpHealthCheck;
  /** A port that must accept a connection. */
  readonly tcpSocket?: {
    /** Host; absent: the workload's address. */
    readonly host?: string;
    /** Number of the port. */
    readonly port: number;
  };
  /** A command that must end with 0. */
  readonly exec?: {
    /** The command and its arguments. */
    readonly command: readonly string[];
  };
  /** A port with the gRPC health service. */
  readonly grpc?: {
    /** Number of the port. */
    readonly port: number;
    /** Service that is asked for; absent: the server as a whole. */
    readonly service?: string;
  };
}
