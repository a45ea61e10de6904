/**
 * The gateways into networks, from the Gateways of all clusters. Whoever may write a Gateway may name any network, so the
 * order of the gateways does not let a later Gateway take a network over.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { NETWORK_LABEL } from "../../registry/labels.ts";
import { type GatewayCluster, networkGateways, type TunnelGateway } from "./gateways.ts";

type GatewayOrClass = ConfigObject<"ApiGateway"> | ConfigObject<"GatewayClass">;

/** The objects of a cluster. */
interface ClusterGateways {
  readonly cluster: GatewayCluster;
  /** The Gateways with a network, by key. */
  readonly gateways: Map<string, ConfigObject<"ApiGateway">>;
  /** Controllers by the key of a GatewayClass. */
  readonly controllers: Map<string, string>;
}

/** Gateways by network. */
export class GatewayTable {
  readonly #domain: string;
  readonly #own: string;
  readonly #system: string;
  readonly #clusters = new Map<string, ClusterGateways>();
  #all: readonly TunnelGateway[] | undefined;

  /** @param own Name of the server's cluster. @param system Namespace of the control plane. */
  constructor(own: string, domain: string, system: string) {
    this.#own = own;
    this.#domain = domain;
    this.#system = system;
  }

  /** Takes an object that came or changed. @returns whether gateways may differ */
  put(cluster: string, object: GatewayOrClass): boolean {
    const of = this.#of(cluster);
    if (object.kind === "GatewayClass") {
      if (of.controllers.get(object.key) === object.spec.controllerName) return false;
      of.controllers.set(object.key, object.spec.controllerName);
      return this.#differs();
    }
    const isKnown = of.gateways.has(object.key);
    if (object.meta.labels[NETWORK_LABEL]) of.gateways.set(object.key, object);
    else if (isKnown) of.gateways.delete(object.key);
    else return false;
    return this.#differs();
  }

  /** Takes the key of an object that is gone. @returns whether gateways may differ */
  remove(cluster: string, key: string): boolean {
    const { gateways, controllers } = this.#of(cluster);
    return (gateways.delete(key) || controllers.delete(key)) && this.#differs();
  }

  /** Forgets a cluster. @returns whether gateways may differ */
  drop(cluster: string): boolean {
    return this.#clusters.delete(cluster) && this.#differs();
  }

  /**
   * All gateways: those of the own cluster first, then by the name of the cluster. Of a cluster, the Gateways in the
   * namespace of the control plane come first, then the oldest, then the first by name.
   */
  all(): readonly TunnelGateway[] {
    return this.#all ??= [...this.#clusters.values()].sort((a, b) => this.#compare(a.cluster, b.cluster)).flatMap((
      of,
    ) =>
      [...of.gateways.values()].sort((a, b) => this.#compareGateways(a, b)).flatMap((gateway) => {
        const controller = of.controllers.get(`GatewayClass//${gateway.spec.gatewayClassName}`);
        return networkGateways(gateway, controller, of.cluster);
      })
    );
  }

  #compare(a: GatewayCluster, b: GatewayCluster): number {
    if (a.isOwn !== b.isOwn) return a.isOwn ? -1 : 1;
    return a.id < b.id ? -1 : 1;
  }

  #compareGateways(a: ConfigObject<"ApiGateway">, b: ConfigObject<"ApiGateway">): number {
    const [first, second] = [a, b].map(({ meta }) => meta.namespace === this.#system);
    if (first !== second) return first ? -1 : 1;
    return a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : 1);
  }

  #of(id: string): ClusterGateways {
    return this.#clusters.getOrInsertComputed(id, () => ({
      cluster: { id, isOwn: id === this.#own, domain: this.#domain },
      gateways: new Map(),
      controllers: new Map(),
    }));
  }

  #differs(): true {
    this.#all = undefined;
    return true;
  }
}
