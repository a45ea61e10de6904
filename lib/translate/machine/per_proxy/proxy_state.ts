/**
 * The results of one proxy: the class whose sets it shares, and its per-proxy resources.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../../incremental/keys.ts";
import type { ServiceTarget } from "../../../registry/inbound.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches } from "../cache/caches.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import { inboundTargets } from "../../inbound/targets.ts";
import { type ClassSets, type ProxyClass, sameSets } from "../proxy_class/proxy_class.ts";
import type { RejectedPatches } from "../../patches/rejected.ts";
import type { Proxy } from "../../proxy/node.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { profileOf } from "../../reader/proxy_profile.ts";
import { LibraryResources } from "./library.ts";
import { OWN_TYPES, ownSet, type PerProxyResources } from "./resources.ts";
import { RouterResources } from "./router.ts";
import { sidecarResources } from "./sidecar.ts";

/** An answer, and the sets that it was made of. */
interface KeptSets {
  readonly shared: ClassSets;
  readonly own: ResourceSet | undefined;
  readonly sets: readonly ResourceSet[];
}

/** A proxy and its resources. */
export class ProxyState {
  proxy: Proxy;
  proxyClass: ProxyClass;
  #perProxy: PerProxyResources | undefined;
  /** A builder of per-proxy resources threw when it was last asked: the former resources stay. */
  #perProxyFailing = false;
  #services: readonly ServiceTarget[] = [];
  #targets: readonly InboundTarget[] = [];
  /** Resources that it rejects and gets without patches, by type and name. */
  readonly rejectedPatches = new Map<string, RejectedPatches>();
  /** The last answer by type: the same array is given again while its sets are the same. */
  readonly #sets = new Map<string, KeptSets>();

  constructor(proxy: Proxy, proxyClass: ProxyClass) {
    this.proxy = proxy;
    this.proxyClass = proxyClass;
  }

  /** Another state with the same results, which goes its own way from here. */
  copy(): ProxyState {
    const copy = new ProxyState(this.proxy, this.proxyClass);
    copy.become(this);
    return copy;
  }

  /** Takes the results of another state. */
  become(other: ProxyState): void {
    this.proxy = other.proxy;
    this.proxyClass = other.proxyClass;
    this.#perProxy = other.#perProxy;
    this.#perProxyFailing = other.#perProxyFailing;
    this.#services = other.#services;
    this.#targets = other.#targets;
  }

  /** Its per-proxy resources: inbound resources of a sidecar, listeners and routes of a gateway. */
  get perProxy(): PerProxyResources | undefined {
    return this.#perProxy;
  }

  /** The ports that it serves. */
  get targets(): readonly InboundTarget[] {
    return this.#targets;
  }

  /** Whether a builder of its resources threw, so that it has an earlier version of them, or none. */
  get failing(): boolean {
    return this.#perProxyFailing || this.proxyClass.failing;
  }

  /** Whether a change may affect its per-proxy resources. Those that failed are tried again with any change. */
  isStale(keys: InvalidatedKeys, services: ReadonlySet<string>): boolean {
    return this.#perProxyFailing || (services.size > 0 && this.#servesAny(services)) ||
      this.#perProxy?.dependsOnAny(keys) === true;
  }

  #servesAny(hosts: ReadonlySet<string>): boolean {
    return this.#services.some(({ service }) => hosts.has(service.hostname));
  }

  /** Makes its per-proxy resources from the services at its addresses. */
  setServices(source: ScopeReader, services: readonly ServiceTarget[], caches: Caches): void {
    // Until the end is reached, also if it is left by an exception.
    this.#perProxyFailing = true;
    this.#services = services;
    const profile = profileOf(this.proxy.properties.type);
    if (profile.gateways) {
      const before = this.#perProxy instanceof RouterResources ? this.#perProxy : undefined;
      this.#perProxy = new RouterResources(caches, services, source, before);
      this.#perProxyFailing = this.#perProxy.failing;
      return;
    }
    if (profile.library) {
      this.#setLibrary(source, services, caches);
      return;
    }
    const { sidecar } = source.scope;
    this.#targets = inboundTargets({
      targets: services,
      sidecar: sidecar?.spec,
      ...(sidecar ? { sidecarName: `${sidecar.meta.namespace}/${sidecar.meta.name}` } : {}),
      capturesNothing: this.proxy.properties.interceptionMode === "NONE",
      addresses: this.proxy.addresses,
      mergeServicePorts: source.settings.allowSidecarServiceInboundListenerMerge,
    });
    const made = sidecarResources(caches, this.#targets, source);
    // A builder that threw leaves the resources in force.
    if (!made.failing || this.#perProxy === undefined) this.#perProxy = made;
    this.#perProxyFailing = made.failing;
  }

  /** A library is called at the ports of its workload themselves: a Sidecar, which lists those of a proxy, says nothing of it. */
  #setLibrary(source: ScopeReader, services: readonly ServiceTarget[], caches: Caches): void {
    const { addresses } = this.proxy;
    const { allowSidecarServiceInboundListenerMerge: mergeServicePorts } = source.settings;
    this.#targets = inboundTargets({ targets: services, sidecar: undefined, addresses, mergeServicePorts });
    const before = this.#perProxy instanceof LibraryResources ? this.#perProxy : undefined;
    const made = new LibraryResources(caches, this.#targets, addresses, source, before);
    this.#perProxy = made;
    this.#perProxyFailing = made.failing;
  }

  /** All its resources of a type, as a few sets. Undefined: the type is not served. Asked of each proxy in each push. */
  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined {
    const shared = this.proxyClass.sets(typeUrl);
    const own = ownSet(this.#perProxy, typeUrl);
    const before = this.#sets.get(typeUrl);
    if (before !== undefined && before.own === own && sameSets(before.shared, shared)) return before.sets;
    if (shared.sets.length === 0 && !OWN_TYPES.has(typeUrl)) return undefined;
    const built = own === undefined ? shared.sets : [...shared.sets, own];
    const sets = shared.added.length === 0
      ? built
      : [...shared.added.map((added) => withoutNamesOf(added, built)), ...built];
    this.#sets.set(typeUrl, { shared, own, sets });
    return sets;
  }

  /** Secrets that belong into some of its extension configurations, by the name of the configuration. */
  get pullSecrets(): ReadonlyMap<string, string> {
    return this.proxyClass.group("extensions")!.value.pullSecrets;
  }

  /** The virtual hosts that a route configuration gets by VHDS. */
  virtualHosts(routeConfiguration: string): readonly ResourceSet[] {
    const own = this.#perProxy?.virtualHosts(routeConfiguration);
    const found = own ?? this.proxyClass.group("routes")?.virtualHosts(routeConfiguration);
    return found === undefined ? [] : [found];
  }
}

/** A set without the resources that have the name of one in others. */
function withoutNamesOf(added: ResourceSet, others: readonly ResourceSet[]): ResourceSet {
  const taken = [...added].map(({ name }) => name).filter((name) => others.some((set) => set.has(name)));
  return taken.length === 0 ? added : added.with([], taken);
}
