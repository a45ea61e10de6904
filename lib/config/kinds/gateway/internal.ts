/**
 * Fields of a Gateway that only derivations set. The schema of users' Gateways refuses these fields.
 *
 * @module
 */

/** Fields of a whole Gateway. Their presence limits the Gateway to workloads of its own namespace. */
export interface InternalGateway {
  /**
   * Service account of the workloads that may read {@linkcode secrets}. Absent: every account of the Gateway's
   * namespace.
   */
  readonly account?: string;
  /**
   * The Secrets (`namespace/name`) that the Gateway's workloads may read, whatever the rights of their account at the
   * API. A Secret of another namespace is here only if a ReferenceGrant permits the reference.
   */
  readonly secrets: readonly string[];
  /** Name of the credential that the workloads present to backends of a BackendTLSPolicy. Absent: none. */
  readonly clientCredential?: string;
}

/** Fields of a server. */
export interface InternalServer {
  /**
   * Name of the credential with the authorities of clients' certificates, in place of the authorities beside the
   * server's certificate. There may be several names with commas in between.
   */
  readonly clientAuthorities?: string;
  /** A client may show any certificate, or none. The certificate is not verified. */
  readonly acceptsUnverifiedClients?: true;
  /** TLS ends at the server, and the server's `tls` rules choose a destination by server name. */
  readonly routesByServerName?: true;
  /**
   * Hosts of other servers with connections of their own: a request for such a host is answered with 421, so that the
   * client opens another connection. Never a host of this server, unless the host is `*` or covers a host of this server.
   */
  readonly misdirectedHosts?: readonly string[];
}
