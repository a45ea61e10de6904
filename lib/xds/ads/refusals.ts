/**
 * What one client has rejected and still lacks, and when it is offered again: a client may take later what it cannot take
 * now, such as a listener on a port that another program holds.
 *
 * @module
 */
import { NO_OTHERS, type ProxyView } from "../protocol/source.ts";
import type { ClientRefusals } from "../progress.ts";
import type { AdsRequest } from "./request.ts";
import type { RejectInfo, StreamContext } from "./stream_types.ts";
import type { Watch } from "./watch.ts";

/** Time to the first new offer, ms; it doubles with each offer that is rejected as well. */
export const FIRST_OFFER = 10_000;

/** Longest time between two offers, ms. */
export const LAST_OFFER = 300_000;

/** See the module. One for each stream. */
export class StreamRefusals implements ClientRefusals {
  readonly #view: ProxyView;
  /** Types of which the client has rejected something, until it has acknowledged all that it should have. */
  readonly #rejecting = new Set<Watch>();

  readonly #later: StreamContext["later"];
  readonly #offer: (watches: readonly Watch[]) => void;
  #delay = FIRST_OFFER;
  #cancel: (() => void) | undefined;

  /** @param offer Sends again what watches do not leave out any more. */
  constructor(view: ProxyView, later: StreamContext["later"], offer: (watches: readonly Watch[]) => void) {
    this.#view = view;
    this.#later = later;
    this.#offer = offer;
  }

  /** Nothing is offered any more. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #offerLater(): void {
    this.#cancel ??= this.#later(this.#delay, () => {
      this.#cancel = undefined;
      this.#delay = Math.min(2 * this.#delay, LAST_OFFER);
      const offered = [...this.#rejecting].filter(({ resources }) => resources.offerAgain());
      if (offered.length > 0) this.#offer(offered);
      // A response was under way, or what is rejected was acknowledged before.
      if (this.#rejecting.size > 0) this.#offerLater();
    });
  }

  get refuses(): boolean {
    return this.#rejecting.size > 0 || (this.#view.withheld?.size ?? 0) > 0;
  }

  lacks(object: string): string | undefined {
    const withheld = this.#view.withheld?.get(object);
    if (withheld !== undefined) return withheld;
    let found: string | undefined;
    for (const { resources } of this.#rejecting) found ||= resources.lacked().get(object) ?? found;
    return found;
  }

  *lacked(): Iterable<readonly [string, string]> {
    yield* this.#view.withheld ?? [];
    for (const { resources } of this.#rejecting) yield* resources.lacked();
  }

  /**
   * Takes a rejection that the watch has taken already, and asks the view for others.
   *
   * @param how `isLate`: of a response that was acknowledged before; `repeated`: in the same words as the last.
   */
  take(
    watch: Watch,
    { code, message }: NonNullable<AdsRequest["error"]>,
    { isLate, repeated }: { readonly isLate: boolean; readonly repeated: boolean },
  ): RejectInfo {
    const { resources } = watch;
    const { blamed, hasFound } = resources;
    this.#rejecting.add(watch);
    this.#offerLater();
    if (!isLate) {
      const whole = resources.refusedWhole;
      const concerned = blamed.length > 0 ? blamed : whole;
      const earlier = (name: string) => resources.earlier(name);
      const { isOpen, also } = this.#view.rejected?.(watch.typeUrl, concerned, message, earlier, whole) ?? NO_OTHERS;
      if (also.length > 0) resources.leaveOut(also, message);
      if (isOpen && blamed.length === 0) resources.hold();
    }
    return {
      ...{ typeUrl: watch.typeUrl, code, message, repeated: repeated && !hasFound, late: isLate },
      resources: blamed.map(({ name }) => name),
      causes: [...new Set(blamed.flatMap(({ causes }) => causes))],
    };
  }

  /** Takes the types of which the client rejects nothing any more. */
  takeAccepted(): readonly Watch[] {
    if (this.#rejecting.size === 0) return NONE;
    const accepted = [...this.#rejecting].filter(({ clean, resources }) => clean && !resources.rejecting);
    for (const watch of accepted) this.#rejecting.delete(watch);
    if (this.#rejecting.size === 0) {
      this.close();
      this.#delay = FIRST_OFFER;
    }
    return accepted;
  }
}

const NONE: readonly Watch[] = [];
