/**
 * Services by host. Several namespaces may define the same host; this index decides which service a namespace gets.
 *
 * @module
 */
import { type Service, type ServiceKey, serviceKey } from "../registry/types.ts";
import type { Distinction } from "./view/distinctions.ts";
import { type Exported, isPublic, isVisible, namespacesNamed } from "./visibility.ts";

/** All services of the mesh, indexed by host. */
export class ServiceIndex {
  #byHost = new Map<string, Service[]>();
  #byKey = new Map<ServiceKey, Service>();
  #defaultExportTo: readonly string[];

  /** @param defaultExportTo The mesh-wide default for services without `exportTo`. */
  constructor(defaultExportTo: readonly string[]) {
    this.#defaultExportTo = defaultExportTo;
  }

  /**
   * Puts or removes a service.
   *
   * @returns Whether anything changed.
   */
  set(key: ServiceKey, service: Service | undefined): boolean {
    const old = this.#byKey.get(key);
    if (old === service) return false;
    const host = service?.hostname ?? old!.hostname;
    const others = (this.#byHost.get(host) ?? []).filter((s) => s !== old);
    // A sorted copy has no spare room; a grown list has room for 17.
    const now = service ? [...others, service].toSorted(byPrecedence) : others;
    if (service) this.#byKey.set(key, service);
    else this.#byKey.delete(key);
    if (now.length > 0) this.#byHost.set(host, now);
    else this.#byHost.delete(host);
    return true;
  }

  /** The service of a key. */
  at(key: ServiceKey): Service | undefined {
    return this.#byKey.get(key);
  }

  /** Whether some service has the host. */
  has(host: string): boolean {
    return this.#byHost.has(host);
  }

  /** Every service of exactly this host, visible or not, in order of precedence. */
  of(host: string): readonly Service[] {
    return this.#byHost.get(host) ?? NO_SERVICES;
  }

  /** Every host of a service. */
  hosts(): Iterable<string> {
    return this.#byHost.keys();
  }

  /** Every service. */
  all(): Iterable<Service> {
    return this.#byKey.values();
  }

  /**
   * The service of a namespace for a host: the namespace's own service first, then a service of the orchestrator, then
   * the oldest.
   *
   * @param accept Narrows further (to the imports of a Sidecar).
   */
  visible(host: string, namespace: string, accept?: (service: Service) => boolean): Service | undefined {
    let found: Service | undefined;
    for (const service of this.#byHost.get(host) ?? []) {
      if (!this.#sees(service, namespace) || (accept && !accept(service))) continue;
      if (service.namespace === namespace) return service;
      found ??= service;
    }
    return found;
  }

  /** Whether every namespace gets the host's service from the same namespace. */
  isOnlyOf(host: string, namespace: string): boolean {
    const list = this.#byHost.get(host) ?? [];
    return list.length === 1 && list[0]!.namespace === namespace && isPublic(this.#exported(list[0]!));
  }

  /** The namespaces with another view of a host's services than an unnamed namespace. */
  distinctions(host: string): Map<string, Distinction> {
    const list = this.#byHost.get(host) ?? [];
    const found = new Map<string, Distinction>();
    if (list.length === 0 || this.isOnlyOf(host, list[0]!.namespace)) return found;
    const anyone = list.filter((service) => isPublic(this.#exported(service))).map(serviceKey).join();
    const named = list.flatMap((service) => [service.namespace, ...namespacesNamed(this.#exported(service))]);
    for (const namespace of new Set(named)) {
      const seen = list.filter((service) => this.#sees(service, namespace));
      const own = seen.filter((service) => service.namespace === namespace);
      const how = [...own, ...seen.filter((service) => service.namespace !== namespace)].map(serviceKey).join();
      if (how !== anyone) found.set(namespace, { kind: "services", hosts: [host], how });
    }
    return found;
  }

  #sees(service: Service, namespace: string): boolean {
    return isVisible(this.#exported(service), namespace);
  }

  #exported({ namespace, exportTo }: Service): Exported {
    return { namespace, exportTo: exportTo.length > 0 ? exportTo : this.#defaultExportTo };
  }
}

const NO_SERVICES: readonly Service[] = [];

function byPrecedence(a: Service, b: Service): number {
  const orch = Number(b.provider === "Orch") - Number(a.provider === "Orch");
  if (orch !== 0) return orch;
  return a.creationTimestamp - b.creationTimestamp ||
    (a.namespace < b.namespace ? -1 : a.namespace > b.namespace ? 1 : 0);
}
