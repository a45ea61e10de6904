/**
 * The status of a kind of the mesh: our conditions of an object, beside those of others.
 *
 * In definitions of others `conditions` is one value, not a list of values by type: a writer writes those of all.
 * So ours are put among those that were read, and the write is for the version that was read.
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
  /** One word in capital letters of its own: `Live`. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

const readCondition = z.object({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() });

/**
 * The conditions of an object with ours in their places; those of others stay as they are.
 *
 * @param present `status.conditions` as it was read; anything but a list counts as none.
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
      // A second one of a type of ours is nobody's.
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
