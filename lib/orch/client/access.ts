/**
 * How the orchestrator's API is reached: an address, the trusted authorities, and the proof of the caller's identity.
 *
 * @module
 */

/** A user that a client impersonates: the API takes the client for that user, and for nobody else. */
export interface ActingUser {
  readonly user: string;
  readonly groups: readonly string[];
  /** Default: none. */
  readonly uid?: string | undefined;
  /** Further words about the user by their names. Default: none. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** One user at one cluster, as of now. */
export interface ApiAccess {
  /** `https://host:port`, with a path where the API lies behind one; no slash at the end. */
  readonly server: string;
  /** PEM of the authorities of the server's certificate. Default: those of the runtime. */
  readonly ca?: string | undefined;
  /** The server's certificate is not checked, because the user said so. Default: it is. */
  readonly unchecked?: boolean;
  /** PEM of a client certificate and its key. Default: none. */
  readonly identity?: { readonly cert: string; readonly key: string } | undefined;
  /** Value of the header `authorization`. Default: none is sent. */
  readonly authorization?: string | undefined;
  /** The user that the client impersonates at the API. Default: none. */
  readonly actsAs?: ActingUser | undefined;
  /** Address of an HTTP proxy. Default: none. */
  readonly proxy?: string | undefined;
}

/** The source of access; it may give another one each time, because tokens and certificates change. */
export interface AccessSource {
  /**
   * The access as of now.
   *
   * @throws {Error} that names the file and field at fault; asked again, it may succeed.
   */
  current(): ApiAccess | Promise<ApiAccess>;
  /** The API refused the proof of the last access: the next one is read anew. */
  refused(): void;
}
