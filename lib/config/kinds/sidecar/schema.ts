/**
 * Sidecar: the listeners of a workload's proxy, and the hosts that the proxy needs.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, string, uint32 } from "../../schema/scalars.ts";
import { connectionPool, labelsSelector, serverTls } from "../common/schema.ts";
import { destination } from "../virtual_service/schema.ts";

const port = message({
  /** Number of the port; absent with a Unix socket. */
  number: uint32(),
  /** Protocol, such as HTTP or TCP. */
  protocol: string(),
  /** Name of the port. */
  name: string(),
  /** Deprecated. */
  targetPort: uint32(),
});

/** Port of a sidecar listener. */
export interface SidecarPort extends Of<typeof port> {}

const captureMode = withDefault(enumOf("DEFAULT", "IPTABLES", "NONE"), "DEFAULT");

const sidecarIngress = message({
  /** The port of the captured traffic. */
  port: required(port, "a port with number and protocol"),
  /** IP; absent: the workload's. */
  bind: string(),
  /** Default DEFAULT. */
  captureMode,
  /** `127.0.0.1:PORT`, `0.0.0.0:PORT`, `[::1]:PORT`, `[::]:PORT` or `unix:///path`; absent: same port of the workload. */
  defaultEndpoint: string(),
  /** TLS of connections from outside. */
  tls: serverTls,
  /** Limits and timeouts of connections to the workload. */
  connectionPool,
});

/** An inbound listener. */
export interface SidecarIngress extends Of<typeof sidecarIngress> {}

const sidecarEgress = message({
  /** Absent: all ports of the imported services. */
  port,
  /** IP or unix socket; absent: per capture mode. */
  bind: string(),
  /** Default DEFAULT. */
  captureMode,
  /** `namespace/host`; namespace `*`, `.` (own) or `~` (none). */
  hosts: required(list(string()), "at least one host, as namespace/host"),
});

/** An outbound listener, and the hosts reachable through the listener. */
export interface SidecarEgress extends Of<typeof sidecarEgress> {}

const outboundTrafficPolicy = message({
  /** Default REGISTRY_ONLY (when the message is written at all). */
  mode: withDefault(enumOf("REGISTRY_ONLY", "ALLOW_ANY"), "REGISTRY_ONLY"),
  /** Send unknown traffic there instead. */
  egressProxy: destination,
});

/** Traffic to unknown destinations. */
export interface OutboundTrafficPolicy extends Of<typeof outboundTrafficPolicy> {}

export const sidecar = message({
  /** Absent: the default of the namespace (of the mesh, in the root namespace). */
  workloadSelector: labelsSelector,
  /** Absent: derived from the workload's services. */
  ingress: list(sidecarIngress),
  /** Absent: inherited from the mesh-wide default. */
  egress: list(sidecarEgress),
  /** Limits and timeouts of connections to the workload. */
  inboundConnectionPool: connectionPool,
  /** The treatment of traffic to unknown destinations; absent: as the mesh configuration says. */
  outboundTrafficPolicy,
});

/** Spec of a Sidecar. */
export interface SidecarSpec extends Of<typeof sidecar> {}

/** How a listener captures traffic. DEFAULT: as the proxy's mode says. */
export type CaptureMode = SidecarIngress["captureMode"];
