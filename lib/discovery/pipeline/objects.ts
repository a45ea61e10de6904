/**
 * The objects that a pipeline has taken in, and the push of each object's last change: users look for their edit there.
 *
 * @module
 */
import type { Origin } from "../../finding/origin.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import type { PushedObject } from "../../xds/protocol/source.ts";

export class PipelineObjects {
  readonly #objects = new Map<string, AnyConfigObject>();
  readonly #changedIn = new Map<string, number>();
  /** Objects whose last change waits for its push, with the origin of each object. */
  readonly #waiting = new Map<string, Origin>();

  /** All objects that are in force or wait for their push, by key. */
  get all(): ReadonlyMap<string, AnyConfigObject> {
    return this.#objects;
  }

  /** Takes in old versions of removed or changed objects, new objects and new versions. */
  take(removed: readonly AnyConfigObject[], added: readonly AnyConfigObject[]): void {
    for (const object of removed) this.#objects.delete(object.key);
    for (const object of added) this.#objects.set(object.key, object);
  }

  /** Marks the changes of objects as waiting for a push. Of two versions of one object, the later origin counts. */
  wait(changed: readonly AnyConfigObject[]): void {
    for (const { key, origin } of changed) this.#waiting.set(key, origin);
  }

  /** Of some keys, the objects that wait for their push. */
  waitingAmong(keys: Iterable<string>): PushedObject[] {
    const found: PushedObject[] = [];
    for (const key of keys) {
      const origin = this.#waiting.get(key);
      if (origin !== undefined) found.push({ key, origin });
    }
    return found;
  }

  /** Marks the changes of objects as pushed. Removed objects are forgotten. */
  pushed(push: number, keys: Iterable<string>): void {
    for (const key of keys) {
      this.#waiting.delete(key);
      if (this.#objects.has(key)) this.#changedIn.set(key, push);
      else this.#changedIn.delete(key);
    }
  }

  /**
   * The push in which an object last changed. 0: the object was there at the start. Undefined: the object does not
   * exist.
   */
  changedIn(key: string): number | undefined {
    return this.#objects.has(key) ? this.#changedIn.get(key) ?? 0 : undefined;
  }

  /** Whether an object has changed since its last push. */
  isWaiting(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** Whether a version of an object has been pushed. */
  isPushed({ key, hash }: Pick<AnyConfigObject, "key" | "hash">): boolean {
    return this.#objects.get(key)?.hash === hash && !this.#waiting.has(key);
  }
}
