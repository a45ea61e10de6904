/**
 * Reports the subscriptions of one stream's client to the view, and ends the wait for pending names.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import type { ProxyView } from "../protocol/source.ts";
import type { SubscriptionChange, Watch } from "./watch.ts";

/** A view that is told of subscriptions. */
export type WantingView = ProxyView & Required<Pick<ProxyView, "want">>;

/** Whether a view is told of subscriptions. */
export function hearsWants(view: ProxyView): view is WantingView {
  return view.want !== undefined;
}

/** An answer that came while the view was asked. */
interface EarlyAnswer {
  readonly watch: Watch;
  readonly names: readonly string[] | undefined;
}

/** The wants of one stream. A type without questions to the view costs one call for each request. */
export class Wants {
  readonly #view: WantingView;
  readonly #timeout: number;
  readonly #onLate: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #early: EarlyAnswer[] | undefined;
  #closed = false;

  /**
   * @param timeout longest time that a name may be pending, in milliseconds
   * @param onLate called when names have been pending for too long: {@linkcode Wants.giveUp} is due
   */
  constructor(view: WantingView, timeout: number, onLate: () => void) {
    this.#view = view;
    this.#timeout = timeout;
    this.#onLate = onLate;
  }

  /** The client has changed its subscription. */
  report(watch: Watch, change: SubscriptionChange): void {
    const { wanted, unwanted } = change;
    if (wanted.size > 0) {
      this.#ask(watch, () => {
        const pending = this.#view.want(watch.typeUrl, wanted);
        watch.postpone(change, pending, performance.now() + this.#timeout);
      });
    }
    if (unwanted.size > 0) this.#view.unwant?.(watch.typeUrl, unwanted);
  }

  /** The client has the given resources from an earlier stream, but they are not visible now. */
  reportKnown(watch: Watch, known: NameSet): void {
    this.#ask(watch, () => {
      watch.postponeKnown(known, this.#view.want(watch.typeUrl, known, true), performance.now() + this.#timeout);
    });
  }

  /**
   * The view may answer while it is still asked, before the names are known as pending. Such an answer is kept until
   * the call returns.
   */
  #ask(watch: Watch, ask: () => void): void {
    const early: EarlyAnswer[] = this.#early = [];
    try {
      ask();
    } finally {
      this.#early = undefined;
    }
    for (const { watch, names } of early) watch.answered(names);
    this.#wait(watch.pendingUntil);
  }

  /** The source has decided about names. */
  answered(watch: Watch, names: Iterable<string> | undefined): void {
    if (this.#early === undefined) watch.answered(names);
    else this.#early.push({ watch, names: names && [...names] });
  }

  /** Names that have been pending for too long count as absent. */
  giveUp(watches: Iterable<Watch>): void {
    const now = performance.now();
    let next = Infinity;
    for (const watch of watches) {
      watch.giveUp(now);
      next = Math.min(next, watch.pendingUntil ?? Infinity);
    }
    if (next < Infinity) this.#wait(next);
  }

  /** All names wait equally long, so that the running timer is always the earliest. */
  #wait(until: number | undefined): void {
    if (until === undefined || this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#onLate();
    }, Math.max(1, until - performance.now()));
  }

  /** The stream is over. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
