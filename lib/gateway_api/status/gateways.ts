/**
 * Status of Gateways: conditions, addresses and listeners.
 *
 * @module
 */
import type { ConditionVerdict, GatewayView } from "../attach/types.ts";
import { fails } from "../attach/verdicts.ts";
import { assignedAddresses, type AssignedGateway, type GatewayRuntime } from "./assignment.ts";
import { changedStatus } from "./change.ts";
import { isJudgedLater, mergedConditions, type StatusJson, STAYS, type WantedConditions } from "./conditions.ts";
import { type CountRoutes, listenerStatuses } from "./listeners.ts";
import {
  LIVE,
  liveCondition,
  type PatienceOf,
  patienceWith,
  PENDING,
  type ProxyVerdict,
  steadyVerdicts,
  WAIT,
} from "./live.ts";

/** What is reported about a Gateway. */
export interface GatewayReport {
  readonly view: GatewayView;
  readonly runtime: GatewayRuntime;
  readonly attachedRoutes: CountRoutes;
}

/**
 * The new status of a Gateway; undefined: nothing to write.
 *
 * @param present The status as it was read.
 * @param patience Absent: verdicts about proxies are written as they are.
 */
export function gatewayStatus(
  { view, runtime, attachedRoutes }: GatewayReport,
  present: StatusJson,
  now: string,
  patience?: PatienceOf,
): StatusJson | typeof WAIT | undefined {
  const { gateway, sets } = view;
  const moment = { generation: gateway.meta.generation ?? 0, now };
  if (isJudgedLater(present["conditions"], ["Accepted", "Programmed"], moment.generation)) return undefined;
  const assigned = assignedAddresses(view, runtime);
  const ofProxies = proxyVerdicts(view, programmedWith(assigned, view, runtime), runtime);
  const waited = patienceWith(patience, ofProxies);
  const steady = steadyVerdicts(
    present["conditions"],
    ofProxies,
    waited && { generation: moment.generation, ...waited },
  );
  if (steady === undefined) return WAIT;
  const wanted: WantedConditions = {
    Accepted: view.accepted,
    Programmed: steady["Programmed"],
    ResolvedRefs: view.resolvedRefs,
    InsecureFrontendValidationMode: view.insecureFrontend,
    [LIVE]: steady[LIVE],
  };
  const isWaiting = steady["Programmed"] === STAYS;
  const attachedSets = sets.filter(({ accepted }) => accepted.status === "True").length;
  // The view may have an earlier copy of the Gateway: its status is another object in the store.
  const own = view.listeners.filter(({ owner }) => owner.key === gateway.key);
  return changedStatus(present, {
    // An address that clients may know stays until there is another: DNS follows this field.
    ...(assigned.addresses.length > 0 && { addresses: assigned.addresses }),
    conditions: mergedConditions(present["conditions"], wanted, moment),
    listeners: listenerStatuses(present["listeners"], own, attachedRoutes, { ...moment, isWaiting }),
    // Older definitions have no such field, and an API server would drop the field after each write.
    ...((sets.length > 0 || present["attachedListenerSets"] !== undefined) && { attachedListenerSets: attachedSets }),
  });
}

/**
 * The verdicts on the proxies of a Gateway or of its ListenerSet. If configuration alone decides that the Gateway is not
 * programmed, proxies have nothing to put in force, and their verdict is left out.
 */
export function proxyVerdicts(
  { programmed, addressing }: Pick<GatewayView, "addressing" | "programmed">,
  verdict: ConditionVerdict,
  { proxies }: Pick<GatewayRuntime, "proxies">,
): ProxyVerdict[] {
  const isPending = verdict.status !== "True" && verdict.reason === PENDING;
  // The Service of a managed Gateway and its endpoints get a new port a moment after the Gateway.
  const isMade = verdict.status !== "True" && programmed === undefined && addressing.by === "managed";
  const own = {
    ...{ type: "Programmed", verdict, isUnsettled: isPending || isMade, isKept: isPending },
    hasProxies: isPending && proxies.total > 0,
  };
  return programmed === undefined ? [own, liveCondition(proxies)] : [own];
}

/** Whether a Gateway is programmed at the moment. */
export function programmedVerdict(view: GatewayView, runtime: GatewayRuntime): ConditionVerdict {
  return programmedWith(assignedAddresses(view, runtime), view, runtime);
}

function programmedWith(
  { verdict }: AssignedGateway,
  view: GatewayView,
  { proxies: { total, live, rejected, reason } }: GatewayRuntime,
): ConditionVerdict {
  if (view.programmed !== undefined) return view.programmed;
  if (verdict.status !== "True" || live > 0) return verdict;
  if (total === 0) return fails(PENDING, "no proxy of the Gateway is connected");
  const refusal = rejected === 0 ? "" : `; ${rejected} refuse it: ${reason}`;
  return fails(PENDING, `0 of ${total} proxies have this version of the listeners${refusal}`);
}
