/**
 * Resources that a client has although the server's record of the client's resources lacks them.
 *
 * A client that asks for a name again gets the resource again, so the record loses the resource. A client may also have
 * a resource from an earlier stream. If such a resource goes, no difference to the record shows the removal, and the name
 * alone does not either: the name may now be a further name of another resource.
 *
 * @module
 */
import { findInStack, type SetStack } from "./set_stack.ts";

const NONE: readonly string[] = [];

/** The names of such resources, of one type on one stream. */
export class UnrecordedResources {
  #names = NONE;
  /** The names that the response in flight settles. */
  #inFlight = NONE;
  readonly #isPending: (name: string) => boolean;

  /** @param isPending Whether the source has yet to decide about a name: the client hears nothing of such a name. */
  constructor(isPending: (name: string) => boolean) {
    this.#isPending = isPending;
  }

  /** The client has these resources, and the record lacks them. */
  add(names: readonly string[]): void {
    if (names.length > 0) this.#names = [...new Set([...this.#names, ...names])];
  }

  /** The names of the resources that the client has and that do not exist. */
  gone(want: SetStack): readonly string[] {
    return this.#names.length === 0 ? NONE : this.#names.filter((name) => this.#isGone(name, want));
  }

  /** A response brings the client from the record to `next`, and removes the resources that are gone. */
  dispatched(want: SetStack, next: SetStack): void {
    if (this.#names.length === 0) return;
    const { settled = [], left = [] } = Object.groupBy(this.#names, (name) => {
      const isReported = findInStack(next, name) !== undefined || this.#isGone(name, want);
      return isReported ? "settled" : "left";
    });
    this.#inFlight = settled;
    this.#names = left;
  }

  /** The client has answered the response in flight. After a rejection the client has what it had before. */
  answered(isRejected: boolean): void {
    const reported = this.#inFlight;
    this.#inFlight = NONE;
    if (isRejected) this.add(reported);
  }

  #isGone(name: string, want: SetStack): boolean {
    return findInStack(want, name) === undefined && !this.#isPending(name);
  }
}
