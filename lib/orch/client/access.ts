/**
 * How the orchestrator's API is reached: an address, the trusted authorities, and the proof of the caller's identity.
 *
 * @module
 */

/** A user that a client impersonates: the API treats the client as this user. */
export interface ActingUser {
  readonly user: string;
  readonly groups: readonly string[];
  /** Default: none. */
  readonly uid?: string | undefined;
  /** Further properties of the user by name. Default: none. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The present access of a user to a cluster. */
export interface ApiAccess {
  /** `https://host:port`, followed by a path if the API lies behind a path; no slash at the end. */
  readonly server: string;
  /** PEM of the authorities of the server's certificate. Default: the runtime's authorities. */
  readonly ca?: string | undefined;
  /** Whether the user turned the check of the server's certificate off. Default: false. */
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

/** A source of access. The access may change each time, because tokens and certificates change. */
export interface AccessSource {
  /**
   * The present access.
   *
   * @throws {Error} that names the file and field at fault. A later call may succeed.
   */
  current(): ApiAccess | Promise<ApiAccess>;
  /** Called when the API refused the last access. The next access is read anew. */
  refused(): void;
}
