/**
 * Status of objects whose present version this server refuses. An API server with definitions of another version may accept
 * such an object.
 *
 * @module
 */
import type { Kind } from "../../config/types.ts";
import { ROUTE_KINDS } from "../attach/types.ts";
import { fails, joined } from "../attach/verdicts.ts";
import { changedStatus } from "./change.ts";
import { mergedConditions, objectsOf, type StatusJson } from "./conditions.ts";
import { LIVE } from "./live.ts";
import { type EntryReference, type IsOurs, mergedEntries, referenceOf, type WantedEntry } from "./parents.ts";

/** A refused version of an object, as the API has it. */
export interface RefusedReport {
  readonly kind: Kind;
  readonly namespace: string;
  readonly generation: number;
  readonly spec: StatusJson;
  /** What is wrong. */
  readonly problems: readonly string[];
  /** Whether an earlier version is in force. */
  readonly isStale: boolean;
  /** Whether a class, or the controller of a class, is ours. */
  readonly isOurClass: (of: { readonly name?: unknown; readonly controller?: unknown }) => boolean;
  /** The controller of a parent of ours; undefined: the parent is of others, or does not exist. */
  readonly controllerAt: (ref: Partial<EntryReference>) => string | undefined;
  readonly isOurs: IsOurs;
}

const MOST_PARENTS = 32;
const MOST_ANCESTORS = 16;

/**
 * The new status of a refused object; undefined: nothing to write, or the object of another implementation.
 *
 * @param present The status as it was read.
 */
export function refusedStatus(report: RefusedReport, present: StatusJson, now: string): StatusJson | undefined {
  const { kind, spec, isOurClass, controllerAt } = report;
  switch (kind) {
    case "GatewayClass":
    case "XMesh":
      return isOurClass({ controller: spec["controllerName"] })
        ? ofObject(report, present, now, ["Accepted"])
        : undefined;
    case "ApiGateway":
      return isOurClass({ name: spec["gatewayClassName"] }) ? ofObject(report, present, now) : undefined;
    case "ListenerSet":
      return controllerAt(referenceOf(spec["parentRef"])) === undefined ? undefined : ofObject(report, present, now);
    case "BackendTLSPolicy":
    case "XBackendTrafficPolicy":
      return ofEntries(report, present, now, { field: "ancestorRef", list: "ancestors", most: MOST_ANCESTORS });
    case "XBackend":
      return ofEntries(report, present, now, { field: "parentRef", list: "parents", most: MOST_PARENTS });
  }
  return (ROUTE_KINDS as readonly string[]).includes(kind) ? ofRoute(report, present, now) : undefined;
}

function messageOf({ problems, isStale }: RefusedReport): string {
  return `${joined(problems)}; ${isStale ? "the earlier version is in force" : "no version is in force"}`;
}

function ofObject(
  report: RefusedReport,
  present: StatusJson,
  now: string,
  types: readonly string[] = ["Accepted", "Programmed"],
): StatusJson | undefined {
  const verdict = fails("Invalid", messageOf(report));
  const wanted = {
    ...Object.fromEntries(types.map((type) => [type, verdict])),
    ResolvedRefs: undefined,
    [LIVE]: undefined,
  };
  const { generation } = report;
  return changedStatus(present, { conditions: mergedConditions(present["conditions"], wanted, { generation, now }) });
}

function ofRoute(report: RefusedReport, present: StatusJson, now: string): StatusJson | undefined {
  const conditions = {
    Accepted: fails("UnsupportedValue", messageOf(report)),
    ...{ ResolvedRefs: undefined, PartiallyInvalid: undefined, [LIVE]: undefined },
  };
  const wanted = objectsOf(report.spec["parentRefs"]).map(referenceOf).flatMap((ref): WantedEntry[] => {
    const controller = report.controllerAt(ref);
    return controller === undefined || ref.name === undefined
      ? []
      : [{ ref: { ...ref, name: ref.name }, controller, conditions }];
  });
  return withEntries(report, present, now, { field: "parentRef", list: "parents", most: MOST_PARENTS, wanted });
}

/** The entries of the earlier version get the refusal, because the Gateways of a refused version are not known. */
function ofEntries(
  report: RefusedReport,
  present: StatusJson,
  now: string,
  place: { readonly field: "parentRef" | "ancestorRef"; readonly list: string; readonly most: number },
): StatusJson | undefined {
  const conditions = { Accepted: fails("Invalid", messageOf(report)), ResolvedRefs: undefined };
  const wanted = objectsOf(present[place.list]).flatMap((entry): WantedEntry[] => {
    const { controllerName: controller } = entry;
    const { name, ...ref } = referenceOf(entry[place.field]);
    if (typeof controller !== "string" || name === undefined || !report.isOurs(controller, { ...ref, name })) return [];
    return [{ ref: { ...ref, name }, controller, conditions }];
  });
  return withEntries(report, present, now, { ...place, wanted });
}

function withEntries(
  { namespace, generation, isOurs }: RefusedReport,
  present: StatusJson,
  now: string,
  { field, list, most, wanted }: {
    readonly field: "parentRef" | "ancestorRef";
    readonly list: string;
    readonly most: number;
    readonly wanted: readonly WantedEntry[];
  },
): StatusJson | undefined {
  const entries = mergedEntries(present[list], wanted, { field, most, namespace, isOurs }, { generation, now });
  if (entries === undefined || (entries.length === 0 && present[list] === undefined)) return undefined;
  return changedStatus(present, { [list]: entries });
}
