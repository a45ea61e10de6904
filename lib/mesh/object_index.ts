/**
 * Indexes over the objects of a kind, as rows of the mesh.
 *
 * @module
 */
import type { ConfigObject, Kind } from "../config/types.ts";
import { type AffectedKeys, WORKLOAD_KEY } from "./affected.ts";
import type { GatewayTargets } from "./selection/gateway_targets.ts";

/**
 * An index over the objects of a kind. A new kind of query needs a further index. An index keeps itself up to date, and
 * adds the affected keys of a change.
 */
export interface ObjectIndex<K extends Kind = Kind> {
  readonly kind: K;
  /** Replaces some objects by others. No object of the same key may stay. */
  take(removed: readonly ConfigObject<K>[], added: readonly ConfigObject<K>[], affected: AffectedKeys): void;
}

/** An index with namespaces of affected workloads as the result of an update. */
interface IndexByWorkload<K extends Kind> {
  update(removed: readonly ConfigObject<K>[], added: readonly ConfigObject<K>[]): Iterable<string>;
}

/**
 * A row of the mesh's indexes.
 *
 * @param on The facts about workloads in the index.
 */
export function ofWorkloads<K extends Kind>(kind: K, on: string, index: IndexByWorkload<K>): ObjectIndex<K> {
  return {
    kind,
    take(removed, added, affected) {
      if (removed.length + added.length > 0) affected.addNamespaces(on, index.update(removed, added));
    },
  };
}

/** Facts about workloads that depend on the workloads' targets: of the kinds that may name a target. */
export const ON_TARGETS = [
  WORKLOAD_KEY.authorization,
  WORKLOAD_KEY.tokenPolicy,
  WORKLOAD_KEY.patches,
  WORKLOAD_KEY.telemetry,
  WORKLOAD_KEY.extensions,
];

/**
 * The row of the workloads' targets.
 *
 * @param remembering The indexes that remember answers for workloads with targets.
 */
export function ofTargets(
  targets: GatewayTargets,
  remembering: readonly { forget(): void }[],
): ObjectIndex<"Gateway"> {
  return {
    kind: "Gateway",
    take(removed, added, affected) {
      const namespaces = targets.update(removed, added);
      if (namespaces.size === 0) return;
      for (const index of remembering) index.forget();
      for (const on of ON_TARGETS) affected.addNamespaces(on, namespaces);
    },
  };
}
