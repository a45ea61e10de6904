/**
 * The condition `mesh.io/Live`, which says how many proxies have an object in force, and patience with proxies.
 *
 * Most proxies acknowledge a change within a moment. So a status that waits for connected proxies is written a moment
 * later: with quick proxies a change costs one write. When the moment is over, the verdicts that need no proxy are
 * written, and the conditions about proxies stay as they are:
 *
 *     edit ──a moment──> Accepted, ResolvedRefs ──proxies──> Programmed, Live
 *                                               ──15 s─────> the proxies have not acknowledged
 *
 * Without a connected proxy nobody acknowledges, so the status is written at once. Proxies reconnect within a minute when
 * servers restart, and a new leader hears of the proxies of other servers a moment later. So what a condition says of the
 * same version stays for a minute without proxies: a restart writes nothing.
 *
 * @module
 */
import type { ConditionVerdict } from "../attach/types.ts";
import { fails, holds } from "../attach/verdicts.ts";
import type { ProgressSum } from "../../status/progress.ts";
import { objectsOf, STAYS } from "./conditions.ts";

/** Type of the condition. */
export const LIVE = "mesh.io/Live";

/**
 * Time for proxies to acknowledge a version of an object before its status says that they have not, milliseconds. A push
 * waits for up to 10 s while changes come without a pause.
 */
export const PENDING_MS = 15_000;

/**
 * Time for which a True verdict stays while proxies are away or late, and any verdict about proxies while all are away,
 * milliseconds: all servers of a mesh may restart.
 */
export const KEPT_MS = 60_000;

/** Reasons of conditions about proxies. */
export const PENDING = "Pending", REJECTED = "Rejected", NO_PROXY = "NoProxy";

/** How many proxies have an object in force. */
function liveVerdict({ state, live, total, rejected, reason }: ProgressSum): ConditionVerdict {
  const text = `${live} of ${total} proxies have this version in force`;
  switch (state) {
    case "live":
      return holds("Live", text);
    case "pending":
      return fails(PENDING, text);
    case "rejected":
      return fails(REJECTED, `${text}; ${rejected} refuse it: ${reason}`);
    case "nowhere":
      return { status: "Unknown", reason: NO_PROXY, message: "no proxy for this object is connected" };
  }
}

/** A verdict about proxies, with the present condition of the same type. */
export interface ProxyVerdict {
  readonly type: string;
  readonly verdict: ConditionVerdict;
  /** Whether the verdict waits for proxies, and may change by itself. */
  readonly isUnsettled: boolean;
  /** Whether a proxy is connected that may take the object in a moment. */
  readonly hasProxies: boolean;
  /** Whether a present verdict on the same version stays for {@linkcode KEPT_MS}. */
  readonly isKept: boolean;
}

/** How long a status has waited for proxies. */
export interface Patience {
  /** For how long the object has waited for proxies, milliseconds. */
  readonly waited: number;
  /** For how long the whole status waits, so that an edit is one write where proxies are quick, milliseconds. */
  readonly moment: number;
  /** Whether a present verdict is replaced for its numbers alone. */
  readonly fresh: boolean;
}

/** Notes whether an object waits for proxies, and whether any are connected. @returns how long */
export type PatienceOf = (isUnsettled: boolean, hasProxies: boolean) => Patience;

/** Asks for patience with all verdicts of an object. */
export function patienceWith(
  patience: PatienceOf | undefined,
  verdicts: readonly Pick<ProxyVerdict, "hasProxies" | "isUnsettled">[],
): Patience | undefined {
  const unsettled = verdicts.filter(({ isUnsettled }) => isUnsettled);
  return patience?.(unsettled.length > 0, unsettled.some(({ hasProxies }) => hasProxies));
}

/** The answer in place of a status that is not written yet, because proxies may acknowledge in a moment. */
export const WAIT = "wait";

/** When a verdict is judged. */
interface VerdictMoment extends Patience {
  readonly generation: number;
}

/** The verdict on the proxies of an object. */
export function liveCondition(sum: ProgressSum): ProxyVerdict {
  const isUnsettled = sum.state === "pending" || sum.state === "nowhere";
  // A pending object without proxies has not been counted yet.
  const hasProxies = sum.total > 0 || sum.state === "pending";
  return { type: LIVE, verdict: liveVerdict(sum), isUnsettled, hasProxies, isKept: true };
}

/**
 * The verdicts to write, by type; undefined: nothing is written yet. {@linkcode STAYS}: the condition stays as it is.
 *
 * @param present The conditions as they were read.
 * @param moment Undefined: there is no patience.
 */
export function steadyVerdicts(
  present: unknown,
  verdicts: readonly ProxyVerdict[],
  moment: VerdictMoment | undefined,
): Readonly<Record<string, SteadyVerdict>> | undefined {
  const steady = verdicts.map((one) =>
    [one.type, moment === undefined ? one.verdict : steadyVerdict(present, one, moment)] as const
  );
  const known = steady.flatMap(([type, verdict]) => verdict === undefined ? [] : [[type, verdict] as const]);
  return known.length < steady.length ? undefined : Object.fromEntries(known);
}

/** A verdict to write, or {@linkcode STAYS}. */
type SteadyVerdict = ConditionVerdict | typeof STAYS;

/**
 * The verdict to write; undefined: nothing is written yet.
 *
 * @param present The conditions as they were read.
 */
function steadyVerdict(
  present: unknown,
  { type, verdict, isUnsettled, hasProxies, isKept }: ProxyVerdict,
  { generation, waited, moment, fresh }: VerdictMoment,
): SteadyVerdict | undefined {
  const old = objectsOf(present).find((one) => one["type"] === type);
  const isOfNow = old?.["observedGeneration"] === generation;
  const wasTrue = old?.["status"] === "True";
  const stands = wasTrue || (!hasProxies && (old?.["reason"] === PENDING || old?.["reason"] === REJECTED));
  if (isUnsettled && isKept && isOfNow && stands && waited < KEPT_MS) return verdictOf(old);
  // A proxy that has just connected takes the present version in a moment.
  if (isUnsettled && isOfNow && hasProxies && old?.["reason"] === NO_PROXY && waited < moment) return undefined;
  if (isUnsettled && !isOfNow && (hasProxies || wasTrue) && waited < PENDING_MS) {
    // Without a proxy nobody acknowledges in a moment. The Service of a managed Gateway may be ready in a moment.
    return waited < moment && (hasProxies || !isKept) ? undefined : STAYS;
  }
  const hasNumbers = isKept && (type === LIVE || isUnsettled);
  const isSame = old !== undefined && isOfNow && !fresh && hasNumbers && old["status"] === verdict.status &&
    old["reason"] === verdict.reason && differInNumbers(`${old["message"]}`, verdict.message);
  return isSame ? verdictOf(old) : verdict;
}

function verdictOf({ status, reason, message }: Readonly<Record<string, unknown>>): ConditionVerdict {
  return { status: status as ConditionVerdict["status"], reason: `${reason}`, message: `${message}` };
}

/** Whether two messages about proxies differ only in numbers. The words of proxies follow a colon. */
function differInNumbers(one: string, other: string): boolean {
  return wordsIn(one) === wordsIn(other);
}

function wordsIn(message: string): string {
  const colon = message.indexOf(": ");
  return colon === -1 ? "" : message.slice(colon);
}
