/**
 * Annotations of staged rollouts that have no effect.
 *
 * @module
 */
import { KINDS } from "../../config/kinds/kinds.ts";
import { joinPath } from "../../config/schema/field.ts";
import { spelledKey } from "../../config/spelling/istio.ts";
import type { ConfigObject, Kind } from "../../config/types.ts";
import { isFaults, type PlanFault, planOf, ROLLOUT_ANNOTATION, ROLLOUT_ANNOTATIONS } from "../../rollout/plan.ts";
import { whyNotStaged } from "../../rollout/stageable.ts";
import type { Analyzer } from "../analyzer.ts";

/** An analyzer for each kind. */
export const ROLLOUT_PLANS: readonly Analyzer<Kind>[] = KINDS.map((kind) => ({
  kind,
  reports: ["rollout-without-effect"],
  analyze: (object: ConfigObject, _read, report) => {
    for (const { annotation, value, expected } of faultsOf(object)) {
      const field = joinPath("metadata.annotations", spelledKey(object.origin, annotation));
      report("warning", "rollout-without-effect", { field, value, expected });
    }
  },
}));

function faultsOf(object: ConfigObject): readonly PlanFault[] {
  const { annotations } = object.meta;
  const written = ROLLOUT_ANNOTATIONS.filter((name) => Object.hasOwn(annotations, name));
  const fault = (expected: string) =>
    written.map((name) => ({ annotation: name, value: annotations[name]!, expected }));
  if (written.length === 0) return [];
  const why = whyNotStaged(object);
  if (why !== undefined) return fault(`an object that may be at some proxies only: ${why}`);
  if (!written.includes(ROLLOUT_ANNOTATION)) return fault(`the annotation ${ROLLOUT_ANNOTATION} beside it`);
  const plan = planOf(annotations, 0);
  return plan !== undefined && isFaults(plan) ? plan : [];
}
