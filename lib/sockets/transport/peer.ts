/**
 * The remote end of a connection: its address, and the facts that TLS proved about it.
 *
 * @module
 */

/** The remote end of a connection. */
export interface Peer {
  /** `address:port` on TCP, the path of the socket file on a Unix socket. */
  readonly address: string;
  /** Undefined on a connection in plain text. */
  readonly tls?: TlsState;
}

/** The result of a TLS handshake, and whether the client proved its identity. */
export interface TlsState {
  /** `TLSv1.2` or `TLSv1.3`. */
  readonly protocol: string;
  /** Name of the cipher suite, e.g. `TLS_AES_256_GCM_SHA384`. */
  readonly cipher: string;
  /** The server name that the client asked for (SNI). */
  readonly serverName?: string;
  /** Whether the client's certificate leads to a trusted authority and is valid now. */
  readonly verified: boolean;
  /**
   * Why the client is not verified: `no certificate`, a code of OpenSSL such as `UNABLE_TO_VERIFY_LEAF_SIGNATURE`, or a
   * sentence on a resumed session. Undefined when it is verified.
   */
  readonly unverifiedReason?: string;
  /**
   * The verified certificates in DER, the client's own first, the authority last. Empty unless verified: nothing should
   * be read from a certificate that any client could have made.
   */
  readonly chain: readonly Uint8Array[];
}
