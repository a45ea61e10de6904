/**
 * The inbound side of a sidecar: the clusters and listeners that carry traffic to its workload. Workloads that serve the
 * same ports in the same way share them.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../incremental/keys.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { Caches } from "../cache/caches.ts";
import type { InboundSets } from "../cache/sets.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import { inboundTargetsName } from "../inbound/same_targets.ts";
import type { InboundTarget } from "../inbound/target.ts";
import { type Passthrough, passthroughName } from "../listener/inbound/passthrough.ts";
import type { TranslationNote } from "../message/notes.ts";
import type { MeshAnswers } from "../reader/mesh_answers.ts";
import type { PerProxyResources } from "./resources.ts";

/** The inbound resources of a workload that serves some ports. */
export function sidecarResources(
  caches: Caches,
  targets: readonly InboundTarget[],
  source: MeshAnswers,
): PerProxyResources {
  const shared = caches.passthrough.get(passthroughName(source), source, undefined);
  const input = { targets, passthrough: shared.value };
  return new SidecarResources(caches.inbound.get(inboundTargetsName(targets), source, input), shared, caches.empty);
}

class SidecarResources implements PerProxyResources {
  readonly #result: TranslationResult<InboundSets>;
  readonly #passthrough: TranslationResult<Passthrough>;
  readonly routes: ResourceSet;

  constructor(
    result: TranslationResult<InboundSets>,
    passthrough: TranslationResult<Passthrough>,
    empty: ResourceSet,
  ) {
    this.#result = result;
    this.#passthrough = passthrough;
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
    return this.#result.failed === true || this.#passthrough.failed === true;
  }

  /** Inbound routes are inside their listeners. */
  virtualHosts(_routeConfiguration: string): undefined {
    return undefined;
  }

  dependsOnAny(keys: InvalidatedKeys): boolean {
    return this.#result.record.dependsOnAny(keys) || this.#passthrough.record.dependsOnAny(keys);
  }

  notes(): Iterable<TranslationNote> {
    return this.#result.notes ?? [];
  }

  results(): readonly TranslationResult<unknown>[] {
    return [this.#result, this.#passthrough];
  }
}
