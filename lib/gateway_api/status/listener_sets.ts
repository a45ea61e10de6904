/**
 * Status of ListenerSets.
 *
 * @module
 */
import type { ProgressSum } from "../../status/progress.ts";
import type { ConditionVerdict, GatewayView, ListenerSetView } from "../attach/types.ts";
import { fails } from "../attach/verdicts.ts";
import { changedStatus } from "./change.ts";
import { isJudgedLater, mergedConditions, type StatusJson, STAYS } from "./conditions.ts";
import { proxyVerdicts } from "./gateways.ts";
import { type CountRoutes, listenerStatuses } from "./listeners.ts";
import { LIVE, type PatienceOf, patienceWith, steadyVerdicts, WAIT } from "./live.ts";

/** What is reported about a ListenerSet. */
export interface ListenerSetReport {
  readonly view: ListenerSetView;
  readonly attachedRoutes: CountRoutes;
  readonly parent: GatewayView;
  /** Whether the Gateway of the set is programmed. */
  readonly gateway: ConditionVerdict;
  /** What the Gateway's connected proxies have of this version of the set's listeners. */
  readonly proxies: ProgressSum;
}

/**
 * The new status of a ListenerSet; undefined: nothing to write.
 *
 * @param present The status as it was read.
 * @param patience Absent: verdicts about proxies are written as they are.
 */
export function listenerSetStatus(
  { view: { set, accepted, programmed, listeners }, attachedRoutes, parent, gateway, proxies }: ListenerSetReport,
  present: StatusJson,
  now: string,
  patience?: PatienceOf,
): StatusJson | typeof WAIT | undefined {
  const moment = { generation: set.meta.generation ?? 0, now };
  if (isJudgedLater(present["conditions"], ["Accepted", "Programmed"], moment.generation)) return undefined;
  const isServed = programmed.status === "True";
  const own = isServed ? proxyVerdicts(parent, ownVerdict(programmed, gateway), { proxies }) : [];
  const isKept = gateway.status !== "True" && gateway.reason === "Pending";
  const hasProxies = isKept && proxies.total > 0;
  const ofProxies = own.map((one) =>
    one.type === LIVE ? one : { ...one, isUnsettled: one.isUnsettled || isKept, isKept, hasProxies }
  );
  const waited = patienceWith(patience, ofProxies);
  const steady = steadyVerdicts(
    present["conditions"],
    ofProxies,
    waited && { generation: moment.generation, ...waited },
  );
  if (steady === undefined) return WAIT;
  const wanted = { Accepted: accepted, Programmed: steady["Programmed"] ?? programmed, [LIVE]: steady[LIVE] };
  const isWaiting = steady["Programmed"] === STAYS;
  const isListed = listeners.length > 0 || present["listeners"] !== undefined;
  return changedStatus(present, {
    conditions: mergedConditions(present["conditions"], wanted, moment),
    ...(isListed &&
      { listeners: listenerStatuses(present["listeners"], listeners, attachedRoutes, { ...moment, isWaiting }) }),
  });
}

function ownVerdict(programmed: ConditionVerdict, gateway: ConditionVerdict): ConditionVerdict {
  if (gateway.status === "True") return programmed;
  return fails("ParentNotProgrammed", `the Gateway is not programmed: ${gateway.message}`);
}
