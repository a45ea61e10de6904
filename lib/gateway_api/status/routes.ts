/**
 * Status of routes: an entry for each distinct parent of ours.
 *
 * @module
 */
import type { ApiRoute, ConditionVerdict, RouteAtParent } from "../attach/types.ts";
import { fails, holds, joined } from "../attach/verdicts.ts";
import type { ProgressSum } from "../../status/progress.ts";
import { parentKey } from "../attach/routes.ts";
import { changedStatus } from "./change.ts";
import type { StatusJson, StatusMoment, WantedConditions } from "./conditions.ts";
import { LIVE, liveCondition, type PatienceOf, patienceWith, type ProxyVerdict, steadyVerdicts, WAIT } from "./live.ts";
import { type IsOurs, mergedEntries, presentConditions } from "./parents.ts";

/** A part of a rule that cannot be served as written: the rule answers with an error. */
export interface RefusedRule {
  /** Position of the rule, from 0. */
  readonly rule: number;
  /** A reason of routes, such as `InvalidFilter`. */
  readonly reason: string;
  readonly message: string;
}

/** What is reported about a route. */
export interface RouteReport {
  readonly route: ApiRoute;
  /** At all parents. */
  readonly attachments: readonly RouteAtParent[];
  /** The verdicts on references for parents of each sort: routes at services need no ReferenceGrant. */
  readonly resolvedRefs: { readonly gateway: ConditionVerdict; readonly mesh: ConditionVerdict };
  readonly refused: readonly RefusedRule[];
  /** What the proxies of a parent have of this version of the route; undefined: nobody counts. */
  readonly proxies?: (at: RouteAtParent) => ProgressSum | undefined;
  readonly isOurs: IsOurs;
}

/** Most parents of a status. */
const MOST_PARENTS = 32;

/**
 * The new status of a route; undefined: nothing to write.
 *
 * @param present The status as it was read.
 * @param patience Absent: verdicts about proxies are written as they are.
 */
export function routeStatus(
  report: RouteReport,
  present: StatusJson,
  now: string,
  patience?: PatienceOf,
): StatusJson | typeof WAIT | undefined {
  const { route, attachments, isOurs } = report;
  const { namespace, generation = 0 } = route.meta;
  const list = { field: "parentRef", most: MOST_PARENTS, namespace, isOurs } as const;
  const live = attachments.map((at) => liveAt(at, report));
  const waited = patienceWith(patience, live.filter((one) => one !== undefined));
  const old = presentConditions(present["parents"], list);
  const steady = live.map((one, index) => {
    const { ref } = attachments[index]!;
    const moment = waited && { generation, ...waited };
    return one === undefined ? {} : steadyVerdicts(old.get(parentKey(ref, namespace)), [one], moment);
  });
  if (steady.includes(undefined)) return WAIT;
  const wanted = attachments.map((at, index) => ({
    ...{ ref: at.ref, controller: at.controller },
    conditions: { ...conditionsOf(at, report), [LIVE]: steady[index]?.[LIVE] },
  }));
  const parents = mergedEntries(present["parents"], wanted, list, { generation, now } satisfies StatusMoment);
  if (parents === undefined || (parents.length === 0 && present["parents"] === undefined)) return undefined;
  return changedStatus(present, { parents });
}

/** The verdict on the proxies of a parent; undefined: the parent does not take the route, or nobody counts. */
function liveAt(at: RouteAtParent, { proxies }: RouteReport): ProxyVerdict | undefined {
  const sum = at.accepted.status === "True" ? proxies?.(at) : undefined;
  return sum && liveCondition(sum);
}

function conditionsOf(at: RouteAtParent, { route, resolvedRefs, refused }: RouteReport): WantedConditions {
  const { filters, values } = sorted(refused);
  const rules = new Set(values.map(({ rule }) => rule));
  const text = joined(values.map(({ message }) => message));
  const isDropped = at.accepted.status === "True" && values.length > 0;
  const isWhole = isDropped && rules.size >= (route.spec.rules?.length ?? 1);
  const refs = at.mesh === undefined ? resolvedRefs.gateway : resolvedRefs.mesh;
  return {
    Accepted: isWhole ? fails(values[0]!.reason, text) : at.accepted,
    ResolvedRefs: withFilters(refs, filters),
    PartiallyInvalid: isDropped && !isWhole
      ? holds("UnsupportedValue", `Dropped Rule ${[...rules].sort((a, b) => a - b).join(", ")}: ${text}`)
      : undefined,
  };
}

/** Refusals of reason InvalidFilter go to the condition ResolvedRefs, other refusals to Accepted or PartiallyInvalid. */
function sorted(refused: readonly RefusedRule[]): { filters: readonly RefusedRule[]; values: readonly RefusedRule[] } {
  return {
    filters: refused.filter(({ reason }) => reason === "InvalidFilter"),
    values: refused.filter(({ reason }) => reason !== "InvalidFilter"),
  };
}

function withFilters(refs: ConditionVerdict, filters: readonly RefusedRule[]): ConditionVerdict {
  if (filters.length === 0) return refs;
  const messages = filters.map(({ message }) => message);
  return refs.status === "True"
    ? fails("InvalidFilter", joined(messages))
    : fails(refs.reason, joined([refs.message, ...messages]));
}
