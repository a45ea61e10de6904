/**
 * The worker for large reviews: a separate thread, so that no push waits for a review.
 *
 * Permissions: env (variables that packages read when they are loaded).
 *
 * @module
 */
import { lookAtReview, type ReviewLook, type ReviewSubject } from "./look.ts";

/** A question to the worker. */
export interface ReviewQuestion {
  readonly subject: ReviewSubject;
  readonly body: Uint8Array;
}

/** A worker's end of the channel. */
interface ReviewWorkerScope {
  onmessage: ((event: { readonly data: ReviewQuestion }) => void) | null;
  postMessage(look: ReviewLook): void;
}

const scope = globalThis as unknown as ReviewWorkerScope;

scope.onmessage = ({ data: { subject, body } }) => {
  scope.postMessage(lookAtReview(subject, new TextDecoder().decode(body)));
};
