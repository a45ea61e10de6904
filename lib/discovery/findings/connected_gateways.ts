/**
 * The workloads of connected gateways. Findings need the workloads to tell where a Gateway runs.
 *
 * @module
 */

import type { ConnectedGateway } from "../../analyze/reader/source.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";

/** Collects the gateways. Proxies of one namespace with the same labels count as one gateway. */
export class ConnectedGateways {
  readonly #proxies: () => Iterable<Pick<ProxyState, "proxy">>;
  #known: ReadonlyMap<string, ConnectedGateway> = new Map();

  /** @param proxies The proxies that are connected now. */
  constructor(proxies: () => Iterable<Pick<ProxyState, "proxy">>) {
    this.#proxies = proxies;
  }

  /** The gateways of the last look. */
  list(): readonly ConnectedGateway[] {
    return [...this.#known.values()];
  }

  /** Looks at the proxies again. @returns whether the gateways have changed */
  look(): boolean {
    const now = new Map<string, ConnectedGateway>();
    for (const { proxy: { namespace, properties: { type, labels } } } of this.#proxies()) {
      if (!profileOf(type).gateways) continue;
      const sorted = Object.entries(labels).sort(([a], [b]) => a < b ? -1 : 1);
      now.set(JSON.stringify([namespace, sorted]), { namespace, labels });
    }
    const before = this.#known;
    this.#known = now;
    return before.size !== now.size || now.keys().some((key) => !before.has(key));
  }
}
