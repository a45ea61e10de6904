/**
 * Services, ServiceEntries, workloads and namespaces that ask for a waypoint that is not used, and headless services, whose clients
 * pass the waypoint by.
 *
 * @module
 */
import {
  type BindableService,
  type Binding,
  type BindingWorld,
  unboundText,
  waypointBinding,
  wayText,
} from "../../ambient/binding.ts";
import { targetsOf, type WaypointPolicy } from "../../mesh/waypoints/policies.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { WorkloadFact } from "../../config/facts/view.ts";
import { WORKLOAD_KINDS, type WorkloadKind } from "../../config/facts/workload_data.ts";
import { USE_WAYPOINT } from "../../mesh/waypoints/marks.ts";
import type { Labels } from "../../registry/labels.ts";
import type { Analyzer, ReportedMistake, ReportMistake } from "../analyzer.ts";
import { severityOfAbsence } from "../reader/absence.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { nearObject } from "../references/near_object.ts";

const NO_LABELS: Labels = Object.freeze({});

/** The analyzers of objects with a label of their own. */
export const UNUSED_WAYPOINTS: readonly Analyzer<"Service" | "ServiceEntry">[] = (["Service", "ServiceEntry"] as const)
  .map((kind) => ({
    kind,
    reports: ["waypoint-not-used"],
    analyze: (object, read, report) => {
      if (read.settings.tunnels?.served === false) return;
      const binding = waypointBinding(object, worldOf(read));
      if (binding === undefined) return;
      const isOwn = Boolean(object.meta.labels[USE_WAYPOINT]);
      // A headless service of a namespace with the label may be meant only for its pods, unless a policy names it.
      const isPassedBy = binding.way === "pods" && (isOwn || binding.policy !== undefined);
      if (!isPassedBy && (!isOwn || binding.reason === undefined)) return;
      tell(binding, object.meta.namespace, object.meta.labels, wayText(binding), read, report);
    },
  }));

/** The analyzers of workloads with a label of their own. */
export const UNUSED_WAYPOINTS_OF_WORKLOADS: readonly Analyzer<WorkloadKind | "WorkloadEntry">[] = ([
  ...WORKLOAD_KINDS,
  "WorkloadEntry",
] as const).map((kind) => ({
  kind,
  reports: ["waypoint-not-used"],
  analyze: (object, read, report) => {
    if (read.settings.tunnels?.served === false) return;
    const labels = object.kind === "WorkloadEntry"
      ? { ...object.spec.labels, ...object.meta.labels }
      : object.spec.labels;
    if (!labels[USE_WAYPOINT]) return;
    const binding = waypointBinding(object, worldOf(read));
    if (binding?.reason === undefined || object.kind !== "WorkloadEntry" && isSaidOfAnother(object, read)) return;
    tell(binding, object.meta.namespace, labels, wayText(binding), read, report);
  },
}));

/** Whether the object that made a workload has the same label, or another workload of the same maker comes first. */
function isSaidOfAnother({ key, meta: { namespace }, spec: { owner, labels } }: WorkloadFact, read: AnalysisReader) {
  if (owner === undefined) return false;
  const asking = read.workloads(namespace, { [USE_WAYPOINT]: labels[USE_WAYPOINT]! });
  return asking.some((one) => `${one.kind}/${one.meta.name}` === owner || one.spec.owner === owner && one.key < key);
}

/** The label of a namespace, once for all of its services. */
export const UNUSED_WAYPOINTS_OF_NAMESPACES: Analyzer<"Namespace"> = {
  kind: "Namespace",
  reports: ["waypoint-not-used"],
  analyze: ({ meta: { name, labels } }, read, report) => {
    if (!labels[USE_WAYPOINT] || read.settings.tunnels?.served === false) return;
    const world = worldOf(read);
    const users = usersOf(name, read);
    const unbound = users.flatMap((object) => {
      const binding = waypointBinding(object, world);
      return binding && isUnbound(binding) ? [{ object, binding }] : [];
    });
    const closed = unbound.filter(({ binding }) => binding.way === "closed");
    const first = closed[0] ?? unbound[0];
    if (first === undefined) return;
    const rest = closed.length === 0 || closed.length === unbound.length
      ? ""
      : ` So it is for ${closed.length} of ${unbound.length} services here, such as ${first.object.meta.name}. ` +
        "Connections to the others go to the workloads directly.";
    tell(first.binding, name, labels, `${wayText(first.binding)}${rest}`, read, report);
  },
};

