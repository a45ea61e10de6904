/**
 * Callers: a proven identity, or every reason against an identity.
 *
 * @module
 */
import type { WorkloadIdentity } from "../pki/spiffe.ts";
import type { Peer } from "../sockets/transport/peer.ts";

/** The pod of a token. The pod's namespace is the identity's namespace. */
export interface CallerPod {
  readonly name: string;
  readonly uid: string;
}

/** An identity, as proven by an authenticator. */
export interface ProvenIdentity extends WorkloadIdentity {
  /** Absent: the proof names no pod. */
  readonly pod?: CallerPod;
}

/** A caller with a proven identity. */
export interface Caller {
  readonly identity: WorkloadIdentity;
  /** Absent: the proof names no pod. */
  readonly pod?: CallerPod;
  /** Name of the authenticator that accepted the caller. */
  readonly provenBy: string;
}

/** Everything that may prove a caller's identity. */
export interface CallerCredentials {
  /** The remote end of the connection, with the results of TLS. */
  readonly peer: Peer;
  /** Headers of the request, names in lower case. Several headers of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Why an authenticator did not accept a caller. */
export interface AuthenticationFailure {
  /** Name of the authenticator, or `connection` where none was asked. */
  readonly authenticator: string;
  /** Follows the name and a colon. Holds no token and no key. */
  readonly reason: string;
  /** The judge of the proof could not be asked: the same proof may be accepted later. */
  readonly isTemporary?: boolean;
}

/** The caller, or the reasons of all authenticators. */
export type AuthenticationResult =
  | { readonly caller: Caller }
  | { readonly failures: readonly AuthenticationFailure[] };

/** A way to prove an identity. */
export interface Authenticator {
  /** For reasons and logs, e.g. `client certificate`. */
  readonly name: string;
  /**
   * Checks the credentials of a caller.
   *
   * @throws {NotAuthenticated} with the reason why the credentials prove nothing
   */
  authenticate(credentials: CallerCredentials): ProvenIdentity | Promise<ProvenIdentity>;
}

/** The caller's credentials prove nothing; the message is the reason. */
export class NotAuthenticated extends Error {
  override name = "NotAuthenticated";
}

/** The judge of a caller's proof could not be asked. */
export class CannotBeAsked extends NotAuthenticated {
  override name = "CannotBeAsked";
}

/** Whether a refused caller may be accepted with the same proof later. */
export function mayBeAccepted(failures: readonly AuthenticationFailure[]): boolean {
  return failures.some(({ isTemporary }) => isTemporary === true);
}

/** All reasons in one line: `client certificate: none; JWT_RULE: the token has expired`. */
export function failureText(failures: readonly AuthenticationFailure[]): string {
  return failures.map(({ authenticator, reason }) => `${authenticator}: ${reason}`).join("; ");
}
