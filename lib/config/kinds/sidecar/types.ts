/**
 * Sidecar: the listeners of a workload's proxy, and the hosts that it needs to know.
 *
 * @module
 */
import type { ConnectionPoolSettings, LabelsSelector, ServerTlsSettings } from "../common/types.ts";
import type { Destination } from "../virtual_service/types.ts";

/** Spec of a Sidecar. */
export interface SidecarSpec {
  /** Absent: the default of the namespace (of the mesh, in the root namespace). */
  readonly workloadSelector?: LabelsSelector;
  /** Absent: derived from the workload's services. */
  readonly ingress?: readonly SidecarIngress[];
  /** Absent: inherited from the mesh-wide default. */
  readonly egress?: readonly SidecarEgress[];
  /** Limits and timeouts of connections to the workload. */
  readonly inboundConnectionPool?: ConnectionPoolSettings;
  /** The treatment of traffic to unknown destinations; absent: as the mesh configuration says. */
  readonly outboundTrafficPolicy?: OutboundTrafficPolicy;
}

/** How a listener captures traffic. DEFAULT: as the proxy's mode says. */
export type CaptureMode = "DEFAULT" | "IPTABLES" | "NONE";

/** Port of a sidecar listener. */
export interface SidecarPort {
  /** Number of the port; absent with a Unix socket. */
  readonly number?: number;
  /** Protocol, such as HTTP or TCP. */
  readonly protocol?: string;
  /** Name of the port. */
  readonly name?: string;
  /** Deprecated. */
  readonly targetPort?: number;
}

/** One inbound listener. */
export interface SidecarIngress {
  /** The port that the proxy takes traffic of. */
  readonly port: SidecarPort;
  /** IP; absent: the workload's. */
  readonly bind?: string;
  /** Default DEFAULT. */
  readonly captureMode: CaptureMode;
  /** `127.0.0.1:PORT`, `0.0.0.0:PORT`, `[::1]:PORT`, `[::]:PORT` or `unix:///path`; absent: same port of the workload. */
  readonly defaultEndpoint?: string;
  /** TLS of connections from outside. */
  readonly tls?: ServerTlsSettings;
  /** Limits and timeouts of connections to the workload. */
  readonly connectionPool?: ConnectionPoolSettings;
}

/** One outbound listener, and the hosts reachable through it. */
export interface SidecarEgress {
  /** Absent: all ports of the imported services. */
  readonly port?: SidecarPort;
  /** IP or unix socket; absent: per capture mode. */
  readonly bind?: string;
  /** Default DEFAULT. */
  readonly captureMode: CaptureMode;
  /** `namespace/host`; namespace `*`, `.` (own) or `~` (none). */
  readonly hosts: readonly string[];
}

/** Traffic to unknown destinations. */
export interface OutboundTrafficPolicy {
  /** Default REGISTRY_ONLY (when the message is written at all). */
  readonly mode: "REGISTRY_ONLY" | "ALLOW_ANY";
  /** Send unknown traffic there instead. */
  readonly egressProxy?: Destination;
}
