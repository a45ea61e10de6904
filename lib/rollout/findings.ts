/**
 * Findings about rollouts.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { type Finding, infoOf, lossOf, warningOf } from "../finding/finding.ts";
import { ROLLOUT_ANNOTATION } from "./plan.ts";
import { whyNotStaged } from "./stageable.ts";
import type { StagedObjects } from "./staged_objects.ts";

/** The objects whose newest version has not reached all proxies, was taken back, or went everywhere at once. */
export function rolloutFindings(staged: StagedObjects | undefined): Finding[] {
  if (staged === undefined) return [];
  const atOnce = [...staged.atOnce].map(([key, why]) => infoOf("rollout-at-once", [key], why));
  return [...atOnce, ...staged.active ? runningFindings(staged) : []];
}

function runningFindings(staged: StagedObjects): Finding[] {
  return staged.rollouts().map(({ key, stage, phase, plan: { stages, paused }, waits, reason }) => {
    const at = `stage ${stage + 1} of ${stages.length} (${stages[stage]?.percent ?? 0}%)`;
    if (phase === "taken-back") return lossOf("rollout-taken-back", [key], `stopped at ${at}: ${reason}`);
    const why = paused ? ", paused" : waits === "" ? "" : `: ${waits}`;
    return infoOf("rollout-in-progress", [key], `${at}, ${phase}${why}`);
  });
}

/** The objects with a plan at a server that stages nothing. The analysis finds objects that no server stages. */
export function unstagedFindings(objects: Iterable<ConfigObject>): Finding[] {
  const found: Finding[] = [];
  for (const object of objects) {
    if (!Object.hasOwn(object.meta.annotations, ROLLOUT_ANNOTATION) || whyNotStaged(object) !== undefined) continue;
    found.push(warningOf("rollout-without-effect", [object.key], "this server has no place for the state of rollouts"));
  }
  return found;
}
