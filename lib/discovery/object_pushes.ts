/**
 * Which push brought each object's last change, for people who ask where their edit is.
 *
 * @module
 */

/** Objects by key, with the push in which each last changed. */
export class ObjectPushes {
  readonly #changedIn = new Map<string, number>();
  /** Objects whose last change waits for its push. */
  readonly #waiting = new Set<string>();

  /** An object has changed. */
  wait(key: string): void {
    this.#waiting.add(key);
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
