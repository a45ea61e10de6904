/**
 * Services from facts: the orchestrator's objects that lie in the folders (`--registries=File`).
 *
 * @module
 */
import type { AnyFact, Fact } from "../config/facts/types.ts";
import type { MeshNetworks } from "../config/mesh/types.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { unpaced } from "../kernel/time/paced.ts";
import { networkLookup } from "../mesh/networks.ts";
import { OrchRegistry } from "../registry/orch/registry.ts";
import type { ChangeTaker } from "./hand_over.ts";
import { measureOrchRegistry } from "./measure_orch.ts";
import type { MeshSource } from "./mesh_source.ts";
import type { Pipeline } from "./pipeline.ts";
import { type DiscoverySettings, orchOptions } from "./settings.ts";

/** What the registry takes from the process beside its settings. */
export interface FactRegistryOptions {
  readonly clusterId: string;
  readonly domain: string;
  readonly systemNamespace: string;
  /** The mesh networks in force. */
  readonly networks: () => MeshNetworks;
}

/** Services from facts. */
export interface FactRegistry {
  readonly registry: OrchRegistry;
  /** Takes changes of facts. */
  readonly taker: ChangeTaker<Fact>;
}

/** Adds a registry of facts to a pipeline. It has nothing until it is given facts. */
export function addFactRegistry(
  pipeline: Pipeline,
  { networks, ...options }: FactRegistryOptions,
  settings: DiscoverySettings,
): FactRegistry {
  let known: { readonly networks: MeshNetworks; readonly networkOf: (address: string) => string } | undefined;
  const networkOf = (address: string) => {
    const now = networks();
    if (known?.networks !== now) known = { networks: now, networkOf: networkLookup(now, options.clusterId) };
    return known.networkOf(address);
  };
  const registry = new OrchRegistry({
    ...orchOptions(settings),
    ...options,
    trustDomain: () => pipeline.mesh.trustDomain,
    networkOf,
  });
  pipeline.aggregate.onWorkloads((source, upserted, removed) => registry.onWorkloads(source, upserted, removed));
  void pipeline.addRegistry(registry);
  const steps = (removed: readonly Fact[], added: readonly Fact[]) => {
    const present = new Set(added.map(({ key }) => key));
    const gone = removed.filter(({ key }) => !present.has(key)).map(({ key }) => key);
    // The store's lists are of Fact; the union by kind is the same objects with `kind` telling the spec's type.
    return registry.applySteps(added as AnyFact[], gone);
  };
  return {
    registry,
    taker: {
      few: (removed, added) => pipeline.together(() => unpaced(steps(removed, added))),
      many: (removed, added, signal) => pipeline.inSteps(steps(removed, added), signal),
    },
  };
}

/**
 * The same for a server, followed and measured.
 *
 * @param options `manifestServices`: whether there is one.
 */
export function startFactRegistry(
  options: Omit<FactRegistryOptions, "networks"> & { readonly manifestServices?: boolean },
  settings: DiscoverySettings,
  { pipeline, mesh }: { readonly pipeline: Pipeline; readonly mesh: MeshSource },
  kernel: Kernel,
): ChangeTaker<Fact> | undefined {
  if (!options.manifestServices) return undefined;
  const { clusterId, domain, systemNamespace } = options;
  const networks = () => mesh.state.networks;
  const { registry, taker } = addFactRegistry(pipeline, { clusterId, domain, systemNamespace, networks }, settings);
  mesh.onChange(() => registry.again());
  measureOrchRegistry(kernel.metrics, registry.counts);
  return taker;
}
