/**
 * The records of the push ledger.
 *
 * @module
 */
import type { RejectInfo } from "./ads/stream_types.ts";
import type { PushedObject, PushFailure } from "./protocol/source.ts";

/** One push, as it went. */
export interface PushRecord {
  readonly id: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly objects: readonly PushedObject[];
  readonly full: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Streams connected when it began. */
  readonly streams: number;
  /** Streams that had something sent. */
  touched: number;
  /** Streams of those that have not acknowledged yet. */
  pending: number;
  /** Responses, resources, removals and bytes by type. */
  readonly types: Record<string, { responses: number; resources: number; removed: number; bytes: number }>;
  /** Milliseconds from `startedAt` to the last acknowledgement so far. */
  lastAckMs: number;
  /** The proxy that took longest so far. */
  slowest: string;
  /** Resources that could not be made or sent, and are tried again; their earlier versions stay in force. */
  readonly failures: PushFailure[];
}

/** A rejection, with the proxy that made it. */
export interface Rejection extends RejectInfo {
  readonly proxy: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A failure, with the push that it is of. */
export interface FailureRecord extends PushFailure {
  readonly push: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
