/**
 * The plan of a gateway: listeners, and routes without virtual hosts. Virtual hosts are built one by one.
 *
 * @module
 */
import { portOfRoutes } from "../../../patches/route_match.ts";
import type { ServiceTarget } from "../../../registry/inbound.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import { Authorization } from "../../authorization/authorization.ts";
import { encodeListener, encodeSecrets, encodeVirtualHost } from "../../encode/encode.ts";
import { gatewayListener, gatewayPolicyFindings } from "../../gateway/listeners.ts";
import { mergedGateways } from "../../gateway/merge.ts";
import { gatewayFinding } from "../../gateway/problem.ts";
import { gatewayRoutePlans, type PlannedVirtualHost, type RoutePlan } from "../../gateway/route_plan.ts";
import { gatewayRouteConfiguration, gatewayVirtualHost } from "../../gateway/routes.ts";
import { reported } from "../../message/finding.ts";
import type { ReportNote } from "../../message/notes.ts";
import { listenerPatching } from "../../patches/apply.ts";
import { patchBareRoutes, type PatchedBareRoutes, patchedVirtualHost, type RoutesPlace } from "../../patches/routes.ts";
import { NO_PATCHES } from "../../reader/patch_selection.ts";
import type { Reader } from "../../reader/reader.ts";

/** The plan of a gateway, before the virtual hosts are built. */
export interface GatewayPlan {
  readonly listeners: readonly EncodedResource[];
  readonly secrets: readonly EncodedResource[];
  readonly routes: readonly { readonly plan: RoutePlan; readonly bare: PatchedBareRoutes }[];
}

/** A virtual host of a plan. */
export interface BuiltPlannedHost {
  /** Absent: a patch removed the virtual host. */
  readonly resource?: EncodedResource;
  readonly domains: readonly string[];
}

/** Nothing is served. */
export const EMPTY_PLAN: GatewayPlan = { listeners: [], secrets: [], routes: [] };

/** Plans a gateway workload with these services. */
export function gatewayPlan(read: Reader, targets: readonly ServiceTarget[], report: ReportNote): GatewayPlan {
  const merged = mergedGateways(read, targets);
  const authorization = new Authorization(read);
  const ports = merged.ports.map((port) => gatewayListener(read, port, authorization));
  for (const problem of [...merged.problems, ...ports.flatMap(({ problems }) => problems)]) {
    report(gatewayFinding(problem));
  }
  for (const finding of gatewayPolicyFindings(read, merged.ports, authorization)) report(finding);
  const listeners = ports.flatMap(({ listener }) => listener ?? []).flatMap(listenerPatching(read, report, "GATEWAY"));
  return {
    listeners: listeners.map(encodeListener),
    secrets: encodeSecrets(listeners),
    routes: [...gatewayRoutePlans(read, merged).values()].map((bare) => {
      const plan = withServicePorts(read, bare, targets);
      const place = placeOf(plan);
      return { plan, bare: patchBareRoutes(read, gatewayRouteConfiguration(read, plan), place, report) };
    }),
  };
}

/** Patches name the port of the gateway's service. Nothing else needs the port. */
function withServicePorts(read: Reader, plan: RoutePlan, targets: readonly ServiceTarget[]): RoutePlan {
  if (read.patches("routes") === NO_PATCHES) return plan;
  const own = targets.filter(({ endpointPort }) => endpointPort === portOfRoutes(plan.name));
  if (own.length === 0) return plan;
  const servicePorts = [...new Set(own.map(({ port }) => port.port))].sort((a, b) => a - b);
  return { ...plan, servicePorts, entries: plan.entries.map((entry) => ({ ...entry, servicePorts })) };
}

/** The facts of a gateway's routes for patches. */
function placeOf({ servers, servicePorts }: Pick<RoutePlan, "servers" | "servicePorts">): RoutesPlace {
  const named = servers.map((name) => {
    const [gateway = "", portName = ""] = name.split(" ");
    return { gateway, portName };
  });
  return { context: "GATEWAY", servers: named, ...servicePorts ? { servicePorts } : {} };
}

/** Builds a virtual host of a plan. */
export function plannedVirtualHost(read: Reader, planned: PlannedVirtualHost, report: ReportNote): BuiltPlannedHost {
  const name = planned.routeConfiguration;
  const built = reported("gateway-not-as-written", report)(gatewayVirtualHost(read, planned));
  const place = placeOf(planned);
  const [patched] = patchedVirtualHost(read, name, built, place, report);
  if (patched === undefined) return { domains: [] };
  return { resource: encodeVirtualHost(name, patched), domains: patched.message.domains ?? [] };
}

/** A name for equal lists of services. */
export function serviceTargetsName(targets: readonly ServiceTarget[]): string {
  return targets.map((t) => `${t.endpointPort}/${t.service.namespace}/${t.service.hostname}`).join();
}

/** Whether two workloads run the same services in the same way. */
export function sameServiceTargets(a: readonly ServiceTarget[], b: readonly ServiceTarget[]): boolean {
  return a.length === b.length && a.every((target, i) => {
    const other = b[i]!;
    return target.service === other.service && target.port === other.port && target.endpointPort === other.endpointPort;
  });
}
