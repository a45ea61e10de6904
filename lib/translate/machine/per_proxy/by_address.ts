/**
 * Proxies by address: endpoints that change name addresses.
 *
 * @module
 */
import type { ProxyState } from "./proxy_state.ts";

/** Proxies by each of their addresses. */
export class StatesByAddress {
  readonly #states = new Map<string, Set<ProxyState>>();

  /** Adds a proxy. */
  add(state: ProxyState): void {
    for (const address of state.proxy.addresses) {
      const there = this.#states.get(address);
      if (there) there.add(state);
      else this.#states.set(address, new Set([state]));
    }
  }

  /** Forgets a proxy. */
  delete(state: ProxyState): void {
    for (const address of state.proxy.addresses) {
      const there = this.#states.get(address);
      there?.delete(state);
      if (there?.size === 0) this.#states.delete(address);
    }
  }

  /** The proxies at some addresses, each once. */
  at(addresses: Iterable<string>): Set<ProxyState> {
    return new Set([...addresses].flatMap((address) => [...this.#states.get(address) ?? []]));
  }
}
