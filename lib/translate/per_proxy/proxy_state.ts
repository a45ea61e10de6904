/**
 * One connected proxy: the class whose sets it shares, and what is its own.
 *
 * @module
 */
import type { ServiceTarget } from "../../registry/inbound.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { InboundTarget } from "../inbound/target.ts";
import { inboundTargets } from "../inbound/targets.ts";
import type { ProxyClass } from "../proxy_class/proxy_class.ts";
import type { Proxy } from "../proxy/node.ts";
import type { ScopeReader } from "../reader/scope_reader.ts";
import { TYPE } from "../encode/encode.ts";
import type { Caches } from "../cache/caches.ts";
import type { Own } from "./sidecar.ts";
import { RouterOwn } from "./router.ts";

/** A proxy and its resources. */
export class ProxyState {
  proxy: Proxy;
  proxyClass: ProxyClass;
  #own: Own | undefined;
  /** A builder of what is its own threw when it was last asked: what there was before stays. */
  #ownFailing = false;
  #services: readonly ServiceTarget[] = [];
  #targets: readonly InboundTarget[] = [];
  /** The last answer by type: the same array is given again while its sets are the same. */
  readonly #sets = new Map<string, readonly ResourceSet[]>();

  constructor(proxy: Proxy, proxyClass: ProxyClass) {
    this.proxy = proxy;
    this.proxyClass = proxyClass;
  }

  /** What is its own: inbound resources of a sidecar, listeners and routes of a gateway. */
  get own(): Own | undefined {
    return this.#own;
  }

  /** The ports that it serves. */
  get targets(): readonly InboundTarget[] {
    return this.#targets;
  }

  /** Whether something of what it should have could not be made, and it has what there was before, or nothing. */
  get failing(): boolean {
    return this.#ownFailing || this.proxyClass.failing;
  }

  /** Whether what is its own has to be tried again. */
  get ownFailing(): boolean {
    return this.#ownFailing;
  }

  /** Whether it serves a service of one of these hosts. */
  servesAny(hosts: ReadonlySet<string>): boolean {
    return this.#services.some(({ service }) => hosts.has(service.hostname));
  }

  /** Makes what is its own from the services at its addresses. */
  setOwn(reader: ScopeReader, services: readonly ServiceTarget[], caches: Caches): void {
    // Until the end is reached, also if it is left by an exception.
    this.#ownFailing = true;
    this.#services = services;
    if (this.proxy.properties.type === "router") {
      const before = this.#own instanceof RouterOwn ? this.#own : undefined;
      const router = new RouterOwn(caches.router, caches.empty, services, reader, before);
      this.#own = router;
      this.#ownFailing = router.failing;
      return;
    }
    const { sidecar } = reader.scope;
    this.#targets = inboundTargets({
      targets: services,
      sidecar: sidecar?.spec,
      ...(sidecar ? { sidecarName: `${sidecar.meta.namespace}/${sidecar.meta.name}` } : {}),
      capturesNothing: this.proxy.properties.interceptionMode === "NONE",
      addresses: this.proxy.addresses,
      mergeServicePorts: reader.settings.allowSidecarServiceInboundListenerMerge,
    });
    const own = caches.own.get(this.#targets, reader);
    // A builder that threw costs nobody what is in force.
    if (!own.unit.failed || this.#own === undefined) this.#own = own;
    this.#ownFailing = own.unit.failed === true;
  }

  /** All its resources of a type, as a few sets. Undefined: the type is not served. */
  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined {
    const now = this.#setsOf(typeUrl);
    const before = this.#sets.get(typeUrl);
    if (now === undefined || (before && before.length === now.length && before.every((set, i) => set === now[i]))) {
      return before;
    }
    this.#sets.set(typeUrl, now);
    return now;
  }

  #setsOf(typeUrl: string): readonly ResourceSet[] | undefined {
    const { sets } = this.proxyClass;
    const own = this.#own;
    switch (typeUrl) {
      case TYPE.cluster:
        return own ? [sets.clusters, sets.baseClusters, own.clusters] : [sets.clusters, sets.baseClusters];
      case TYPE.listener:
        return own ? [sets.listeners, sets.baseListeners, own.listeners] : [sets.listeners, sets.baseListeners];
      case TYPE.assignment:
        return [sets.assignments];
      case TYPE.route:
        return own ? [sets.routes, own.routes] : [sets.routes];
      case TYPE.secret:
        return own ? [own.secrets] : [];
      default:
        return undefined;
    }
  }

  /** The virtual hosts that a route configuration gets by VHDS. */
  virtualHosts(routeConfiguration: string): readonly ResourceSet[] {
    return [this.#own?.virtualHosts(routeConfiguration) ?? this.proxyClass.virtualHosts(routeConfiguration)];
  }
}
