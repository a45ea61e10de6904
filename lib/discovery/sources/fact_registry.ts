/**
 * Services from facts: objects of the orchestrator's API (`--registries=Orch`), or manifests in folders
 * (`--registries=File`).
 *
 * @module
 */
import type { AnyFact, Fact } from "../../config/facts/types.ts";
import type { MeshNetworks } from "../../config/mesh/types.ts";
import { unpaced } from "../../kernel/time/paced.ts";
import { gatewaysByService, networkLookup } from "../../mesh/networks.ts";
import { isRegistryKind } from "../../registry/orch/options.ts";
import { OrchRegistry } from "../../registry/orch/registry.ts";
import type { ChangeTaker } from "../pipeline/hand_over.ts";
import type { MeshSource } from "./mesh_source.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { orchOptions, type OrchVariables } from "../settings/settings.ts";

/** Inputs of the registry from the process, beside the settings. */
export interface FactRegistryOptions {
  readonly clusterId: string;
  readonly domain: string;
  readonly systemNamespace: string;
  /** The mesh networks in force. */
  readonly networks: () => MeshNetworks;
  /**
   * The origin of facts that become services. Manifests do not become services beside an orchestrator's own objects.
   */
  readonly from: "file" | "api";
}

/** Services from facts. */
export interface FactRegistry {
  readonly registry: OrchRegistry;
  /** Takes changes of facts. */
  readonly taker: ChangeTaker<Fact>;
  readonly check: ServicesCheck;
}

/** Compares services with their facts, and repairs the services. All changes must be handed over before a check. */
export interface ServicesCheck {
  /** Makes the results of facts again. @returns the number of differing results */
  check(facts: readonly Fact[]): number;
  /** Keys of the registry's facts of a kind. */
  keys(kind: string): Iterable<string>;
  /** Removes the results of facts that are gone. @returns the number of removed results */
  drop(keys: readonly string[]): number;
}

/**
 * Adds a registry of facts to a pipeline. Its services may select workload entries. The registry is empty until it is
 * given facts.
 */
export function addFactRegistry(
  pipeline: Pipeline,
  options: FactRegistryOptions,
  settings: OrchVariables,
): FactRegistry {
  const added = addClusterRegistry(pipeline, options, settings);
  const { registry } = added;
  pipeline.aggregate.onWorkloads((source, upserted, removed) => registry.onWorkloads(source, upserted, removed));
  return added;
}

/** Adds the registry of one cluster among several. `Pipeline.removeRegistry` removes the registry. */
export function addClusterRegistry(
  pipeline: Pipeline,
  { networks, ...options }: FactRegistryOptions,
  settings: OrchVariables,
): FactRegistry {
  const known = lastMade(networks, (now) => ({
    networkOf: networkLookup(now, options.clusterId),
    gateways: gatewaysByService(now, options.clusterId),
  }));
  const registry = new OrchRegistry({
    ...orchOptions(settings),
    ...options,
    // API objects have addresses of their own, and need no substitute addresses.
    ...(options.from === "file" ? { standIns: pipeline.standIns } : {}),
    trustDomain: () => pipeline.mesh.trustDomain,
    networkOf: (address) => known().networkOf(address),
    namedGateways: (hostname) => known().gateways.get(hostname) ?? [],
  });
  void pipeline.addRegistry(registry);
  return { registry, ...registryParts(registry, pipeline, options.from) };
}

/** Hands changes of facts to a registry, and checks the registry. */
function registryParts(
  registry: OrchRegistry,
  pipeline: Pipeline,
  from: FactRegistryOptions["from"],
): Omit<FactRegistry, "registry"> {
  const isOurs = ({ origin }: Fact) => origin.from === from;
  const steps = (removed: readonly Fact[], all: readonly Fact[]) => {
    const added = all.filter(isOurs);
    const present = new Set(added.map(({ key }) => key));
    const gone = removed.filter((fact) => isOurs(fact) && !present.has(fact.key)).map(({ key }) => key);
    // The store's lists are of Fact; the union by kind is the same objects with `kind` telling the spec's type.
    return registry.applySteps(added as AnyFact[], gone);
  };
  return {
    check: {
      check: (facts) => checked(pipeline, () => registry.check(facts.filter(isOurs) as AnyFact[], [])),
      keys: (kind) => isRegistryKind(kind) ? registry.keys(kind) : [],
      drop: (keys) => checked(pipeline, () => registry.check([], keys)),
    },
    taker: {
      few: (removed, added) => pipeline.together(() => unpaced(steps(removed, added))),
      many: (removed, added, signal) => pipeline.inSteps(steps(removed, added), signal),
    },
  };
}

function checked(pipeline: Pipeline, check: () => number): number {
  let drifted = 0;
  pipeline.together(() => drifted = check());
  return drifted;
}

/** Derives a value from the present networks. The value is derived once for each version of the networks. */
function lastMade<T>(networks: () => MeshNetworks, make: (networks: MeshNetworks) => T): () => T {
  let last: { readonly of: MeshNetworks; readonly made: T } | undefined;
  return () => {
    const of = networks();
    if (last?.of !== of) last = { of, made: make(of) };
    return last.made;
  };
}

/** The facts that become services of a server. */
export interface ServiceFacts {
  /** Manifests are services. */
  readonly manifestServices?: boolean;
  /** API objects are services if `services` is set. */
  readonly orch?: { readonly services: boolean } | undefined;
}

/** The origin of facts that become services; undefined: no facts become services. */
export function factServices({ manifestServices, orch }: ServiceFacts): FactRegistryOptions["from"] | undefined {
  return manifestServices ? "file" : orch?.services ? "api" : undefined;
}

/** Where the services of a server come from. */
interface ServicesOptions extends Omit<FactRegistryOptions, "networks" | "from">, ServiceFacts {}

/** Starts the registry of facts of a server; undefined: neither manifests nor objects of the API become services. */
export function startFactRegistry(
  options: ServicesOptions,
  settings: OrchVariables,
  { pipeline, mesh }: { readonly pipeline: Pipeline; readonly mesh: MeshSource },
): FactRegistry | undefined {
  const from = factServices(options);
  if (from === undefined) return undefined;
  const { clusterId, domain, systemNamespace } = options;
  const place = { clusterId, domain, systemNamespace, from, networks: () => mesh.state.networks } as const;
  const added = addFactRegistry(pipeline, place, settings);
  mesh.onChange(() => added.registry.again());
  return added;
}
