/**
 * What is known and kept about an object with a plan.
 *
 * @module
 */
import { HashedObject } from "../config/hashed_object.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import type { EarlierChoice, StageChoice } from "./choice.ts";
import type { ErrorRate } from "./errors.ts";
import { type RolloutState, shareOf, underPlan } from "./machine.ts";
import { ROLLOUT_ANNOTATIONS, type RolloutPlan } from "./plan.ts";

/** What must survive a restart about an object with a plan. */
export interface StagedRecord {
  readonly key: string;
  /** The last version that all proxies had; undefined: there was none. */
  readonly settled: AnyConfigObject | undefined;
  /** Undefined: all proxies have the settled version. */
  readonly rollout: RolloutState | undefined;
  /** The last choice of proxies. */
  readonly choice: EarlierChoice | undefined;
  /** Requests and errors before the rollout; absent: not measured. */
  readonly before?: ErrorRate | undefined;
}

/** A rollout with its objects and proxies, for driver and pages. */
export interface RunningRollout extends RolloutState {
  readonly settled: AnyConfigObject | undefined;
  readonly object: AnyConfigObject;
  /** The proxies with the candidate. */
  readonly proxies: ReadonlySet<string>;
  /** Proxies up to this place in the order have the candidate, at all servers; -1: none. */
  readonly limit: number;
  /** Why the rollout waits for other rollouts; empty: it does not. */
  readonly waits: string;
  /** Requests and errors before the rollout; undefined: not measured. */
  readonly before: ErrorRate | undefined;
  /** Whether the rollout began before a restart, and its proxies still come back. */
  readonly returns: boolean;
}

/** What is known about an object with a plan. */
export interface Staged {
  settled: AnyConfigObject | undefined;
  candidate: AnyConfigObject | undefined;
  rollout: RolloutState | undefined;
  choice: StageChoice;
  total: number;
  /** The choice before a restart, while proxies come back. */
  earlier: EarlierChoice | undefined;
  /** The candidate is about to be the settled version. */
  ends: boolean;
  /** The rollout concerned no proxy when it was looked at last. */
  isIdle: boolean;
  /** The places of the proxies of all servers that keep the candidate while the share of the plan does not fall. */
  kept: ReadonlySet<number>;
  before: ErrorRate | undefined;
}

/** No proxy is chosen. */
export const noChoice = (): StageChoice => ({ proxies: new Set(), limit: -1 });

/** An object with a plan that was not seen before. @param settled The version that all proxies have. */
export function unseenObject(settled: AnyConfigObject | undefined): Staged {
  return {
    ...{ settled, candidate: undefined, rollout: undefined, choice: noChoice(), total: 0 },
    ...{ earlier: undefined, ends: false, isIdle: false, kept: new Set<number>(), before: undefined },
  };
}

/** Puts a rollout under the present plan of its object. @param now milliseconds since the epoch */
export function replan(staged: Staged, plan: RolloutPlan, now: number): void {
  const { rollout } = staged;
  if (rollout === undefined) return;
  staged.rollout = underPlan(rollout, plan, now);
  if (shareOf(staged.rollout) < shareOf(rollout)) staged.kept = new Set();
}

/** A rollout with its objects and proxies. @param waits Why rollouts wait, by object. */
export function shownRollout(
  key: string,
  { settled, candidate, rollout, choice, earlier, before }: Staged,
  waits: ReadonlyMap<string, string>,
): RunningRollout | undefined {
  if (rollout === undefined || candidate === undefined) return undefined;
  const of = { ...rollout, settled, object: candidate, ...choice, before };
  return { ...of, waits: waits.get(key) ?? "", returns: earlier !== undefined };
}

/** What is decided about an object, as text. */
export function decidedText({ settled, candidate, rollout, choice, ends }: Staged): string {
  const hashes = [settled, candidate].map((object) => object && contentHash(object));
  return JSON.stringify([hashes, rollout, choice.limit, ends]);
}

const contents = new WeakMap<ConfigObject, string>();

/** Hash of an object without its plan. Two versions with equal hashes translate alike. */
export function contentHash(object: ConfigObject): string {
  return contents.getOrInsertComputed(object, () => {
    const { kind, meta, spec, origin } = object;
    if (!ROLLOUT_ANNOTATIONS.some((name) => Object.hasOwn(meta.annotations, name))) return object.hash;
    const others = Object.entries(meta.annotations).filter(([name]) => !ROLLOUT_ANNOTATIONS.includes(name));
    return new HashedObject(kind, { ...meta, annotations: Object.fromEntries(others) }, spec, origin).hash;
  });
}
