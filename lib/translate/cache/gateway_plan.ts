/**
 * What a gateway serves: its listeners, and its routes without their virtual hosts, which are built one by one.
 *
 * @module
 */
import type { ServiceTarget } from "../../registry/inbound.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import { Authorization } from "../authorization/authorization.ts";
import { encodeListener, encodeSecrets, encodeVirtualHost } from "../encode/encode.ts";
import { gatewayListener, gatewayPolicyFindings } from "../gateway/listeners.ts";
import { mergedGateways } from "../gateway/merge.ts";
import { gatewayFinding } from "../gateway/problem.ts";
import { gatewayRoutePlans, type PlannedVirtualHost, type RoutePlan } from "../gateway/route_plan.ts";
import { gatewayRouteConfiguration, gatewayVirtualHost } from "../gateway/routes.ts";
import type { Built } from "../message/built.ts";
import { reported, type ReportFinding } from "../message/finding.ts";
import type { Reader } from "../reader/reader.ts";

/** The plan of a gateway, before its virtual hosts are built. */
export interface GatewayPlan {
  readonly listeners: readonly EncodedResource[];
  readonly secrets: readonly EncodedResource[];
  readonly routes: readonly { readonly plan: RoutePlan; readonly bare: Built<object> }[];
}

/** Nothing is served. */
export const EMPTY_PLAN: GatewayPlan = { listeners: [], secrets: [], routes: [] };

/** Plans a gateway whose workload runs these services. */
export function gatewayPlan(read: Reader, targets: readonly ServiceTarget[], report: ReportFinding): GatewayPlan {
  const merged = mergedGateways(read, targets);
  const authorization = new Authorization(read);
  const ports = merged.ports.map((port) => gatewayListener(read, port, authorization));
  for (const problem of [...merged.problems, ...ports.flatMap(({ problems }) => problems)]) {
    report(gatewayFinding(problem));
  }
  for (const finding of gatewayPolicyFindings(read, merged.ports, authorization)) report(finding);
  const listeners = ports.flatMap(({ listener }) => listener ?? []);
  return {
    listeners: listeners.map(encodeListener),
    secrets: encodeSecrets(listeners),
    routes: [...gatewayRoutePlans(read, merged).values()].map((plan) => ({
      plan,
      bare: gatewayRouteConfiguration(read, plan),
    })),
  };
}

/** Builds one virtual host of a plan. */
export function plannedVirtualHost(read: Reader, planned: PlannedVirtualHost, report: ReportFinding): EncodedResource {
  const { message, causes } = reported("gateway-not-as-written", report)(gatewayVirtualHost(read, planned));
  return encodeVirtualHost(planned.routeConfiguration, message, causes);
}

/** A name under which equal lists of services are found. */
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
