/**
 * The inbound targets of a proxy: one per port of the workload that clients may dial. Inbound clusters and listeners
 * are built from the same list, so their names agree.
 *
 * @module
 */
import type { ConnectionPoolSettings, ServerTlsSettings } from "../../config/kinds/common/schema.ts";
import type { CaptureMode } from "../../config/kinds/sidecar/schema.ts";
import type { Service, ServicePort } from "../../registry/types.ts";

/** A port at the workload, from a service that selects the workload or from the ingress list of a `Sidecar`. */
export interface InboundTarget {
  /** The port that clients dial at the workload, 1-65535: the endpoint's port, or the port of the Sidecar ingress. */
  readonly port: number;
  /** The service port behind the target. For a Sidecar ingress: its own port with the written protocol. */
  readonly servicePort: ServicePort;
  /**
   * The service of the target. Of several services on one port: the oldest. Absent: a Sidecar ingress without a
   * matching service.
   */
  readonly service?: Service;
  /** Further services on the same port of the workload. Only telemetry names these services. */
  readonly otherServices?: readonly Service[];
  /**
   * The service ports on the same port of the workload, of any service, beside `servicePort` of `service`. Of a Sidecar
   * ingress: all service ports. Connections from other networks name them.
   */
  readonly otherPorts?: readonly NamedServicePort[];
  /** Further service ports on the same port of the workload, with another protocol. Their protocol has no effect. */
  readonly rejected?: readonly RejectedPort[];
  /** IP address to listen on, if other than the captured address (Sidecar ingress). */
  readonly bind?: string;
  /**
   * The written destination of the traffic: `127.0.0.1:PORT`, `[::1]:PORT`, `0.0.0.0:PORT`, `[::]:PORT` (the workload's
   * own address) or `unix:///path`. Absent: the dialled address.
   */
  readonly defaultEndpoint?: string;
  /**
   * IP addresses of the workload, set only if needed: `defaultEndpoint` refers to an own address (`0.0.0.0`, `[::]`),
   * or the proxy opens real sockets (capture mode NONE) without a `bind`.
   */
  readonly workloadAddresses?: readonly string[];
  /** TLS that the proxy ends in place of the workload (Sidecar ingress). */
  readonly tls?: ServerTlsSettings;
  readonly captureMode: CaptureMode;
  /**
   * Connection pool of the Sidecar for the port: from the ingress entry, else from `inboundConnectionPool`. Replaces
   * the pool of the destination rule.
   */
  readonly connectionPool?: ConnectionPoolSettings;
  readonly fromSidecarIngress: boolean;
  /** The `Sidecar` of the ingress, `namespace/name`. Named in causes and in the metadata of filter chains. */
  readonly sidecar?: string;
}

/** A port of a service by names. */
export interface NamedServicePort {
  readonly namespace: string;
  readonly host: string;
  readonly port: number;
}

/** A service port whose protocol has no effect at the workload. */
export interface RejectedPort {
  readonly service: Service;
  readonly port: ServicePort;
}

/** Name of the cluster for the port's traffic to the workload, `inbound|8080||`. */
export function inboundClusterName(port: number): string {
  return `inbound|${port}||`;
}
