/**
 * Accepts connections and packets of any number of sockets by one wait.
 *
 * Permissions: ffi (the C library).
 *
 * @module
 */
import type { Libc } from "../../../lib/cni/zds/libc.ts";

/** Sockets and their takers. */
export class Acceptor {
  readonly #libc: Libc;
  readonly #waker: number;
  readonly #takers = new Map<number, () => void>();
  #ended = false;

  constructor(libc: Libc) {
    this.#libc = libc;
    this.#waker = libc.waker();
    void this.#run();
  }

  /** @param take Gets the descriptor of each connection. */
  add(listener: number, take: (fd: number) => void): void {
    this.watch(listener, () => this.#acceptAll(listener, take));
  }

  /** @param takeAll Called whenever a socket is readable. */
  watch(socket: number, takeAll: () => void): void {
    this.#takers.set(socket, takeAll);
    this.#libc.wake(this.#waker);
  }

  /** Closes a socket. What waits there is taken first: connections would be reset. */
  remove(socket: number): void {
    this.#takers.get(socket)?.();
    if (!this.#takers.delete(socket)) return;
    this.#libc.hangUp(socket);
    // A socket of packets has its port until the wait has ended.
    this.#libc.wake(this.#waker);
  }

  end(): void {
    this.#ended = true;
    for (const socket of [...this.#takers.keys()]) this.remove(socket);
    this.#libc.wake(this.#waker);
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      for (const fd of await this.#libc.readable([this.#waker, ...this.#takers.keys()])) {
        if (fd === this.#waker) this.#libc.unwake(fd);
        else this.#takers.get(fd)?.();
      }
    }
  }

  #acceptAll(listener: number, take: (fd: number) => void): void {
    while (this.#takers.has(listener)) {
      const fd = this.#libc.accept(listener);
      if (fd === undefined) return;
      take(fd);
    }
  }
}
