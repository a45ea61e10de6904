/**
 * A response under way, and the client's answer.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { SetStack } from "./set_stack.ts";

/** A response that the client has not answered yet. */
export interface InFlight {
  readonly nonce: string;
  /** The client's resources before the response. */
  before: SetStack;
  /** The wanted resources at the time of the response. The response leads there. */
  readonly want: SetStack;
  readonly changed: readonly (readonly EncodedResource[])[];
  readonly count: number;
  readonly sentAt: number;
}

/** A response at the time of sending. */
export type SentResponse = Omit<InFlight, "before" | "want">;

/** The meaning of a request as an answer to a response. */
export type ResponseAnswer =
  | "ack"
  | "nack"
  /** A rejection of an already acknowledged response. */
  | "late nack"
  /** An answer to a response before the last one. */
  | "stale"
  /** A repetition. */
  | "none";
