/**
 * Which push delivered each object's last change, for users that look for their edit.
 *
 * @module
 */
import type { Origin } from "../config/finding/origin.ts";
import type { PushedObject } from "../xds/protocol/source.ts";

/** Objects by key, with the push in which each last changed. */
export class ObjectPushes {
  readonly #changedIn = new Map<string, number>();
  /** Objects whose last change waits for its push, with where each comes from. */
  readonly #waiting = new Map<string, Origin>();

  /** An object has changed. */
  wait({ key, origin }: { readonly key: string; readonly origin: Origin }): void {
    this.#waiting.set(key, origin);
  }

  /** Of some keys the objects whose change waits for its push. */
  waitingAmong(keys: Iterable<string>): PushedObject[] {
    const found: PushedObject[] = [];
    for (const key of keys) {
      const origin = this.#waiting.get(key);
      if (origin !== undefined) found.push({ key, origin });
    }
    return found;
  }

  /** A push has brought the changes of these objects; those that are gone are forgotten. */
  pushed(push: number, keys: Iterable<string>, exists: (key: string) => boolean): void {
    for (const key of keys) {
      this.#waiting.delete(key);
      if (exists(key)) this.#changedIn.set(key, push);
      else this.#changedIn.delete(key);
    }
  }

  /** The push in which an object last changed; 0: it has not since the start. */
  changedIn(key: string): number {
    return this.#changedIn.get(key) ?? 0;
  }

  /** Whether an object has changed since that push. */
  isWaiting(key: string): boolean {
    return this.#waiting.has(key);
  }
}
