/**
 * The Secrets that derived Gateways name, for the workloads of these Gateways: a Gateway of the Gateway API names a
 * Secret of its own namespace, or a Secret that a ReferenceGrant permits. Proxy, Gateway and Secret then agree, and the
 * API is not asked for the rights of the proxy's account.
 *
 * @module
 */
import { isServedBy } from "../../config/kinds/gateway/workloads.ts";
import type { ConfigStore } from "../../config/store.ts";
import { type AnyConfigObject, type ConfigObject, isKind } from "../../config/types.ts";
import { SmallMultimap } from "../../registry/small_multimap.ts";

/** The workload of a proxy with a proven identity. */
export interface SecretReader {
  readonly namespace: string;
  readonly account: string;
  /** Labels of the workload, as the proxy names them. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Follows the Gateways of a store. */
export class GatewaySecrets {
  /** Gateways by `namespace/name` of a Secret. */
  readonly #gateways = new SmallMultimap<string, ConfigObject<"Gateway">>();
  readonly #stop: () => void;

  /** @param changed Called with the keys of Secrets whose readers may have changed. */
  constructor(store: Pick<ConfigStore, "list" | "subscribe">, changed: (keys: ReadonlySet<string>) => void) {
    for (const gateway of store.list("Gateway")) this.#put(gateway);
    this.#stop = store.subscribe(({ added, updated, removed, refreshed }) => {
      const replaced = [...updated, ...refreshed];
      const keys = new Set<string>();
      const note = (objects: readonly AnyConfigObject[], change: (gateway: ConfigObject<"Gateway">) => void) => {
        for (const object of objects) {
          if (!isKind(object, "Gateway")) continue;
          change(object);
          for (const secret of object.spec.internal?.secrets ?? []) keys.add(`Secret/${secret}`);
        }
      };
      note([...removed, ...replaced.map((one) => one.old)] as AnyConfigObject[], (gateway) => this.#remove(gateway));
      note([...added, ...replaced.map((one) => one.new)] as AnyConfigObject[], (gateway) => this.#put(gateway));
      if (keys.size > 0) changed(keys);
    });
  }

  /** Whether a Gateway of the proxy's workload names the Secret, `namespace/name`. */
  permits(secret: string, { namespace, account, labels }: SecretReader): boolean {
    return this.#gateways.get(secret).some((gateway) => {
      const { internal } = gateway.spec;
      const isAccount = internal?.account === undefined || internal.account === account;
      return isAccount && isServedBy(gateway, { namespace, labels });
    });
  }

  /** Ends the subscription. */
  stop(): void {
    this.#stop();
  }

  #put(gateway: ConfigObject<"Gateway">): void {
    for (const secret of gateway.spec.internal?.secrets ?? []) this.#gateways.add(secret, gateway);
  }

  #remove(gateway: ConfigObject<"Gateway">): void {
    for (const secret of gateway.spec.internal?.secrets ?? []) this.#gateways.delete(secret, gateway);
  }
}
