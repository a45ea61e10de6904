/**
 * The inbound targets of a proxy: one for each port of its workload that clients may dial. Inbound clusters and inbound
 * listeners are both built from the same list, so that their names meet.
 *
 * @module
 */
import type { ConnectionPoolSettings, ServerTlsSettings } from "../../config/kinds/common/types.ts";
import type { CaptureMode } from "../../config/kinds/sidecar/types.ts";
import type { Service, ServicePort } from "../../registry/types.ts";

/** One port at the workload, from a service that selects it or from the ingress list of its `Sidecar`. */
export interface InboundTarget {
  /** The port that clients dial at the workload, 1-65535: the endpoint's port, or the port of the Sidecar ingress. */
  readonly port: number;
  /** The service port behind it; for a Sidecar ingress its own port with the protocol that the user wrote. */
  readonly servicePort: ServicePort;
  /** The service that it serves; several on one port: the oldest. Absent: a Sidecar ingress that matches no service. */
  readonly service?: Service;
  /** Further services on the same port of the workload; only telemetry names them. */
  readonly otherServices?: readonly Service[];
  /** Further service ports on it, of other services or of the same one, that say another protocol, which they do not get. */
  readonly rejected?: readonly RejectedPort[];
  /** IP address to listen on when it is not the captured one (Sidecar ingress). */
  readonly bind?: string;
  /**
   * Where the proxy sends it, as the user wrote: `127.0.0.1:PORT`, `[::1]:PORT`, `0.0.0.0:PORT`, `[::]:PORT` (the
   * workload's own address) or `unix:///path`. Absent: the address that was dialled.
   */
  readonly defaultEndpoint?: string;
  /**
   * IP addresses of the workload; set only where they matter: `defaultEndpoint` asks for them (`0.0.0.0`, `[::]`), or
   * the proxy listens for real (capture mode NONE) and no `bind` says where.
   */
  readonly workloadAddresses?: readonly string[];
  /** TLS that the proxy terminates in place of the workload (Sidecar ingress). */
  readonly tls?: ServerTlsSettings;
  readonly captureMode: CaptureMode;
  /** Pool of the Sidecar for this port (its ingress entry, else its `inboundConnectionPool`): replaces the destination rule's. */
  readonly connectionPool?: ConnectionPoolSettings;
  readonly fromSidecarIngress: boolean;
  /** The `Sidecar` that lists it, `namespace/name`; named in causes and in the metadata of the proxy's chains. */
  readonly sidecar?: string;
}

/** A service port whose protocol does not hold at the workload. */
export interface RejectedPort {
  readonly service: Service;
  readonly port: ServicePort;
}

/** Name of the cluster that carries traffic of this port to the workload, `inbound|8080||`. */
export function inboundClusterName(port: number): string {
  return `inbound|${port}||`;
}
