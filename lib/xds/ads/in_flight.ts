/**
 * A response on its way, and how a client answers it.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { SetStack } from "./set_stack.ts";

/** A response that the client has not answered yet. */
export interface InFlight {
  readonly nonce: string;
  /** The client's resources before it. */
  before: SetStack;
  /** The resources that it leads to, as they were wanted then. */
  readonly want: SetStack;
  readonly changed: readonly (readonly EncodedResource[])[];
  readonly count: number;
  readonly sentAt: number;
}

/** The kind of answer to a response that a request was. */
export type ResponseAnswer =
  | "ack"
  | "nack"
  /** A rejection of a response that the client has acknowledged before. */
  | "late nack"
  /** Of a response that is not the last one. */
  | "stale"
  /** A repetition. */
  | "none";
