/**
 * The configuration of redirection to the node tunnel, as checked values.
 *
 * The tunnel's sockets are in the pod's own network namespace. The tunnel marks its packets, so that its own connections
 * are told from the application's.
 *
 * @module
 */
import type { Family } from "./names.ts";

/** Redirection of a pod in ambient mode. */
export interface AmbientConfig {
  readonly kind: "ambient";
  /** Families with rules. */
  readonly families: readonly Family[];
  /** Source address, without prefix length, of the node's own packets to the pod: probes. */
  readonly probeSource: Readonly<Record<Family, string>>;
  /** False for a pod that takes connections from outside of the mesh itself, such as an ingress. */
  readonly capturesInbound: boolean;
  /** DNS goes to the tunnel. */
  readonly capturesDns: boolean;
  /** Devices of virtual machines. Their traffic counts as outbound. */
  readonly virtualInterfaces: readonly string[];
}

/** Ports of the tunnel's sockets in the pod. The tunnel knows the same numbers. */
export const tunnelPorts = {
  /** Plain inbound connections. */
  inboundPlain: 15006,
  /** Inbound tunnels (HBONE). */
  inboundTunnel: 15008,
  outbound: 15001,
  dns: 15053,
} as const;

/** A mark with the bits that count. */
interface MaskedMark {
  readonly value: number;
  readonly mask: number;
}

/** Bits of marks in use here. The other bits belong to network plugins. */
const MASK = 0xfff;

/** Mark of all packets that the tunnel sends. */
export const tunnelMark: MaskedMark = { value: 0x539, mask: MASK };

/** Mark of the application's answers to connections that the tunnel opened in the client's name. */
export const answerMark: MaskedMark = { value: 0x111, mask: MASK };

/** Table that delivers packets with {@link answerMark} to the tunnel's sockets, and the priority of its rule. */
export const answerRoute = { table: 100, priority: 32764 } as const;
