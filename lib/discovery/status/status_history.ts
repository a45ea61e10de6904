/**
 * The statuses that this server has written, so that an equal status is not written again at once, and objects whose
 * numbers change often are written seldom.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { ApiJson } from "../../orch/client/answer.ts";

/**
 * Time before the same status is written again, milliseconds. An API may drop a field that its definition lacks, and
 * another controller may write another status. Without a pause, such writes would never end.
 */
const AGAIN_MS = 60_000;

/**
 * Shortest time between two writes of an object with listeners, milliseconds: the number of attached routes changes with
 * each of a thousand routes.
 */
const SPACING_MS = 1000;

export class StatusHistory {
  readonly #clock: Pick<Clock, "monotonic">;
  /** The last written status of each object by uid, without times, in the order of the writes. */
  readonly #written = new Map<string, { readonly text: string; readonly at: number }>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** The number of remembered writes: those of the last minute. */
  get size(): number {
    return this.#written.size;
  }

  /** Notes a write, and forgets the writes that no longer delay another. @param status Without times. */
  note(uid: string, status: ApiJson): void {
    for (const [written, last] of this.#written) {
      if (this.#age(last) < AGAIN_MS) break;
      this.#written.delete(written);
    }
    this.#written.delete(uid);
    this.#written.set(uid, { text: JSON.stringify(status), at: this.#clock.monotonic() });
  }

  /** Whether the same status was written a moment ago. */
  wroteNow(uid: string, status: ApiJson): boolean {
    const last = this.#written.get(uid);
    return last !== undefined && last.text === JSON.stringify(status) && this.#age(last) < AGAIN_MS;
  }

  /** Whether the last write of an object with listeners is so recent that the next write waits. */
  isSpaced(object: ConfigObject | undefined): boolean {
    if (object?.origin.from !== "api" || (object.kind !== "ApiGateway" && object.kind !== "ListenerSet")) return false;
    const last = this.#written.get(object.origin.uid);
    return last !== undefined && this.#age(last) < SPACING_MS;
  }

  #age({ at }: { readonly at: number }): number {
    return this.#clock.monotonic() - at;
  }
}
