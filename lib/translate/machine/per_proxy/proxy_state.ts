/**
 * The results of a proxy: the class with shared sets, and the per-proxy resources.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../../incremental/keys.ts";
import type { IsChanged } from "../../../incremental/properties.ts";
import { MESH_KEY } from "../../../mesh/affected.ts";
import type { ServiceTarget } from "../../../registry/inbound.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches } from "../cache/caches.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import { inboundTargets } from "../../inbound/targets.ts";
import { type ClassSets, type ProxyClass, sameSets } from "../proxy_class/proxy_class.ts";
import type { RejectedPatches } from "../../patches/rejected.ts";
import type { Proxy } from "../../proxy/node.ts";
import type { ProxyProperties } from "../../reader/proxy_properties.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { profileOf } from "../../reader/proxy_profile.ts";
import { LibraryResources } from "./library.ts";
import { TYPE } from "../../encode/encode.ts";
import type { AskedHosts } from "../../route/asked_hosts.ts";
import { OWN_TYPES, ownSet, type PerProxyResources } from "./resources.ts";
import { RouterResources } from "./router.ts";
import { sidecarResources } from "./sidecar.ts";
import { WaypointResources } from "./waypoint.ts";

/** The sets of an answer, with the sets they were made of. */
interface KeptSets {
  readonly shared: ClassSets;
  readonly own: ResourceSet | undefined;
  readonly sets: readonly ResourceSet[];
}

/** A proxy and the proxy's resources. */
export class ProxyState {
  proxy: Proxy;
  proxyClass: ProxyClass;
  #perProxy: PerProxyResources | undefined;
  /** A builder of per-proxy resources threw in the last build. The former resources stay. */
  #perProxyFailing = false;
  #services: readonly ServiceTarget[] = [];
  #targets: readonly InboundTarget[] = [];
  /** Resources without patches, because the proxy rejected the patched versions; by type and name. */
  readonly rejectedPatches = new Map<string, RejectedPatches>();
  /** The last answer by type. The array stays the same while the sets are the same. */
  readonly #sets = new Map<string, KeptSets>();

  constructor(proxy: Proxy, proxyClass: ProxyClass) {
    this.proxy = proxy;
    this.proxyClass = proxyClass;
  }

  /** Another state with the same results. Later changes of a state leave the other alone. */
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

  /** The per-proxy resources: inbound resources of a sidecar, listeners and routes of a gateway. */
  get perProxy(): PerProxyResources | undefined {
    return this.#perProxy;
  }

  /** The served ports. */
  get targets(): readonly InboundTarget[] {
    return this.#targets;
  }

  /** Whether a builder threw, so that the proxy has earlier resources, or none. */
  get failing(): boolean {
    return this.#perProxyFailing || this.proxyClass.failing;
  }

  /**
   * Whether a change may affect the per-proxy resources. Any change tries failed builds again.
   *
   * @param isChanged The changed facts about workloads. Undefined: no fact changed.
   */
  isStale(things: InvalidatedKeys, isChanged: IsChanged<ProxyProperties> | undefined): boolean {
    if (this.#perProxyFailing) return true;
    if (things.hasAny(MESH_KEY.service) && this.#servesAny(things)) return true;
    const { results = [], roles = [] } = this.#perProxy ?? {};
    const all = [{ properties: this.proxy.properties, results }, ...roles];
    return all.some((role) =>
      role.results.some(({ record }) =>
        record.dependsOnAny(things) ||
        isChanged !== undefined && !record.properties.fitsAfter(isChanged, role.properties)
      )
    );
  }

  #servesAny(things: InvalidatedKeys): boolean {
    return this.#services.some(({ service }) => things.has(MESH_KEY.service, service.hostname));
  }

  /** Makes the per-proxy resources from the services at the proxy's addresses. */
  setServices(source: ScopeReader, services: readonly ServiceTarget[], caches: Caches): void {
    // Until the end of this method, and after an exception.
    this.#perProxyFailing = true;
    this.#services = services;
    const profile = profileOf(this.proxy.properties.type);
    if (profile.gateways) {
      const before = this.#perProxy instanceof RouterResources ? this.#perProxy : undefined;
      this.#perProxy = new RouterResources(caches, services, source, before);
      this.#perProxyFailing = this.#perProxy.failing;
      return;
    }
    if (profile.waypoint) {
      const before = this.#perProxy instanceof WaypointResources ? this.#perProxy : undefined;
      this.#perProxy = new WaypointResources(caches, source, before);
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
    // After an exception of a builder the former resources stay in force.
    if (!made.failing || this.#perProxy === undefined) this.#perProxy = made;
    this.#perProxyFailing = made.failing;
  }

  /**
   * Clients call a library at the workload's own ports. A Sidecar lists ports of a proxy, so a library ignores
   * Sidecars.
   */
  #setLibrary(source: ScopeReader, services: readonly ServiceTarget[], caches: Caches): void {
    const { addresses } = this.proxy;
    const { allowSidecarServiceInboundListenerMerge: mergeServicePorts } = source.settings;
    this.#targets = inboundTargets({ targets: services, sidecar: undefined, addresses, mergeServicePorts });
    const before = this.#perProxy instanceof LibraryResources ? this.#perProxy : undefined;
    const made = new LibraryResources(caches, this.#targets, addresses, source, before);
    this.#perProxy = made;
    this.#perProxyFailing = made.failing;
  }

  /** All resources of a type, as a few sets. Undefined: the type is not served. Every push asks each proxy. */
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

  /** Secrets for extension configurations, by name of the configuration. */
  get pullSecrets(): ReadonlyMap<string, string> {
    return this.proxyClass.group("extensions")!.value.pullSecrets;
  }

  /** All virtual hosts of a route configuration, for VHDS, asked for or not. */
  virtualHosts(routeConfiguration: string): readonly ResourceSet[] {
    const own = this.#perProxy?.virtualHosts(routeConfiguration);
    const found = own ?? this.askedHosts(routeConfiguration)?.whole ??
      this.proxyClass.group("routes")?.virtualHosts(routeConfiguration);
    return found === undefined ? [] : [found];
  }

  /**
   * The virtual hosts of a route configuration, for a proxy that asks for them. Undefined: the proxy does not ask, or
   * has no such route configuration.
   */
  askedHosts(routeConfiguration: string): AskedHosts | undefined {
    return this.proxy.properties.onDemand ? this.proxyClass.group("routes")?.askedHosts(routeConfiguration) : undefined;
  }

  /** The clusters of hosts. */
  get hostClusters(): ResourceSet | undefined {
    return this.proxyClass.group("clusters")?.sets[TYPE.cluster];
  }
}

/** A set without resources of the same name as a resource in other sets. */
function withoutNamesOf(added: ResourceSet, others: readonly ResourceSet[]): ResourceSet {
  const taken = [...added].map(({ name }) => name).filter((name) => others.some((set) => set.has(name)));
  return taken.length === 0 ? added : added.with([], taken);
}

/** Proxies by address: a change of endpoints names addresses. */
export class StatesByAddress {
  readonly #states = new Map<string, Set<ProxyState>>();

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
