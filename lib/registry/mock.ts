/**
 * The `Mock` registry (`--registries=Mock`): services and endpoints from calls of a program, kept in memory.
 *
 * The registry starts empty, because no file or API stands behind it: a server with this registry alone serves a mesh
 * without services. Tests, benchmarks and programs that embed the library fill the registry.
 *
 * @module
 */
import { samePlain } from "./content.ts";
import type { Endpoint, Health, Registry, RegistrySink, Service, ServiceKey, ServicePort, Workload } from "./types.ts";
import { serviceKey } from "./types.ts";

/** Inputs of {@linkcode plainService}. */
export type MockService =
  & { readonly hostname: string; readonly ports: readonly ServicePort[] }
  & Partial<Omit<Service, "hostname" | "ports" | "provider">>;

/** Inputs of {@linkcode plainEndpoint}. */
export type MockEndpoint =
  & { readonly address: string; readonly port: number; readonly portName: string }
  & Partial<Omit<Endpoint, "address" | "port" | "portName">>;

/**
 * A service from its given fields. Defaults: namespace `default`, the host's first label as name, provider `Mock`, made
 * by a `Service` of this name, resolution `static`, inside the mesh, exported to all, at the time 0.
 */
export function plainService(given: MockService & Partial<Pick<Service, "provider">>): Service {
  const { namespace = "default", name = given.hostname.split(".")[0]! } = given;
  return {
    namespace,
    name,
    provider: "Mock",
    addresses: [],
    resolution: "static",
    meshExternal: false,
    exportTo: [],
    labels: {},
    subjectAltNames: [],
    headless: false,
    creationTimestamp: 0,
    cause: `Service/${namespace}/${name}`,
    ...given,
  };
}

/**
 * An endpoint from its given fields. Defaults: namespace `default`, cluster `Mock`, healthy, weight 1, no locality or
 * network, no workload or service account, no mutual TLS.
 */
export function plainEndpoint(given: MockEndpoint): Endpoint {
  return {
    labels: {},
    locality: "",
    network: "",
    clusterId: "Mock",
    weight: 1,
    health: "healthy",
    serviceAccount: "",
    namespace: "default",
    workloadName: "",
    tlsMode: "disabled",
    ...given,
  };
}

/** Services and endpoints in memory. `start` reports the calls before `start`; later calls are reported at once. */
export class MockRegistry implements Registry {
  readonly provider = "Mock";
  readonly clusterId: string;
  readonly #services = new Map<ServiceKey, Service>();
  readonly #endpoints = new Map<ServiceKey, readonly Endpoint[]>();
  readonly #workloads = new Map<string, Workload>();
  #sink: RegistrySink | undefined;

  /** @param clusterId Cluster of all services and endpoints. */
  constructor(clusterId = "Mock") {
    this.clusterId = clusterId;
  }

  /** Shard of the reported endpoints. */
  get shard(): string {
    return `${this.provider}/${this.clusterId}`;
  }

  start(sink: RegistrySink): Promise<void> {
    this.#sink = sink;
    sink.services([...this.#services.values()], []);
    sink.workloads([...this.#workloads.values()], []);
    for (const [key, list] of this.#endpoints) sink.endpoints(key, this.shard, list);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#sink = undefined;
    return Promise.resolve();
  }

  /** Adds a service, or replaces the service of the same namespace and host. Defaults: see {@linkcode plainService}. */
  addService(service: MockService): ServiceKey {
    const full = plainService({ ...service, provider: this.provider });
    const key = serviceKey(full);
    if (samePlain(this.#services.get(key), full)) return key;
    this.#services.set(key, full);
    this.#sink?.services([full], []);
    return key;
  }

  /** Removes a service and its endpoints; unknown keys have no effect. */
  removeService(key: ServiceKey): void {
    if (!this.#services.has(key)) return;
    this.setEndpoints(key, []);
    this.#services.delete(key);
    this.#sink?.services([], [key]);
  }

  /**
   * Replaces all endpoints of a service.
   *
   * Defaults: see {@linkcode plainEndpoint}; the service's namespace and the registry's cluster.
   *
   * @throws Error when the service was not added.
   */
  setEndpoints(key: ServiceKey, endpoints: readonly MockEndpoint[]): void {
    const service = this.#services.get(key);
    if (service === undefined) throw new Error(`service ${key} is not in the mock registry: call addService first`);
    const { clusterId } = this;
    const { namespace } = service;
    const full = endpoints.map((endpoint) => plainEndpoint({ clusterId, namespace, ...endpoint }));
    this.#report(key, full);
  }

  /** Sets the health of all endpoints of a service at an address; returns how many there are. */
  setHealth(key: ServiceKey, address: string, health: Health): number {
    const list = this.#endpoints.get(key) ?? [];
    const hit = list.filter((endpoint) => endpoint.address === address).length;
    if (hit > 0) {
      this.#report(key, list.map((endpoint) => endpoint.address === address ? { ...endpoint, health } : endpoint));
    }
    return hit;
  }

  /** Adds a workload, or replaces the workload of the same id. */
  addWorkload(workload: Workload): void {
    if (samePlain(this.#workloads.get(workload.id), workload)) return;
    this.#workloads.set(workload.id, workload);
    this.#sink?.workloads([workload], []);
  }

  /** Removes a workload; unknown ids have no effect. */
  removeWorkload(id: string): void {
    if (this.#workloads.delete(id)) this.#sink?.workloads([], [id]);
  }

  #report(key: ServiceKey, list: readonly Endpoint[]): void {
    if (samePlain(this.#endpoints.get(key) ?? [], list)) return;
    if (list.length === 0) this.#endpoints.delete(key);
    else this.#endpoints.set(key, list);
    this.#sink?.endpoints(key, this.shard, list);
  }
}
