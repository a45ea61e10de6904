/**
 * The rejection of a response that the client had acknowledged before.
 *
 *     none ── NACK of the acknowledged nonce ──> standing
 *      ^                                            │
 *      └── ACK of a response that was sent later ───┘
 *          or the acknowledgement is repeated, or the blamed resources are sent again
 *
 * Invariant: one acknowledged response is rejected late once; a repetition of the rejection changes nothing.
 *
 * An agent, for example, acknowledges a Wasm filter that its proxy runs without the module, and says why later. The
 * client keeps the resources: nothing is sent because of a late rejection.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { InFlight } from "./in_flight.ts";
import { rejectedResources } from "./rejected.ts";

/** Resources of an acknowledged response that are kept for a late rejection, which may name them. */
const MAX_KEPT = 100;

export class LateRejection {
  /** The resources that the last acknowledged response changed, when they are few. */
  #taken: InFlight["changed"] = [];
  #nonce = "";
  #standing: { readonly during: InFlight | undefined } | undefined;

  get stands(): boolean {
    return this.#standing !== undefined;
  }

  /** The resources of the last acknowledged response, as far as they are kept. */
  get taken(): readonly EncodedResource[] {
    return this.#taken.flat();
  }

  /** Takes an acknowledgement of a response. */
  acknowledged(response: InFlight): void {
    this.#taken = response.count <= MAX_KEPT ? response.changed : [];
    // A response that was in flight during the late rejection says nothing about the rejected response.
    if (this.#standing?.during !== response) this.#standing = undefined;
  }

  /** Whether a rejection of this nonce was taken before. */
  isRepeated(nonce: string): boolean {
    return nonce === this.#nonce;
  }

  /**
   * Takes the rejection of an acknowledged response.
   *
   * @param inFlight the response that the client has not answered yet
   * @returns the resources that the text names
   */
  take(nonce: string, inFlight: InFlight | undefined, text: string): readonly EncodedResource[] {
    this.#nonce = nonce;
    this.#standing = { during: inFlight };
    return rejectedResources(text, this.taken);
  }

  end(): void {
    this.#standing = undefined;
  }
}
