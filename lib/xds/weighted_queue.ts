/**
 * A queue that serves groups of clients in turn, and in each group the clients in turn. A group of four times as many
 * clients is served twice as often, up to a limit. A client with many connections from one address delays other clients
 * little, and many clients behind one address are not held back like a single client. All operations take constant
 * time.
 *
 * @module
 */
import { FairQueue } from "./fair_queue.ts";
import { LinkedList, type ListPlace } from "./linked_list.ts";

interface ClientGroup<T extends object> {
  readonly key: unknown;
  readonly queue: FairQueue<T>;
  turn: ListPlace<ClientGroup<T>>;
  /** Elements that remain to be served in the group's turn; 0: the turn has not begun. */
  credit: number;
  /** The group's index in the lines by load. */
  line: number;
}

/** Most elements of a group in one turn, reached with 256 clients. Other groups wait for at most one such turn. */
const MOST_IN_TURN = 16;

/**
 * Number of lines of groups by load. Each line holds loads about a quarter higher than the line before; the last line
 * has no upper bound.
 */
const LINES = 64;

/** A queue of distinct elements. */
export class WeightedQueue<T extends object> {
  readonly #groups = new Map<unknown, ClientGroup<T>>();
  readonly #places = new Map<T, { readonly group: ClientGroup<T>; readonly arrival: ListPlace<T> }>();
  /** Groups in the order of their turns. */
  readonly #turns = new LinkedList<ClientGroup<T>>();
  /** All elements in the order of arrival. */
  readonly #arrivals = new LinkedList<T>();
  readonly #lines: readonly Set<ClientGroup<T>>[] = Array.from({ length: LINES }, () => new Set<ClientGroup<T>>());

  /** Number of elements. */
  get size(): number {
    return this.#places.size;
  }

  /** The element that has waited longest. */
  get oldest(): T | undefined {
    return this.#arrivals.first;
  }

  /** Appends an element to the client's elements. Groups, and clients of a group, are compared like keys of a Map. */
  add(key: unknown, client: unknown, element: T): void {
    const group = this.#groups.get(key) ?? this.#newGroup(key);
    group.queue.add(client, element);
    this.#places.set(element, { group, arrival: this.#arrivals.append(element) });
    this.#place(group);
  }

  /** Removes an element; returns whether the queue had it. */
  remove(element: T): boolean {
    const place = this.#places.get(element);
    if (place === undefined) return false;
    const { group, arrival } = place;
    this.#places.delete(element);
    this.#arrivals.remove(arrival);
    group.queue.remove(element);
    this.#place(group);
    if (group.queue.size > 0) return true;
    this.#groups.delete(group.key);
    this.#turns.remove(group.turn);
    return true;
  }

  /** Removes and returns the next element. */
  takeNext(): T | undefined {
    const group = this.#turns.first;
    const element = group?.queue.next;
    if (group === undefined || element === undefined) return undefined;
    if (group.credit === 0) group.credit = Math.min(MOST_IN_TURN, weight(group));
    if (--group.credit === 0) {
      this.#turns.remove(group.turn);
      group.turn = this.#turns.append(group);
    }
    group.queue.endTurn();
    this.remove(element);
    return element;
  }

  /**
   * Removes the newest element of the client with the most elements, in the group with the most elements for its
   * weight. Among equals the newcomer loses.
   */
  takeFromLargest(key: unknown, client: unknown): T | undefined {
    const largest = this.#lines.findLast((line) => line.size > 0);
    const own = this.#groups.get(key);
    const group = own !== undefined && largest?.has(own) === true ? own : largest?.values().next().value;
    const element = group?.queue.largest(client);
    if (element !== undefined) this.remove(element);
    return element;
  }

  #newGroup(key: unknown): ClientGroup<T> {
    const group = { key, queue: new FairQueue<T>(), credit: 0, line: 0 } as unknown as ClientGroup<T>;
    group.turn = this.#turns.append(group);
    this.#groups.set(key, group);
    return group;
  }

  #place(group: ClientGroup<T>): void {
    this.#lines[group.line]!.delete(group);
    if (group.queue.size === 0) return;
    const load = group.queue.size / weight(group);
    group.line = Math.min(LINES - 1, Math.floor(3 * Math.log2(Math.max(1, load))));
    this.#lines[group.line]!.add(group);
  }
}

/**
 * The turns of a group: the square root of the number of clients. One turn for all clients would be too few, one for
 * each too many.
 */
function weight({ queue }: { readonly queue: { readonly clients: number } }): number {
  return Math.max(1, Math.floor(Math.sqrt(queue.clients)));
}
