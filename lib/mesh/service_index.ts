/**
 * Services by host. Several namespaces may define one host; which of them a namespace gets is decided here.
 *
 * @module
 */
import type { Service, ServiceKey } from "../registry/types.ts";
import { isVisible } from "./visibility.ts";

/** All services of the mesh, indexed by host. */
export class ServiceIndex {
  #byHost = new Map<string, Service[]>();
  #byKey = new Map<ServiceKey, Service>();
  #defaultExportTo: readonly string[];

  /** @param defaultExportTo The mesh-wide default for services that say nothing. */
  constructor(defaultExportTo: readonly string[]) {
    this.#defaultExportTo = defaultExportTo;
  }

  /** Puts or removes one service; tells whether anything changed. */
  set(key: ServiceKey, service: Service | undefined): boolean {
    const old = this.#byKey.get(key);
    if (old === service) return false;
    const host = service?.hostname ?? old!.hostname;
    const others = (this.#byHost.get(host) ?? []).filter((s) => s !== old);
    if (service) {
      this.#byKey.set(key, service);
      others.push(service);
      others.sort(byPrecedence);
    } else {
      this.#byKey.delete(key);
    }
    if (others.length > 0) this.#byHost.set(host, others);
    else this.#byHost.delete(host);
    return true;
  }

  /** Whether some service has that host. */
  has(host: string): boolean {
    return this.#byHost.has(host);
  }

  /** Every host that some service has. */
  hosts(): Iterable<string> {
    return this.#byHost.keys();
  }

  /** Every service. */
  all(): Iterable<Service> {
    return this.#byKey.values();
  }

  /**
   * The service that a namespace gets for a host: its own first, then one of the orchestrator, then the oldest.
   *
   * @param accept Narrows further (what a Sidecar imports).
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

  #sees(service: Service, namespace: string): boolean {
    const exportTo = service.exportTo.length > 0 ? service.exportTo : this.#defaultExportTo;
    return isVisible({ namespace: service.namespace, exportTo }, namespace);
  }
}

function byPrecedence(a: Service, b: Service): number {
  const orch = Number(b.provider === "Orch") - Number(a.provider === "Orch");
  if (orch !== 0) return orch;
  return a.creationTimestamp - b.creationTimestamp ||
    (a.namespace < b.namespace ? -1 : a.namespace > b.namespace ? 1 : 0);
}
