/**
 * The limits of the HTTP server for a client.
 *
 * @module
 */

/** Limits of a server. Times in milliseconds. */
export interface HttpLimits {
  /** Bytes of a request line with its headers; default 16 KiB. A longer head is answered with 431. */
  readonly headBytes: number;
  /** Time from the start of a connection to the first complete request head; default 10 s. */
  readonly headTime: number;
  /** Time from the head of a request to the end of the body; default 30 s. */
  readonly bodyTime: number;
  /**
   * Time from a response to the next complete request head on the same connection; default 90 s, as in Istio's servers.
   */
  readonly idleTime: number;
  /** Longest time in which a client takes the next 64 KiB of a response; default 30 s. */
  readonly stallTime: number;
  /**
   * Connections at a time; default 1,000. Beyond the limit, a new connection closes the connection that has waited
   * longest for its client.
   */
  readonly connections: number;
  /** Bytes of unfinished bodies, of all clients; default 64 MiB. Above the limit the oldest connection is closed. */
  readonly bodyBytes: number;
  /** Requests that a connection may send before the first answer; default 16. */
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
