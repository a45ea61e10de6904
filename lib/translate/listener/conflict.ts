/**
 * Conflicts of outbound listeners: contributions that are not served because another host or the proxy has the place.
 *
 * @module
 */
import { protocolText } from "../../registry/protocol.ts";
import type { Protocol } from "../../registry/types.ts";
import { type Finding, lossOf } from "../../finding/finding.ts";

/** Why a contribution, or a single chain, is not in the listener. */
export type ConflictReason =
  /** Another TCP chain matches the same connections (metric `pilot_conflict_outbound_listener_tcp_over_current_tcp`). */
  | "tcpOverTcp"
  /** All connections to the address go to a TCP service already. */
  | "httpOverTcp"
  /** Everything at the address is HTTP already. */
  | "tcpOverHttp"
  /** The TCP side of a port with a sniffed protocol: another host already has the listener. */
  | "autoOverAuto"
  /** Servers of MySQL and MongoDB speak first, so the port cannot be shared with another protocol. */
  | "serverSpeaksFirst"
  /** Envoy matches server names whole or with `*.` in front, nothing else. */
  | "unsupportedServerName"
  /** The port is one of the proxy's own. */
  | "reservedPort"
  /** An unprivileged proxy cannot listen on ports below 1024. */
  | "privilegedPort";

/** A requested contribution that is not served. */
export interface ListenerConflict {
  /** Name of the listener. */
  readonly listener: string;
  readonly reason: ConflictReason;
  /** The owner: a host, or the proxy. */
  readonly accepted: string;
  readonly rejected: string;
  readonly rejectedProtocol: Protocol;
  /** Causes of the rejected contribution. */
  readonly causes: readonly string[];
}

/** The conflict in words. */
export function listenerFinding(conflict: ListenerConflict): Finding {
  const { reason, causes } = conflict;
  const text = `listener ${conflictText(conflict)}`;
  return lossOf(reason === "tcpOverTcp" ? "tcp-listener-conflict" : "listener-conflict", causes, text);
}

/** The listener, the owner, and the host without service. */
export function conflictText({ listener, accepted, rejected, rejectedProtocol }: ListenerConflict): string {
  return `${listener}: ${accepted} has the listener, so ${rejected} (protocol ${
    protocolText(rejectedProtocol)
  }) is not served`;
}
