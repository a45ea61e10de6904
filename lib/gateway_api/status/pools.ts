/**
 * Status of InferencePools: an entry for each Gateway whose routes lead to the pool.
 *
 * @module
 */
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { JudgedPool } from "../attach/types.ts";
import { changedStatus } from "./change.ts";
import { objectsOf, type StatusJson } from "./conditions.ts";
import { type IsOurs, mergedEntries, referenceOf, type WantedEntry } from "./parents.ts";

/** What is reported about a pool. */
export interface PoolReport extends JudgedPool {
  readonly isOurs: IsOurs;
}

/** Most entries of a status. */
const MOST_PARENTS = 32;

/**
 * The new status of a pool; undefined: nothing to write.
 *
 * @param present The status as it was read.
 */
export function poolStatus({ pool, parents, resolvedRefs, isOurs }: PoolReport, present: StatusJson, now: string) {
  const { namespace, generation = 0 } = pool.meta;
  const wanted = parents.map(({ namespace, name, controller, accepted }): WantedEntry => ({
    ref: { group: GATEWAY_API_GROUP, kind: "Gateway", namespace, name },
    controller,
    conditions: { Accepted: accepted, ResolvedRefs: resolvedRefs },
  }));
  const known = objectsOf(present["parents"]).filter((entry) => !isPlaceholder(entry));
  const list = { field: "parentRef", most: MOST_PARENTS, namespace, isOurs } as const;
  const next = mergedEntries(known, wanted, list, { generation, now });
  if (next === undefined || (next.length === 0 && present["parents"] === undefined)) return undefined;
  return changedStatus(present, { parents: next });
}

/** Early definitions give a pool without a status an entry about nothing. */
function isPlaceholder({ parentRef }: StatusJson): boolean {
  const { kind, name } = referenceOf(parentRef);
  return kind === "Status" && name === "default";
}
