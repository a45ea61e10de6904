/**
 * The remote end of a connection: the address, and the facts proven by TLS.
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

/** The result of a TLS handshake, with the client's identity if proven. */
export interface TlsState {
  /** `TLSv1.2` or `TLSv1.3`. */
  readonly protocol: string;
  /** Name of the cipher suite, e.g. `TLS_AES_256_GCM_SHA384`. */
  readonly cipher: string;
  /** The server name requested by the client (SNI). */
  readonly serverName?: string;
  /** Whether the client's certificate leads to a trusted authority and is valid now. */
  readonly verified: boolean;
  /**
   * The reason for an unverified client: `no certificate`, a code of OpenSSL such as `UNABLE_TO_VERIFY_LEAF_SIGNATURE`,
   * or a sentence on a resumed session. Undefined: the client is verified.
   */
  readonly unverifiedReason?: string;
  /**
   * The verified certificates in DER, the client's own first, the authority last. Empty unless verified: nothing should
   * be read from a certificate that any client could have made.
   */
  readonly chain: readonly Uint8Array[];
}
