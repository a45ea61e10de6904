/**
 * Parents of routes and ListenerSets that do not take the object, or do not exist.
 *
 * @module
 */
import type { ParentReference } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { classOf } from "../../gateway_api/attach/classes.ts";
import { parentKey } from "../../gateway_api/attach/routes.ts";
import {
  type ApiRoute,
  type FieldFault,
  ROUTE_KINDS,
  type RouteAtParent,
  type RouteKind,
} from "../../gateway_api/attach/types.ts";
import { parentKind } from "../../gateway_api/groups/groups.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { severityOfAbsence } from "../reader/absence.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { nearObject } from "../references/near_object.ts";

/** An analyzer for each kind of routes. */
export const ROUTE_PARENTS: readonly Analyzer<RouteKind>[] = ROUTE_KINDS.map((kind) => ({
  kind,
  reports: ["not-attached"],
  analyze: (object, read, report) => {
    const { gatewayApi } = read;
    if (gatewayApi === undefined) return;
    const route = object as ApiRoute;
    const judged = new Map(gatewayApi.route(route.key).flatMap(({ at }) => at.map((one) => [one.index, one])));
    const seen = new Set<string>();
    for (const [index, ref] of (route.spec.parentRefs ?? []).entries()) {
      const key = parentKey(ref, route.meta.namespace);
      if (seen.has(key)) continue;
      seen.add(key);
      const field = `spec.parentRefs[${index}]`;
      const at = judged.get(index);
      if (at === undefined) unjudged(field, ref, route.meta.namespace, read, report);
      else if (at.fault !== undefined) refused({ ref, fault: at.fault }, route, read, report);
    }
  },
}));

/** Parents of ListenerSets. A Gateway takes a ListenerSet as a whole, or refuses it as a whole. */
export const SET_PARENTS: Analyzer<"ListenerSet"> = {
  kind: "ListenerSet",
  reports: ["not-attached"],
  analyze: (set, read, report) => {
    const { gatewayApi } = read;
    if (gatewayApi === undefined) return;
    const found = gatewayApi.gateway(set.key)?.view.sets.find((one) => one.set.key === set.key);
    const { parentRef } = set.spec;
    if (found === undefined) return unjudged("spec.parentRef", parentRef, set.meta.namespace, read, report);
    const { accepted } = found;
    if (accepted.status === "True" || accepted.reason === "ListenersNotValid") return;
    report("error", "not-attached", {
      field: "spec.parentRef",
      value: parentRef.name,
      expected: `a Gateway that takes the ListenerSet (${accepted.message})`,
    });
  },
};

type WrittenParent = Pick<ParentReference, "group" | "kind" | "name" | "namespace">;

/** Reports a parent without a verdict: the parent does not exist, or nothing here serves the parent. */
function unjudged(
  field: string,
  ref: WrittenParent,
  own: string,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { name, namespace = own } = ref;
  const kind = parentKind(ref);
  const full = `${namespace}/${name}`;
  if (kind === undefined) {
    const shown = ref.group === "" ? ref.kind : `${ref.kind}.${ref.group}`;
    return report("info", "not-attached", {
      field: `${field}.kind`,
      value: shown,
      expected: "a Gateway, ListenerSet, Service or ServiceEntry",
    });
  }
  // A verdict on a route at a service is still to come.
  if (kind !== "Gateway" && kind !== "ListenerSet") return;
  const stored = kind === "Gateway" ? "ApiGateway" : kind;
  const parent = read.object(stored, namespace, name);
  if (parent !== undefined) {
    if (parent.kind === "ApiGateway") withoutClass(field, parent as ConfigObject<"ApiGateway">, read, report);
    return;
  }
  if (read.isRefused(stored, namespace, name)) return;
  const others = read.objectsIn(stored, namespace);
  const hint = nearObject({ namespace, name }, read.objects(stored).map(({ meta }) => meta));
  const ofMesh = kind === "Gateway" && read.object("Gateway", namespace, name) !== undefined
    ? `; Gateway ${full} is of the mesh's own kind, and takes VirtualServices`
    : "";
  report(severityOfAbsence(read, namespace === own || others.length > 0), "not-attached", {
    field: `${field}.name`,
    value: name,
    expected: `a ${kind} of the Gateway API that exists (${full} does not${ofMesh})${hint}`,
  });
}

/** Reports a Gateway whose class does not exist. Gateways of other implementations are not reported. */
function withoutClass(
  field: string,
  gateway: ConfigObject<"ApiGateway">,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { gatewayApi } = read;
  const { meta: { namespace, name }, spec: { gatewayClassName } } = gateway;
  if (gatewayApi === undefined || classOf(gateway, gatewayApi, gatewayApi.options) !== undefined) return;
  if (read.object("GatewayClass", "", gatewayClassName) !== undefined) return;
  report("info", "not-attached", {
    field: `${field}.name`,
    value: name,
    expected: `a Gateway of a class that exists (${namespace}/${name} has the class ${gatewayClassName})`,
    others: [gateway.key],
  });
}

/** Reports a parent that does not take a route, at the field of the route that decides. */
function refused(
  { ref, fault: { field, value, expected } }: RefusedParent,
  route: ApiRoute,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { namespace = route.meta.namespace, name } = ref;
  const kind = parentKind(ref);
  const isAbsent = field.endsWith(".name") &&
    (kind === "Service" || (kind === "ServiceEntry" && read.object(kind, namespace, name) === undefined));
  if (isAbsent && (read.settings.assumeServices || read.isRefused(kind, namespace, name))) return;
  const severity = isAbsent ? severityOfAbsence(read, namespace === route.meta.namespace) : "error";
  report(severity, "not-attached", { field: `spec.${field}`, value, expected });
}

/** A parent with the fault for which it does not take the route. */
type RefusedParent = Pick<RouteAtParent, "ref"> & { readonly fault: FieldFault };
