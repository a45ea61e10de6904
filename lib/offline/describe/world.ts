/**
 * The inputs of a description: the indexes of a mesh, and its workloads.
 *
 * @module
 */
import type { BindingWorld } from "../../ambient/binding.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import type { Aggregate } from "../../registry/aggregate.ts";
import type { EndpointIndex } from "../../registry/endpoint_index.ts";
import type { ImpliedProxy } from "../workloads.ts";

/** The world that a description reads. */
export interface DescribedWorld {
  readonly domain: string;
  readonly store: Pick<ConfigStore, "list" | "get" | "at">;
  readonly facts: FactStore;
  readonly services: Pick<Aggregate, "service" | "services" | "workloadsAt">;
  readonly endpoints: Pick<EndpointIndex, "endpoints" | "byAddress">;
  readonly mesh: Mesh;
  /** `layersPolicies` of the translator. */
  readonly layersPolicies: boolean;
  /** The objects that decide about waypoints. */
  readonly bindings: BindingWorld;
  /** Workloads with and without a proxy. */
  readonly workloads: readonly ImpliedProxy[];
  /** What is known of the proxy of a workload, in words. */
  proxyText(workload: ImpliedProxy): string;
}
