/**
 * The states of a rollout, as plain data.
 *
 *     spreading ──all proxies of the stage have acknowledged──> soaking ──time is over──> next stage ──> settled
 *         └────────── a proxy rejects, or errors rise ──────────────┴──> taken back
 *
 * @module
 */
import type { RolloutPlan } from "./plan.ts";

export type RolloutPhase = "spreading" | "soaking" | "taken-back";

/** A rollout: an object of which some proxies have a newer version, the candidate. */
export interface RolloutState {
  /** Key of the object. */
  readonly key: string;
  /** Hash of the content of the candidate. */
  readonly candidate: string;
  readonly plan: RolloutPlan;
  /** Position of the stage in the plan. */
  readonly stage: number;
  readonly phase: RolloutPhase;
  /** The beginning of the phase, milliseconds since the epoch. */
  readonly since: number;
  /** Why the candidate was taken back; empty: it was not. */
  readonly reason: string;
}

/** What is known about the proxies of a stage. */
export interface StageFacts {
  /** Concerned proxies, in the stage or not. */
  readonly total: number;
  /** Proxies of the stage. */
  readonly chosen: number;
  /** Of these, proxies that have acknowledged the candidate. */
  readonly live: number;
  /** Of these, proxies that lack resources because of failures to make them. */
  readonly failing: number;
  /** Of these, proxies that have rejected a part of the candidate. */
  readonly refused: number;
  /** The reasons of the refusing proxies. */
  readonly words: readonly string[];
  /** Errors that have risen since the rollout began, in words. Empty: none are known. */
  readonly errors: string;
}

/** Begins a rollout at its first stage. */
export function beginRollout(key: string, candidate: string, plan: RolloutPlan, now: number): RolloutState {
  return { key, candidate, plan, stage: 0, phase: "spreading", since: now, reason: "" };
}

/** The share of the proxies that may have the candidate, in percent. */
export function shareOf({ plan, stage, phase }: RolloutState): number {
  return phase === "taken-back" ? 0 : plan.stages[stage]!.percent;
}

/** Takes the candidate back from all proxies. */
export function takenBack(state: RolloutState, reason: string, now: number): RolloutState {
  return { ...state, phase: "taken-back", since: now, reason };
}

/**
 * The rollout under another plan. The share of the proxies does not grow. A rollout that was taken back begins again,
 * unless only the pause differs.
 */
export function underPlan(state: RolloutState, plan: RolloutPlan, now: number): RolloutState {
  const sameStages = JSON.stringify(plan.stages) === JSON.stringify(state.plan.stages);
  if (sameStages) return plan.paused === state.plan.paused ? state : { ...state, plan };
  if (state.phase === "taken-back") return beginRollout(state.key, state.candidate, plan, now);
  const share = shareOf(state);
  const stage = Math.max(0, plan.stages.findLastIndex(({ percent }) => percent <= share));
  return { ...state, plan, stage, phase: "spreading", since: now };
}

/** A step of a rollout. `settled`: all proxies have had the candidate long enough. */
export function stepRollout(state: RolloutState, facts: StageFacts, now: number): RolloutState | "settled" {
  if (state.phase === "taken-back") return state;
  const { total, chosen, live, failing, refused, words, errors } = facts;
  if (refused > 0) {
    const why = words.length > 0 ? `: ${words.join("; ")}` : "";
    return takenBack(state, `${refused} of ${chosen} proxies reject it${why}`, now);
  }
  if (errors !== "") return takenBack(state, errors, now);
  // Without a proxy nothing is tried.
  if (state.plan.paused || total === 0 || chosen === 0 || live < chosen || failing > 0) return state;
  if (state.phase === "spreading") return { ...state, phase: "soaking", since: now };
  const { soakMs } = state.plan.stages[state.stage]!;
  if (now - state.since < soakMs) return state;
  if (state.stage + 1 === state.plan.stages.length) return "settled";
  return { ...state, stage: state.stage + 1, phase: "spreading", since: now };
}
