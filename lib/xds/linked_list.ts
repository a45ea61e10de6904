/**
 * A list that gives up any of its elements in constant time, however long it is.
 *
 * @module
 */

/** An element's place in its list. */
export interface ListPlace<T> {
  readonly value: T;
  before: ListPlace<T> | undefined;
  after: ListPlace<T> | undefined;
}

/** A doubly linked list. */
export class LinkedList<T> {
  #first: ListPlace<T> | undefined;
  #last: ListPlace<T> | undefined;

  /** The element that was appended first; undefined when the list is empty. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  /** The element that was appended last; undefined when the list is empty. */
  get last(): T | undefined {
    return this.#last?.value;
  }

  /** Appends an element and returns its place, which {@linkcode LinkedList.remove} takes. */
  append(value: T): ListPlace<T> {
    const place: ListPlace<T> = { value, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    return this.#last = place;
  }

  /** Removes an element. Its place must be in this list: a place is removed once. */
  remove(place: ListPlace<T>): void {
    if (place.before === undefined) this.#first = place.after;
    else place.before.after = place.after;
    if (place.after === undefined) this.#last = place.before;
    else place.after.before = place.before;
  }
}
