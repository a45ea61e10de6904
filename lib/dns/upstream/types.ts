/**
 * What forwarding needs of a transport.
 *
 * @module
 */
import type { Endpoint } from "../listen_plan.ts";

/** A name server. One object per server, so that it can be told from others by identity. */
export type Server = Endpoint;

/** What becomes of one question. */
export interface ExchangeEvents {
  /** A well-formed answer to the question; its ID is not that of the client. Its bytes hold during the call only. */
  answered(server: Server, message: Uint8Array): void;
  /** No answer will come from that server. */
  failed(server: Server, reason: string): void;
}

/** One question on its way. */
export interface Exchange {
  /** Sends the question to a server; over UDP it may be sent again. */
  ask(server: Server): void;
  /** Ends it; no event comes afterwards. */
  close(): void;
}

/** UDP or TCP. */
export interface Transport {
  /** Prepares a question; nothing is sent yet. The query is not changed. */
  start(query: Uint8Array, events: ExchangeEvents): Exchange;
  /** Whether a packet that came from `port` of this machine is a question that this transport itself has sent. */
  isOwn(port: number, packet: Uint8Array): boolean;
  close(): void;
}
