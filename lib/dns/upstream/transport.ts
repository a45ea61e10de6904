/**
 * The interface of a transport, as forwarding needs it.
 *
 * @module
 */
import type { ListenEndpoint } from "../listen_plan.ts";

/** A name server. Each server is a single object, and servers are compared by identity. */
export type NameServer = ListenEndpoint;

/** Receives the results of a question. */
export interface ExchangeEvents {
  /**
   * A server sent a well-formed answer to the question.
   * @param message With another ID than the client's. The bytes are valid during the call only.
   */
  answered(server: NameServer, message: Uint8Array): void;
  /** A server will send no answer; `reason` is for people. */
  failed(server: NameServer, reason: string): void;
}

/** A question under way. */
export interface Exchange {
  /**
   * Sends the question to a server. Over UDP the same server may be asked again. A server that is known to refuse fails
   * during the call.
   */
  ask(server: NameServer): void;
  /** Ends the exchange; no event comes afterwards. */
  close(): void;
}

/** UDP or TCP. */
export interface UpstreamTransport {
  /** Prepares a question; nothing is sent yet. The query is not changed. */
  start(query: Uint8Array, events: ExchangeEvents): Exchange;
  /** Whether a packet from `port` of this machine is a question of this transport. */
  isOwn(port: number, packet: Uint8Array): boolean;
  /** Closes all sockets. */
  close(): void;
}
