/**
 * Configuration objects and a recording sink, for registry tests.
 * @module
 */
import type { ConfigObject, ObjectMeta } from "../../lib/config/types.ts";
import type { ServiceEntrySpec, WorkloadEntrySpec } from "../../lib/config/kinds/kinds.ts";
import type {
  Endpoint,
  RegistryNetworks,
  RegistrySink,
  Service,
  ServiceKey,
  Workload,
} from "../../lib/registry/types.ts";
import { serviceKey } from "../../lib/registry/types.ts";
import type { ServiceEntryOptions } from "../../lib/registry/service_entry/registry.ts";
import { inFile } from "../config/origins.ts";

/** The default settings of a process. */
export const OPTIONS: ServiceEntryOptions = {
  clusterId: "c1",
  drainingLabel: "mesh.io/draining",
  selectPods: true,
  autoAllocate: true,
  healthChecks: true,
};

type Meta = Partial<ObjectMeta>;

/** A ServiceEntry; by default static, inside the mesh, with one HTTP port 80. */
export function serviceEntry(
  name: string,
  spec: Partial<ServiceEntrySpec>,
  meta: Meta = {},
): ConfigObject<"ServiceEntry"> {
  return {
    ...common("ServiceEntry", name, meta),
    spec: {
      hosts: [`${name}.example.com`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      ...spec,
    },
  };
}

/** A WorkloadEntry. */
export function workloadEntry(name: string, spec: WorkloadEntrySpec, meta: Meta = {}): ConfigObject<"WorkloadEntry"> {
  return { ...common("WorkloadEntry", name, meta), spec };
}

function common<K extends "ServiceEntry" | "WorkloadEntry">(kind: K, name: string, meta: Meta) {
  const full: ObjectMeta = {
    name,
    namespace: "default",
    labels: {},
    annotations: {},
    creationTimestamp: 0,
    ...meta,
  };
  return {
    kind,
    key: `${kind}/${full.namespace}/${name}`,
    meta: full,
    origin: inFile("test.yaml"),
    hash: "",
  };
}

/** A pod of another registry. */
export function pod(name: string, address: string, labels: Record<string, string>): Workload {
  return {
    id: `pod/default/${name}`,
    name,
    namespace: "default",
    kind: "pod",
    addresses: [address],
    labels,
    serviceAccount: "sa",
    locality: "",
    network: "",
    clusterId: "c1",
    weight: 1,
    health: "healthy",
    ports: {},
    tlsMode: "mesh",
  };
}

/** Keeps the state reported by a registry, and each call. */
export class RecordingSink implements RegistrySink {
  readonly state = {
    services: new Map<ServiceKey, Service>(),
    endpoints: new Map<ServiceKey, Map<string, readonly Endpoint[]>>(),
    workloads: new Map<string, Workload>(),
    networks: [] as RegistryNetworks[],
  };
  /** A line for each fact: `+service key`, `-service key`, `endpoints key count`, `+workload id`, `-workload id`. */
  readonly calls: string[] = [];

  services(upserted: readonly Service[], removed: readonly ServiceKey[]): void {
    for (const service of upserted) {
      this.state.services.set(serviceKey(service), service);
      this.calls.push(`+service ${serviceKey(service)}`);
    }
    for (const key of removed) {
      this.state.services.delete(key);
      this.calls.push(`-service ${key}`);
    }
  }

  endpoints(service: ServiceKey, shard: string, endpoints: readonly Endpoint[]): void {
    const shards = this.state.endpoints.get(service) ?? new Map<string, readonly Endpoint[]>();
    if (endpoints.length > 0) shards.set(shard, endpoints);
    else shards.delete(shard);
    if (shards.size > 0) this.state.endpoints.set(service, shards);
    else this.state.endpoints.delete(service);
    this.calls.push(`endpoints ${service} ${endpoints.length}`);
  }

  workloads(upserted: readonly Workload[], removed: readonly string[]): void {
    for (const workload of upserted) {
      this.state.workloads.set(workload.id, workload);
      this.calls.push(`+workload ${workload.id}`);
    }
    for (const id of removed) {
      this.state.workloads.delete(id);
      this.calls.push(`-workload ${id}`);
    }
  }

  networks(known: RegistryNetworks): void {
    this.state.networks = [known];
  }

  /** All endpoints of a service. */
  endpointsOf(service: ServiceKey): readonly Endpoint[] {
    return [...this.state.endpoints.get(service)?.values() ?? []].flat();
  }

  /** `address:port/portName` of each endpoint of a service. */
  addresses(service: ServiceKey): string[] {
    return this.endpointsOf(service).map((endpoint) => `${endpoint.address}:${endpoint.port}/${endpoint.portName}`);
  }

  /** Takes the calls since the last time out of the list. */
  take(): string[] {
    return this.calls.splice(0);
  }
}
