/**
 * The resources that a client has rejected and still lacks, and the time of the next offer. A client may take a
 * resource later, such as a listener on a port that another program holds now.
 *
 * @module
 */
import { NO_OTHERS, type ProxyView } from "../protocol/source.ts";
import type { ClientRefusals } from "../progress.ts";
import type { AdsRequest } from "./request.ts";
import type { RejectInfo, StreamContext } from "./stream_types.ts";
import type { Watch } from "./watch.ts";

/** Time to the first new offer in milliseconds. Each rejected offer doubles the time. */
const FIRST_OFFER = 10_000;

/** Longest time between two offers, ms. */
const LAST_OFFER = 300_000;

/** The rejections on one stream. */
export class StreamRefusals implements ClientRefusals {
  readonly #view: ProxyView;
  /** Types with a rejection, until the client has acknowledged all resources of the type. */
  readonly #rejecting = new Set<Watch>();

  readonly #later: StreamContext["later"];
  readonly #offer: (watches: readonly Watch[]) => void;
  #delay = FIRST_OFFER;
  #cancel: (() => void) | undefined;

  /** @param offer sends the resources that watches no longer leave out */
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
      // A response was in flight, or the rejected response had been acknowledged before.
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
   * Takes a rejection after the watch, and asks the view for substitutes.
   *
   * @param how `isLate`: the rejected response was acknowledged before; `repeated`: the words are the same as last time
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

  /** Takes the types without a rejection by now. */
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
