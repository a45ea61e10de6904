/**
 * Conditions of the Gateway API's kinds, merged into the conditions that are there.
 *
 * @module
 */
import { withConditions } from "../../status/conditions.ts";
import type { ConditionVerdict } from "../attach/types.ts";

/** A status, or a part of one, as JSON. */
export type StatusJson = Readonly<Record<string, unknown>>;

/** The answer in place of a verdict on a condition that stays as it is, with its own generation, or stays absent. */
export const STAYS = "stays";

/** Verdicts by the type of their condition, in the order of a new list. Undefined: the condition must not be there. */
export type WantedConditions = Readonly<Record<string, ConditionVerdict | typeof STAYS | undefined>>;

/** When and of which version a status is written. */
export interface StatusMoment {
  /** `metadata.generation` of the judged object. */
  readonly generation: number;
  /** RFC 3339; the time of a condition whose status changes. */
  readonly now: string;
}

/** The conditions with new verdicts. Conditions of other types stay as they are, in their places. */
export function mergedConditions(
  present: unknown,
  wanted: WantedConditions,
  { generation, now }: StatusMoment,
): readonly StatusJson[] {
  const entries = Object.entries(wanted);
  const gone = new Set(entries.filter(([, verdict]) => verdict === undefined).map(([type]) => type));
  const kept = objectsOf(present).filter(({ type }) => typeof type !== "string" || !gone.has(type));
  const ours = entries.flatMap(([type, verdict]) =>
    verdict === undefined || verdict === STAYS ? [] : [{ type, ...verdict }]
  );
  return withConditions(kept, ours, generation, now);
}

/** Whether conditions were judged for a later version of the object than ours: then our judgement is stale. */
export function isJudgedLater(present: unknown, types: readonly string[], generation: number): boolean {
  return objectsOf(present).some(({ type, observedGeneration }) =>
    types.includes(String(type)) && typeof observedGeneration === "number" && observedGeneration > generation
  );
}

/** The objects of a list; anything but a list counts as an empty list. */
export function objectsOf(list: unknown): readonly StatusJson[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === "object" && one !== null) : [];
}
