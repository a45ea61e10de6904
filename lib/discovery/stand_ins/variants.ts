/**
 * The resources of a proxy without some ProxyFilters. Each set of filters is translated once, and kept up to date with
 * the mesh while a stand-in uses the result.
 *
 * @module
 */
import { standInFor } from "../../translate/proxy/stand_in.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import type { Translator } from "../../translate/machine/translator.ts";

/** Keys of the filters to leave out; undefined: all filters are left out. */
export type WithoutFilters = readonly string[] | undefined;

/** The key of all filters. */
const ALL = "*";

/** The variants of a proxy, each without other filters. */
export class Variants {
  readonly #state: ProxyState;
  readonly #translator: () => Translator;
  readonly #built = new Map<string, ProxyState>();
  readonly #building = new Map<string, Promise<void>>();
  #closed = false;

  constructor(state: ProxyState, translator: () => Translator) {
    this.#state = state;
    this.#translator = translator;
  }

  /** The proxy without some filters; undefined: not built yet, see {@linkcode Variants.build}. */
  get(without: WithoutFilters): ProxyState | undefined {
    return this.#built.get(keyOf(without));
  }

  /**
   * Builds the resources without some filters, in steps between which other work goes on. Rejects when a step throws.
   */
  build(without: WithoutFilters): Promise<void> {
    const key = keyOf(without);
    let building = this.#building.get(key);
    if (building === undefined) {
      building = this.#build(key, without).finally(() => this.#building.delete(key));
      this.#building.set(key, building);
    }
    return building;
  }

  async #build(key: string, without: WithoutFilters): Promise<void> {
    const proxy = standInFor(this.#state.proxy, without && new Set(without));
    for (const _ of this.#translator().prepareStandIn(proxy)) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (this.#closed) return;
    }
    if (this.#closed) return;
    // The proxy may have other properties by now.
    const now = standInFor(this.#state.proxy, without && new Set(without));
    this.#built.set(key, this.#translator().join(now));
  }

  /** Drops variants with other sets of filters. */
  keepOnly(used: Iterable<WithoutFilters>): void {
    const keys = new Set(Array.from(used, keyOf));
    for (const [key, state] of this.#built) {
      if (keys.has(key)) continue;
      this.#translator().leave(state);
      this.#built.delete(key);
    }
  }

  /** The proxy is gone. */
  close(): void {
    this.#closed = true;
    this.keepOnly([]);
  }
}

function keyOf(without: WithoutFilters): string {
  return without === undefined ? ALL : [...without].sort().join();
}
