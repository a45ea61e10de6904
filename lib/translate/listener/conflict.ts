/**
 * Conflicts of outbound listeners: contributions that are not served because another host or the proxy has the place.
 *
 * @module
 */
import { protocolText } from "../../registry/protocol.ts";
import type { Protocol } from "../../registry/types.ts";
import { type Finding, lossOf } from "../../finding/finding.ts";

/** Why a contribution, or a chain of one, is not in its listener. */
export type ConflictReason =
  /** Another TCP chain matches the same connections (metric `pilot_conflict_outbound_listener_tcp_over_current_tcp`). */
  | "tcpOverTcp"
  /** All connections to the address go to a TCP service already. */
  | "httpOverTcp"
  /** Everything at the address is HTTP already. */
  | "tcpOverHttp"
  /** The TCP side of a port whose protocol is sniffed: another host has the listener already. */
  | "autoOverAuto"
  /** Servers of MySQL and MongoDB speak first: their port cannot be shared with another protocol. */
  | "serverSpeaksFirst"
  /** Envoy matches server names whole or with `*.` in front, nothing else. */
  | "unsupportedServerName"
  /** The port belongs to the proxy itself. */
  | "reservedPort"
  /** An unprivileged proxy cannot listen on ports below 1024. */
  | "privilegedPort";

/** Something that was asked for and is not served. */
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

/** The listener, who has it, and who is not served. */
export function conflictText({ listener, accepted, rejected, rejectedProtocol }: ListenerConflict): string {
  return `${listener}: ${accepted} has it, so ${rejected} (protocol ${protocolText(rejectedProtocol)}) is not served`;
}
