/**
 * The limits of the HTTP server for one client.
 *
 * @module
 */

/** Limits of a server. Times in milliseconds. */
export interface HttpLimits {
  /** Bytes of a request line with its headers; default 16 KiB. More is answered with 431. */
  readonly headBytes: number;
  /** Time from a connection's start to its first complete request head; default 10 s. */
  readonly headTime: number;
  /** Time from a request's head to the end of its body; default 30 s. */
  readonly bodyTime: number;
  /** Time from a response to the next complete request head on the same connection; default 90 s, as Istio's servers. */
  readonly idleTime: number;
  /** Time in which a client must take the next 64 KiB of a response; default 30 s. */
  readonly stallTime: number;
  /** Connections at a time; default 1,000. One more closes the one that has been waiting longest for its client. */
  readonly connections: number;
  /** Bytes of bodies that have not come whole, of all clients; default 64 MiB. Above, the oldest connection is closed. */
  readonly bodyBytes: number;
  /** Requests that one connection may send before the first is answered; default 16. */
  readonly pipelined: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  headBytes: 16 * 1024,
  headTime: 10_000,
  bodyTime: 30_000,
  idleTime: 90_000,
  stallTime: 30_000,
  connections: 1000,
  bodyBytes: 64 * 1024 * 1024,
  pipelined: 16,
};
