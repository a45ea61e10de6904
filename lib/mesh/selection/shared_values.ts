/**
 * Equal values as one object, so that they can be compared by identity.
 *
 * @module
 */

/**
 * Values by their content. They are held weakly: clients decide which there are, and a value lives as long as
 * somebody uses it.
 */
export class SharedValues<T extends object> {
  readonly #values = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((name) => {
    if (this.#values.get(name)?.deref() === undefined) this.#values.delete(name);
  });

  /** The value, or one of equal content that was given before. @param value Plain data, as JSON can hold it. */
  of(value: T): T {
    const name = JSON.stringify(value);
    const known = this.#values.get(name)?.deref();
    if (known) return known;
    this.#values.set(name, new WeakRef(value));
    this.#gone.register(value, name);
    return value;
  }
}
