/**
 * Objects of the Gateway API that wait for proxies. An object is looked at again when a proxy has acknowledged or refused
 * something, or when the patience with its proxies ends. An object without proxies costs nothing in between.
 *
 * @module
 */
import { KEPT_MS, PENDING_MS } from "../../gateway_api/status/live.ts";

/** What was found out about an object. */
export interface WaitingState {
  readonly generation: number;
  /** Whether the object waits for proxies. */
  readonly isUnsettled: boolean;
  readonly hasProxies: boolean;
}

interface WaitingObject {
  readonly generation: number;
  readonly hasProxies: boolean;
  readonly since: number;
  /** Time of the last look. */
  readonly at: number;
}

export class WaitingObjects {
  readonly #objects = new Map<string, WaitingObject>();
  readonly #patiences: readonly number[];

  /** @param moment For how long a whole status waits for proxies, milliseconds. */
  constructor(moment: number) {
    this.#patiences = [moment, PENDING_MS, KEPT_MS];
  }

  /** Notes a look at an object. @returns how long the object has waited, milliseconds */
  note(key: string, { generation, isUnsettled, hasProxies }: WaitingState, now: number): number {
    const known = this.#objects.get(key);
    if (!isUnsettled) {
      this.#objects.delete(key);
      return 0;
    }
    const since = known?.generation === generation ? known.since : now;
    this.#objects.set(key, { generation, hasProxies, since, at: now });
    return now - since;
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }

  /** Keys of objects whose proxies may acknowledge at any time. */
  withProxies(): string[] {
    return [...this.#objects].filter(([, { hasProxies }]) => hasProxies).map(([key]) => key);
  }

  /** Keys of objects with which the patience has ended since the last look. */
  due(now: number): string[] {
    const ended = ({ since, at }: WaitingObject) =>
      this.#patiences.some((patience) => at < since + patience && since + patience <= now);
    return [...this.#objects].filter(([, object]) => ended(object)).map(([key]) => key);
  }
}
