/**
 * The status of a kind of the mesh: this project's conditions of an object, beside the conditions of other writers.
 *
 * In other projects' definitions, `conditions` is one value and not a list of values by type, so a writer writes
 * everybody's conditions. This module therefore changes its own conditions in the list that was read, and the write
 * names the version that was read.
 *
 * @module
 */
import * as z from "zod";
import type { ApiJson } from "../orch/client/answer.ts";

/** Content of a condition. */
export interface StatusCondition {
  readonly type: string;
  /** `Unknown`: nothing tells. */
  readonly status: "True" | "False" | "Unknown";
  /** A capitalized word, such as `Live`. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

const readCondition = z.object({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() });

/**
 * The conditions of an object with new values for `ours`. Conditions of other writers stay unchanged.
 *
 * @param present `status.conditions` as it was read; anything but a list counts as an empty list.
 * @param now RFC 3339; the time of a condition whose status changes.
 */
export function withConditions(
  present: unknown,
  ours: readonly StatusCondition[],
  generation: number,
  now: string,
): readonly ApiJson[] {
  const rest = new Map(ours.map((one) => [one.type, one]));
  const list: ApiJson[] = [];
  for (const old of Array.isArray(present) ? present as readonly ApiJson[] : []) {
    const read = readCondition.safeParse(old);
    const condition = read.success ? rest.get(read.data.type) : undefined;
    if (condition === undefined) {
      // A duplicate with a type of ours is dropped.
      if (!read.success || !ours.some(({ type }) => type === read.data.type)) list.push(old);
      continue;
    }
    rest.delete(condition.type);
    const stays = read.data?.status === condition.status ? read.data.lastTransitionTime : undefined;
    list.push(written(condition, generation, stays ?? now));
  }
  for (const condition of rest.values()) list.push(written(condition, generation, now));
  return list;
}

function written(condition: StatusCondition, generation: number, lastTransitionTime: string): ApiJson {
  const { type, status, reason, message } = condition;
  return { type, status, reason, message, lastTransitionTime, observedGeneration: generation };
}

/**
 * The change of a status with a single condition of ours; undefined: the status needs no change.
 *
 * @param condition Undefined: the condition no longer applies, and is removed.
 * @param now RFC 3339; the time of the condition if its status changes.
 */
export function conditionChange(
  present: ApiJson,
  type: string,
  condition: StatusCondition | undefined,
  generation: number,
  now: string,
): ApiJson | undefined {
  const before = present["conditions"];
  const list = Array.isArray(before) ? before as readonly ApiJson[] : [];
  const next = condition
    ? withConditions(before, [condition], generation, now)
    : list.filter((one) => readCondition.safeParse(one).data?.type !== type);
  return sameContent(list, next) ? undefined : { conditions: next };
}

/**
 * Whether two values are equal, apart from the order of keys, and from fields dropped by other projects' definitions.
 */
export function sameContent(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => sameContent(one, b[i]));
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const [left, right] = [a as ApiJson, b as ApiJson];
  return Object.keys(left).every((key) => sameContent(left[key], right[key])) &&
    Object.keys(right).every((key) => key in left || key === "message" || key === "observedGeneration");
}
