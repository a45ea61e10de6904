/**
 * Objects of the Gateway API that wait for proxies. An object is looked at again when a proxy has acknowledged or refused
 * something, or when the patience with its proxies ends. An object without proxies costs nothing in between.
 *
 * A new version waits anew for its proxies. But versions that come without a pause have one moment together until their
 * status is written: an object that is edited all the time gets a status all the same.
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
  /** Since when this version waits. */
  readonly since: number;
  /** Since when a whole status waits, of this version or an earlier one. */
  readonly from: number;
  /** Time of the last look. */
  readonly at: number;
}

/** How long an object has waited, milliseconds. */
export interface ProxyWait {
  /** For how long this version has waited for proxies. */
  readonly waited: number;
  /** The value of `waited` at which a status is written without the verdicts of proxies. */
  readonly moment: number;
}

export class WaitingObjects {
  readonly #objects = new Map<string, WaitingObject>();
  readonly #moment: number;

  /** @param moment For how long a whole status waits for proxies, milliseconds. */
  constructor(moment: number) {
    this.#moment = moment;
  }

  /** Notes a look at an object. */
  note(key: string, { generation, isUnsettled, hasProxies }: WaitingState, now: number): ProxyWait {
    const known = this.#objects.get(key);
    if (!isUnsettled) {
      this.#objects.delete(key);
      return { waited: 0, moment: this.#moment };
    }
    const isSame = known?.generation === generation;
    const since = isSame ? known.since : now;
    // An earlier version that was written has had its moment. The first proxy gets a moment too.
    const stays = isSame
      ? known.hasProxies || !hasProxies
      : known !== undefined && known.at < known.from + this.#moment;
    const from = known !== undefined && stays ? known.from : now;
    this.#objects.set(key, { generation, hasProxies, since, from, at: now });
    return { waited: now - since, moment: Math.max(0, from + this.#moment - since) };
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
    const ended = ({ since, from, at }: WaitingObject) =>
      [from + this.#moment, since + PENDING_MS, since + KEPT_MS].some((end) => at < end && end <= now);
    return [...this.#objects].filter(([, object]) => ended(object)).map(([key]) => key);
  }
}
