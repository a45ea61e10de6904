/**
 * The services that other networks reach (`serviceScopeConfigs` of the mesh configuration), kept up to date change by
 * change.
 *
 * @module
 */
import type { ServiceScopeConfig } from "../config/mesh/types.ts";
import type { Labels } from "../registry/labels.ts";
import { type Service, type ServiceKey, serviceKey } from "../registry/types.ts";
import { scopeOfService } from "./service_scope.ts";

/** Services of scope GLOBAL. A change costs the changed services, and the services of changed namespaces. */
export class GlobalServices {
  readonly #configs: readonly ServiceScopeConfig[];
  #namespaces: ReadonlyMap<string, Labels> = new Map();
  /** Services that may have a scope, by namespace. */
  readonly #services = new Map<string, Map<ServiceKey, Service>>();
  readonly #global = new Map<ServiceKey, Service>();
  #sorted: readonly Service[] | undefined;
  readonly #changed = new Set<ServiceKey>();

  constructor(configs: readonly ServiceScopeConfig[]) {
    this.#configs = configs;
  }

  /** All services of scope GLOBAL, sorted by host. The same array until one of them changes. */
  get all(): readonly Service[] {
    return this.#sorted ??= [...this.#global.values()].sort((a, b) => serviceKey(a) < serviceKey(b) ? -1 : 1);
  }

  has(key: ServiceKey): boolean {
    return this.#global.has(key);
  }

  /** Puts or removes a service. */
  set(key: ServiceKey, service: Service | undefined): void {
    const namespace = key.slice(0, key.indexOf("/"));
    const there = this.#services.getOrInsertComputed(namespace, () => new Map<ServiceKey, Service>());
    // Hosts of ServiceEntries have no scope.
    if (service?.provider === "Orch") there.set(key, service);
    else there.delete(key);
    if (there.size === 0) this.#services.delete(namespace);
    this.#look(key, there.get(key));
  }

  /** Takes the labels of all namespaces. */
  setNamespaces(all: ReadonlyMap<string, Labels>): void {
    const before = this.#namespaces;
    this.#namespaces = all;
    for (const [namespace, services] of this.#services) {
      if (before.get(namespace) === all.get(namespace)) continue;
      for (const [key, service] of services) this.#look(key, service);
    }
  }

  /** The services that became global, changed as global services, or are not global any more, since the last call. */
  takeChanged(): readonly ServiceKey[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  #look(key: ServiceKey, service: Service | undefined): void {
    const before = this.#global.get(key);
    const now = service !== undefined && this.#isGlobal(service) ? service : undefined;
    if (before === now) return;
    if (now === undefined) this.#global.delete(key);
    else this.#global.set(key, now);
    this.#sorted = undefined;
    this.#changed.add(key);
  }

  #isGlobal({ namespace, labels }: Service): boolean {
    return scopeOfService(this.#configs, { labels, namespaceLabels: this.#namespaces.get(namespace) }) === "GLOBAL";
  }
}
