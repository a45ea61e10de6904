/**
 * The records of the push ledger.
 *
 * @module
 */
import type { RejectInfo } from "./ads/stream_types.ts";
import type { PushedObject, PushFailure } from "./protocol/source.ts";

/** A push and its progress so far. */
export interface PushRecord {
  readonly id: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly objects: readonly PushedObject[];
  readonly full: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Streams connected at the beginning of the push. */
  readonly streams: number;
  /** Streams with at least one response. */
  touched: number;
  /** Touched streams that have not acknowledged yet. */
  pending: number;
  /** Responses, resources, removals and bytes by type. */
  readonly types: Record<string, { responses: number; resources: number; removed: number; bytes: number }>;
  /** Milliseconds from `startedAt` to the last acknowledgement so far. */
  lastAckMs: number;
  /** The slowest proxy so far. */
  slowest: string;
  /** Resources that could not be made or sent. Each is tried again, and the earlier version stays in force. */
  readonly failures: PushFailure[];
}

/** A rejection by a proxy. */
export interface Rejection extends RejectInfo {
  readonly proxy: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A failure in a push. */
export interface FailureRecord extends PushFailure {
  readonly push: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
