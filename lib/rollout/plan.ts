/**
 * The plan of a rollout, as annotations of an object say: `mesh.io/rollout: 10%,50%:1h,100%`.
 *
 * @module
 */
import { parseDuration } from "../kernel/time/duration.ts";

/** The shares of proxies, with soak times: `10%,50%:1h,100%`. */
export const ROLLOUT_ANNOTATION = "mesh.io/rollout";
/** The soak time of stages without a soak time of their own. */
export const SOAK_ANNOTATION = "mesh.io/rollout-soak";
/** `true`: the rollout stays at its stage. */
export const PAUSED_ANNOTATION = "mesh.io/rollout-paused";

/** The annotations of rollouts. They are no part of the content of an object. */
export const ROLLOUT_ANNOTATIONS: readonly string[] = [ROLLOUT_ANNOTATION, SOAK_ANNOTATION, PAUSED_ANNOTATION];

/** A stage of a rollout. */
export interface RolloutStage {
  /** Share of the concerned proxies, 1 to 100. */
  readonly percent: number;
  /** Time between the last acknowledgement and the next stage, milliseconds. */
  readonly soakMs: number;
}

/** The stages of a rollout, the smallest first. The last stage is everybody. */
export interface RolloutPlan {
  readonly stages: readonly RolloutStage[];
  /** The rollout stays at its stage. A rejection still takes the object back. */
  readonly paused: boolean;
}

/** A value that is no plan. */
export interface PlanFault {
  readonly annotation: string;
  readonly value: string;
  readonly expected: string;
}

/** Most stages of a plan. */
const MAX_STAGES = 20;
/** Longest text of a plan. */
const MAX_TEXT = 1000;
/** Longest text of a soak time. */
const MAX_SOAK_TEXT = 50;
/** Longest soak time, milliseconds. */
const MAX_SOAK = 30 * 24 * 3600 * 1000;

export const STAGES_EXPECTED =
  "rising shares of proxies that end with 100%, each with a soak time where needed, such as 10%,50%:1h,100%";
const SOAK_EXPECTED = "a time such as 10m, at most 720h";

/**
 * Reads the annotations of an object.
 *
 * @param defaultSoakMs The soak time of stages without any other.
 * @param defaultShares The shares of an object without shares of its own.
 * @returns Undefined: the object has no plan. Faults: the object has annotations that are no plan.
 */
export function planOf(
  annotations: Readonly<Record<string, string>>,
  defaultSoakMs: number,
  defaultShares?: string,
): RolloutPlan | readonly PlanFault[] | undefined {
  const text = annotations[ROLLOUT_ANNOTATION] ?? defaultShares;
  if (text === undefined) return undefined;
  const faults: PlanFault[] = [];
  const soakText = annotations[SOAK_ANNOTATION];
  const soak = soakText === undefined ? defaultSoakMs : soakOf(soakText);
  if (soak === undefined) faults.push({ annotation: SOAK_ANNOTATION, value: soakText!, expected: SOAK_EXPECTED });
  const paused = annotations[PAUSED_ANNOTATION];
  if (paused !== undefined && paused !== "true" && paused !== "false") {
    faults.push({ annotation: PAUSED_ANNOTATION, value: paused, expected: "true or false" });
  }
  const stages = stagesOf(text, soak ?? 0);
  if (stages === undefined) faults.push({ annotation: ROLLOUT_ANNOTATION, value: text, expected: STAGES_EXPECTED });
  return stages === undefined || faults.length > 0 ? faults : { stages, paused: paused === "true" };
}

/** Whether annotations are no plan. */
export function isFaults(plan: RolloutPlan | readonly PlanFault[]): plan is readonly PlanFault[] {
  return Array.isArray(plan);
}

/** @returns undefined: the text has no stages */
export function stagesOf(text: string, defaultSoakMs: number): RolloutStage[] | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const parts = text.split(",");
  if (parts.length > MAX_STAGES) return undefined;
  const stages: RolloutStage[] = [];
  for (const part of parts) {
    const [share = "", soak, ...rest] = part.trim().split(":");
    if (!/^\d{1,3}%$/.test(share) || rest.length > 0) return undefined;
    const percent = Number(share.slice(0, -1));
    const soakMs = soak === undefined ? defaultSoakMs : soakOf(soak);
    if (soakMs === undefined || percent <= (stages.at(-1)?.percent ?? 0) || percent > 100) return undefined;
    stages.push({ percent, soakMs });
  }
  return stages.at(-1)?.percent === 100 ? stages : undefined;
}

function soakOf(text: string): number | undefined {
  const soak = text.length > MAX_SOAK_TEXT ? undefined : parseDuration(text);
  return soak === undefined || soak < 0 || soak > MAX_SOAK ? undefined : soak;
}
