/**
 * InferencePools: the Gateways whose routes lead to a pool, and the pool as a service of the mesh.
 *
 *     pool, HTTPRoutes ──> Gateways of ours ──> verdicts for the pool's status
 *                                 └───────────> a ServiceEntry with the pool's pods, for these Gateways alone
 *
 * @module
 */
import type { DerivedGroup, DerivedObject } from "../../config/derive/derivation.ts";
import { INFERENCE_GROUP } from "../../config/spelling/spelling.ts";
import { isPermitted } from "../attach/grants.ts";
import { type InferencePool, MISSING, pickerOf, type PoolPicker } from "../attach/pools.ts";
import type { ApiRoute, AttachReader, ConditionVerdict, PoolParent } from "../attach/types.ts";
import { ALL_RESOLVED, fails, faultText } from "../attach/verdicts.ts";
import { poolServiceEntry } from "../derive/pool_service.ts";
import type { GroupContext, GroupVerdicts } from "./judged.ts";
import type { PoolParents } from "./pool_parents.ts";

/**
 * The verdicts on a pool, and its ServiceEntry.
 *
 * @param routes The routes that name the pool as a backend.
 * @param parentsOf The Gateways of routes, under the same options for all pools.
 */
export function inferencePool(
  pool: InferencePool,
  routes: readonly ApiRoute[],
  { read, options, views }: GroupContext,
  parentsOf: PoolParents,
): DerivedGroup<GroupVerdicts> {
  const parents = read.part(
    "parents",
    [pool, ...routes],
    (reader) => mergedParents(parentsOf.of(permitted(routes, pool, reader), { read: reader, options, views })),
  );
  const found = read.part("picker", [pool], (reader) => pickerOf(pool, reader, options));
  const users = [...new Set(parents.filter(isAccepted).map(({ namespace }) => namespace))].sort();
  const isServed = found.picker !== undefined && users.length > 0;
  const objects: readonly DerivedObject[] = isServed
    ? [read.part("service", [pool, users.join(" ")], () => poolServiceEntry(pool, users))]
    : [];
  const judged = found.fault === MISSING ? parents.map(withoutPicker) : parents;
  return { objects, about: { routes: [], pool: { pool, parents: judged, resolvedRefs: refsVerdict(found) } } };
}

/** A Gateway with routes to a pool without a picker: the Gateway has no other way to choose endpoints of the pool. */
function withoutPicker(parent: PoolParent): PoolParent {
  return isAccepted(parent) ? { ...parent, accepted: PICKER_MISSING } : parent;
}

const PICKER_MISSING = fails("EndpointPickerRefMissing", faultText(MISSING));

function isAccepted({ accepted }: PoolParent): boolean {
  return accepted.status === "True";
}

function refsVerdict({ fault }: PoolPicker): ConditionVerdict {
  return fault === undefined || fault === MISSING ? ALL_RESOLVED : fails("InvalidExtensionRef", faultText(fault));
}

/** The routes that may lead to a pool. A route without permission must not appear in the status of the pool. */
function permitted(
  routes: readonly ApiRoute[],
  { meta: { namespace, name } }: InferencePool,
  read: AttachReader,
): readonly ApiRoute[] {
  const target = { group: INFERENCE_GROUP, kind: "InferencePool", namespace, name };
  const known = new Map<string, boolean>();
  return routes.filter(({ kind, meta }) =>
    known.getOrInsertComputed(
      `${kind}/${meta.namespace}`,
      () => isPermitted({ kind, namespace: meta.namespace }, target, read),
    )
  );
}

/** One entry for each Gateway: a Gateway accepts the pool if it accepts one of the routes. */
function mergedParents(lists: readonly (readonly PoolParent[])[]): readonly PoolParent[] {
  const found = Map.groupBy(lists.flat(), ({ namespace, name }) => `${namespace}/${name}`);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, same]) => {
    const best = same.find(isAccepted) ?? same[0];
    return best === undefined ? [] : [{ ...best, routes: [...new Set(same.flatMap(({ routes }) => routes))] }];
  });
}
