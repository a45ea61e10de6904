/**
 * What one client has rejected and still lacks.
 *
 * @module
 */
import type { ProxyView } from "../protocol/source.ts";
import type { ClientRefusals } from "../progress.ts";
import type { AdsRequest } from "./request.ts";
import type { RejectInfo } from "./stream_types.ts";
import type { Watch } from "./watch.ts";

/** See the module. One for each stream. */
export class StreamRefusals implements ClientRefusals {
  readonly #view: ProxyView;
  /** Types of which the client has rejected something, until it has acknowledged all that it should have. */
  readonly #rejecting = new Set<Watch>();

  constructor(view: ProxyView) {
    this.#view = view;
  }

  get refuses(): boolean {
    return this.#rejecting.size > 0 || (this.#view.withheld?.size ?? 0) > 0;
  }

  lacks(object: string): string | undefined {
    let found = this.#view.withheld?.get(object);
    for (const { resources } of this.#rejecting) found ||= resources.lacked().get(object) ?? found;
    return found;
  }

  *lacked(): Iterable<readonly [string, string]> {
    yield* this.#view.withheld ?? [];
    for (const { resources } of this.#rejecting) yield* resources.lacked();
  }

  /**
   * Takes a rejection that the watch has taken already.
   *
   * @param how `isLate`: of a response that was acknowledged before; `repeated`: in the same words as the last.
   */
  take(
    watch: Watch,
    { code, message }: NonNullable<AdsRequest["error"]>,
    { isLate, repeated }: { readonly isLate: boolean; readonly repeated: boolean },
  ): RejectInfo {
    const { blamed, hasFound } = watch.resources;
    this.#rejecting.add(watch);
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
    return accepted;
  }
}

const NONE: readonly Watch[] = [];
