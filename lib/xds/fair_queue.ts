/**
 * A queue that serves clients in turn, and each client's elements in the order of arrival. All operations take constant
 * time: a hostile client cannot slow the queue down by filling it.
 *
 * @module
 */
import { LinkedList, type ListPlace } from "./linked_list.ts";

/** The elements of one client. */
interface ClientQueue<T> {
  readonly client: unknown;
  readonly elements: LinkedList<T>;
  size: number;
  turn: ListPlace<ClientQueue<T>>;
}

interface Places<T> {
  readonly queue: ClientQueue<T>;
  readonly own: ListPlace<T>;
}

/** A queue of distinct elements. */
export class FairQueue<T extends object> {
  readonly #clients = new Map<unknown, ClientQueue<T>>();
  readonly #places = new Map<T, Places<T>>();
  /** Clients in the order of their turns. */
  readonly #turns = new LinkedList<ClientQueue<T>>();
  /** Clients by the number of their elements. */
  readonly #bySize: Set<ClientQueue<T>>[] = [];
  #largest = 0;

  /** Number of elements. */
  get size(): number {
    return this.#places.size;
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** The first element of the client whose turn has come. */
  get next(): T | undefined {
    return this.#turns.first?.elements.first;
  }

  /** Appends an element to the client's elements. Clients are compared like keys of a Map. */
  add(client: unknown, element: T): void {
    const queue = this.#clients.get(client) ?? this.#newClient(client);
    this.#places.set(element, { queue, own: queue.elements.append(element) });
    this.#resize(queue, 1);
  }

  /** Removes an element; returns whether the queue had it. */
  remove(element: T): boolean {
    const places = this.#places.get(element);
    if (places === undefined) return false;
    const { queue, own } = places;
    this.#places.delete(element);
    queue.elements.remove(own);
    this.#resize(queue, -1);
    if (queue.size > 0) return true;
    this.#clients.delete(queue.client);
    this.#turns.remove(queue.turn);
    return true;
  }

  /** Moves the current client to the end of the turns. */
  endTurn(): void {
    const queue = this.#turns.first;
    if (queue === undefined) return;
    this.#turns.remove(queue.turn);
    queue.turn = this.#turns.append(queue);
  }

  /** The newest element of the client with the most elements. Among equal clients `newcomer` comes first. */
  largest(newcomer: unknown): T | undefined {
    const largest = this.#bySize[this.#largest];
    const own = this.#clients.get(newcomer);
    const queue = own !== undefined && own.size === this.#largest ? own : largest?.values().next().value;
    return queue?.elements.last;
  }

  #newClient(client: unknown): ClientQueue<T> {
    const queue = { client, elements: new LinkedList<T>(), size: 0 } as ClientQueue<T>;
    queue.turn = this.#turns.append(queue);
    this.#clients.set(client, queue);
    return queue;
  }

  /** A client's size changes by one, so that the largest size changes by at most one. */
  #resize(queue: ClientQueue<T>, by: 1 | -1): void {
    this.#bySize[queue.size]?.delete(queue);
    queue.size += by;
    if (queue.size > 0) (this.#bySize[queue.size] ??= new Set()).add(queue);
    if (queue.size > this.#largest) this.#largest = queue.size;
    else if (by < 0 && this.#bySize[this.#largest]?.size === 0) {
      this.#bySize.pop();
      this.#largest--;
    }
  }
}
