/**
 * One call of a source's `connect`: the wait for the view, the deadline, and the end of the view.
 *
 * @module
 */
import { Code } from "../grpc/codes.ts";
import { remoteDeadline } from "../sockets/patience.ts";
import type { ConnectControl, ConnectRequest, ProxyView, ResourceSource } from "./protocol/source.ts";

/** The events for the owner of the stream. After {@linkcode Connecting.close} only errors of the source come. */
export interface ConnectEvents {
  /** The view came after a wait. */
  opened(view: ProxyView): void;
  /** The source took the view back, or the deadline passed. */
  ended(code: Code, reason: string): void;
  /** The source has decided about pending names. */
  answered(typeUrl: string, names: Iterable<string> | undefined): void;
  /** The source refused the stream after a wait, or failed. */
  failed(error: unknown): void;
}

/** The longest delay of `setTimeout`. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** Closes every view of the source exactly once, in every order of events. */
export class Connecting implements ConnectControl {
  readonly deadline: number;
  readonly #timeout: number;
  readonly #events: ConnectEvents;
  #view: ProxyView | undefined;
  #over = false;
  /** The view comes for certain. */
  #isCertain = false;
  #event = "the source of its configuration to answer";
  /** Calls the deadline off. */
  #inTime: (() => void) | undefined;
  /** Made when the source asks for the signal: most sources answer at once. */
  #abort: AbortController | undefined;

  /** @param timeout milliseconds for the source's answer */
  constructor(timeout: number, events: ConnectEvents) {
    this.#timeout = Math.min(timeout, MAX_TIMEOUT);
    this.#events = events;
    this.deadline = Date.now() + this.#timeout;
  }

  /**
   * Asks the source.
   *
   * @returns the view if the source has the view at once; otherwise the view comes by an event
   * @throws the exception of the source
   */
  start(source: ResourceSource, request: ConnectRequest): ProxyView | undefined {
    const answer = source.connect(request, this);
    if (!("then" in answer)) {
      if (!this.#over) return this.#view = answer;
      // Revoked inside `connect`.
      answer.close();
      return undefined;
    }
    if (!this.#over && !this.#isCertain) this.#inTime = remoteDeadline(this.#timeout, () => this.#late());
    answer.then((view) => this.#came(view)).catch((error) => this.#failed(error));
    return undefined;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#over) this.#abort.abort();
    return this.#abort.signal;
  }

  waitsFor(event: string): void {
    this.#event = event;
  }

  comes(): void {
    this.#isCertain = true;
    this.#inTime?.();
  }

  revoke(code: Code, reason: string): void {
    if (this.#over) return;
    this.#events.ended(code, reason);
    this.close();
  }

  answered(typeUrl: string, names?: Iterable<string>): void {
    if (!this.#over) this.#events.answered(typeUrl, names);
  }

  /** The stream is over: ends the wait, or closes the view. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#inTime?.();
    if (this.#view === undefined) this.#abort?.abort();
    else this.#view.close();
  }

  #late(): void {
    this.revoke(Code.UNAVAILABLE, `waited ${this.#timeout / 1000} s for ${this.#event}`);
  }

  #came(view: ProxyView): void {
    if (this.#over) return view.close();
    this.#inTime?.();
    this.#view = view;
    this.#events.opened(view);
  }

  /** A source throws an AbortError after an aborted wait. An AbortError is not logged. */
  #failed(error: unknown): void {
    if (this.#over && error instanceof DOMException && error.name === "AbortError") return;
    this.#events.failed(error);
  }
}
