/**
 * Fields of a DestinationRule that only derivations set. The schema of users' DestinationRules refuses these fields.
 *
 * @module
 */

import type { RuleSession } from "../virtual_service/internal.ts";

/** TLS from proxies to a backend, from a BackendTLSPolicy. */
export interface BackendTls {
  /** Number of the service's port. Absent: every port without an entry of its own. */
  readonly port?: number;
  /** Why nobody may connect: the backend's certificate could not be verified. Absent: proxies may connect. */
  readonly closed?: string;
  /** Server name in the handshake. */
  readonly sni: string;
  /** The backend's certificate must have one of these names. Never empty. */
  readonly subjectAltNames: readonly string[];
  /**
   * Name of the credential with the authorities (`configmap://NAMESPACE/NAME`), or several names with commas in between.
   * Absent: the authorities of the system.
   */
  readonly authorities?: string;
}

/** A limit of retries to a backend, from an XBackendTrafficPolicy. */
export interface RetryBudget {
  /** Share of requests that may be retries, 0 to 100. */
  readonly percent: number;
  /** The requests of this time count, milliseconds. */
  readonly interval: number;
  /** Number of retries at once that are allowed whatever the share is. */
  readonly least: number;
}

/** Fields of a whole DestinationRule. Such a rule is no rule of the host: it adds to whatever rule is in force. */
export interface InternalDestinationRule {
  /** At most one entry for each port, and one entry without a port. Absent: no BackendTLSPolicy targets the host. */
  readonly backendTls?: readonly BackendTls[];
  /** Absent: no limit of this sort. */
  readonly retryBudget?: RetryBudget;
  /** Session of requests to the host. Absent: none. */
  readonly session?: RuleSession;
}
