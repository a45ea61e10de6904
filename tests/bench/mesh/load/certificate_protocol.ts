/**
 * What the runner and the load of certificate requests say to each other: one JSON object a line.
 *
 * @module
 */

/** Whom to ask, and how; the first line. It is answered when all connections are open. */
export interface CertificateLoadOptions {
  /** `host:port` of the authority. */
  readonly target: string;
  /** Name that the server's certificate has. */
  readonly serverName: string;
  /** The root of the server's certificate, and what the caller shows, as PEM texts. */
  readonly root: string;
  readonly identity: { readonly chain: string; readonly key: string };
  /** The signing request, as PEM; the same again and again. */
  readonly csr: string;
  /** Requests in flight, each on a connection of its own. */
  readonly inFlight: number;
}

/** A later line: `begin` is answered at once, `end` with what came since. */
export type CertificateLoadCommand = "begin" | "end";

/** The answer to any line. */
export interface CertificateLoadAnswer {
  readonly issued: number;
  readonly seconds: number;
  readonly errors: readonly string[];
}
