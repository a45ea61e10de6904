/**
 * The inbound side of a sidecar: clusters and listeners for traffic to the workload. Workloads with equal ports share
 * these resources.
 *
 * @module
 */
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches } from "../cache/caches.ts";
import type { InboundSets } from "../results/sets.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import { inboundTargetsName } from "../../inbound/same_targets.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import { type InboundManager, managerShapes, shapeName } from "../../listener/inbound/manager.ts";
import { passthroughName } from "../../listener/inbound/passthrough.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import type { PerProxyResources } from "./resources.ts";

/** The inbound resources of a workload with served ports. */
export function sidecarResources(
  caches: Caches,
  targets: readonly InboundTarget[],
  source: ScopeReader,
): PerProxyResources {
  const policies = passthroughName(source);
  const passthrough = caches.of.passthrough.get(policies, source, undefined);
  const parts: TranslationResult<unknown>[] = [passthrough];
  const managers = new Map<string, InboundManager>();
  for (const shape of managerShapes(targets)) {
    const name = shapeName(shape);
    if (managers.has(name)) continue;
    const manager = caches.of.managers.get(`${name} ${policies}`, source, shape);
    managers.set(name, manager.value);
    parts.push(manager);
  }
  const input = { targets, passthrough: passthrough.value, managers };
  return new SidecarResources(caches.of.inbound.get(inboundTargetsName(targets), source, input), parts, caches.empty);
}

class SidecarResources implements PerProxyResources {
  readonly #result: TranslationResult<InboundSets>;
  readonly results: readonly TranslationResult<unknown>[];
  readonly routes: ResourceSet;

  /** @param parts Results in common with other workloads. */
  constructor(
    result: TranslationResult<InboundSets>,
    parts: readonly TranslationResult<unknown>[],
    empty: ResourceSet,
  ) {
    this.#result = result;
    this.results = [result, ...parts];
    this.routes = empty;
  }

  get clusters(): ResourceSet {
    return this.#result.value.clusters;
  }

  get listeners(): ResourceSet {
    return this.#result.value.listeners;
  }

  get secrets(): ResourceSet {
    return this.#result.value.secrets;
  }

  get failing(): boolean {
    return this.results.some(({ failed }) => failed === true);
  }

  /** Inbound routes are inside their listeners. */
  virtualHosts(_routeConfiguration: string): undefined {
    return undefined;
  }

  notes(): Iterable<TranslationNote> {
    return this.#result.notes ?? [];
  }
}
