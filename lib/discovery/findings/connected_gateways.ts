/**
 * The workloads of gateways that are connected: findings tell by them where a Gateway runs.
 *
 * @module
 */
import type { ConnectedGateway } from "../../analyze/reader/source.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";

/** See the module. Proxies of one namespace and with the same labels count as one. */
export class ConnectedGateways {
  readonly #proxies: () => Iterable<Pick<ProxyState, "proxy">>;
  #known: ReadonlyMap<string, ConnectedGateway> = new Map();

  /** @param proxies The proxies that are connected now. */
  constructor(proxies: () => Iterable<Pick<ProxyState, "proxy">>) {
    this.#proxies = proxies;
  }

  /** As they were at the last look. */
  list(): readonly ConnectedGateway[] {
    return [...this.#known.values()];
  }

  /** Looks at the proxies again. @returns whether the gateways are others than before */
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
