/**
 * The protocol between the runner and the load of certificate requests: a JSON object per line.
 *
 * @module
 */

/** The first line: the authority and the requests. Answered when all connections are open. */
export interface CertificateLoadOptions {
  /** `host:port` of the authority. */
  readonly target: string;
  /** Name in the server's certificate. */
  readonly serverName: string;
  /** The root of the server's certificate, and the caller's identity, as PEM texts. */
  readonly root: string;
  readonly identity: { readonly chain: string; readonly key: string };
  /** The signing request, as PEM, repeated for every certificate. */
  readonly csr: string;
  /** Number of requests in flight, each on a separate connection. */
  readonly inFlight: number;
}

/** A later line. `begin` is answered at once, `end` with the results since `begin`. */
export type CertificateLoadCommand = "begin" | "end";

/** The answer to any line. */
export interface CertificateLoadAnswer {
  readonly issued: number;
  readonly seconds: number;
  readonly errors: readonly string[];
}