/** Services and entries that may have the waypoint of their namespace. */
function usersOf(namespace: string, read: AnalysisReader): readonly BindableService[] {
  const services = read.serviceFacts(namespace).map(({ fact }): Fact<"Service"> => fact);
  return [...services, ...read.objectsIn("ServiceEntry", namespace)].filter(({ meta }) => !meta.labels[USE_WAYPOINT]);
}

/** Whether a waypoint should be used and is not. A waypoint for workloads may be meant for the pods of the namespace. */
function isUnbound({ reason, way, found, policy }: Binding): boolean {
  if (reason === undefined || way === "pods") return false;
  return reason !== "UnsupportedTrafficType" || found?.traffic !== "workload" || policy !== undefined;
}

function worldOf(read: AnalysisReader): BindingWorld {
  const { served, tunnels } = read.settings;
  return {
    namespaceLabels: (namespace) => read.namespaceFact(namespace)?.meta.labels ?? NO_LABELS,
    gateway: (namespace, name) => read.object("ApiGateway", namespace, name),
    gatewayClass: (name) => read.object("GatewayClass", "", name),
    policyOn: (target) => policyOn(target, read),
    opensWithoutWaypoint: tunnels?.opensWithoutWaypoint ?? false,
    // A Gateway in a file has no status, ready or not.
    assumesReady: served !== true,
  };
}

/** The key of the first policy that names an object. Policies name objects of their own namespace. */
function policyOn(target: string, read: AnalysisReader): string | undefined {
  const { rootNamespace } = read.meshConfig;
  const namespace = target.split("/")[1] || rootNamespace;
  const policies: readonly WaypointPolicy[] = [
    ...read.objectsIn("AuthorizationPolicy", namespace),
    ...read.objectsIn("RequestAuthentication", namespace),
  ];
  return policies.find((one) => targetsOf(one, rootNamespace).includes(target))?.key;
}

/** @param namespace Of the object; of a Namespace its name. */
function tell(
  binding: Binding,
  namespace: string,
  labels: Labels,
  effect: string,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { waypoint, reason, found, policy } = binding;
  const [of = "", name = ""] = waypoint.split("/");
  if (found === undefined && read.isRefused("ApiGateway", of, name)) return;
  const gateways = found === undefined ? read.objectsIn("ApiGateway", of) : [];
  const severity = found === undefined
    ? severityOfAbsence(read, of === namespace || gateways.length > 0)
    : reason === undefined || reason === "WaypointIsNotReady"
    ? "warning"
    : "error";
  const near = found === undefined ? nearObject({ namespace: of, name }, gateways.map(({ meta }) => meta)) : "";
  const mistake: ReportedMistake = {
    field: "metadata.labels",
    ...labels[USE_WAYPOINT] ? { value: { [USE_WAYPOINT]: labels[USE_WAYPOINT] } } : {},
    expected: reason === undefined
      ? "a service with an address of its own (clients of a headless service dial its pods)"
      : `a waypoint that is used (${unboundText(binding, namespace)})${near}`,
    effect: found === undefined && severity !== "error" ? `Unless the Gateway is elsewhere: ${effect}` : effect,
    ...reason === undefined ? { fix: "Give the service an address, or select its workloads in policies." } : {},
    others: [...found === undefined ? [] : [`ApiGateway/${waypoint}`], ...policy === undefined ? [] : [policy]],
  };
  report(severity, "waypoint-not-used", mistake);
}
