/**
 * A list that removes any element in constant time, whatever the length.
 *
 * @module
 */

/** An element's place in a list. */
export interface ListPlace<T> {
  readonly value: T;
  before: ListPlace<T> | undefined;
  after: ListPlace<T> | undefined;
}

/** A doubly linked list. */
export class LinkedList<T> {
  #first: ListPlace<T> | undefined;
  #last: ListPlace<T> | undefined;

  /** The element appended first; undefined: the list is empty. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  /** The element appended last; undefined: the list is empty. */
  get last(): T | undefined {
    return this.#last?.value;
  }

  /** Appends an element and returns its place for {@linkcode LinkedList.remove}. */
  append(value: T): ListPlace<T> {
    const place: ListPlace<T> = { value, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    return this.#last = place;
  }

  /** Removes an element. The place must be in this list, so that a place is removed only once. */
  remove(place: ListPlace<T>): void {
    if (place.before === undefined) this.#first = place.after;
    else place.before.after = place.after;
    if (place.after === undefined) this.#last = place.before;
    else place.after.before = place.before;
  }
}
