/**
 * Objects without a selected workload because of a target reference. The target is a Gateway of the gateway API without
 * a known workload, or a Service, ServiceEntry or GatewayClass. Such Gateways are not read, so no other finding reports
 * them. The other targets are for waypoint proxies. This mesh has no waypoint proxies.
 *
 * @module
 */
import { GATEWAY_LABEL } from "../../mesh/selection/gateway_target.ts";
import type { ConfigObject } from "../../config/types.ts";
import { type SelectingObject, selectionOf } from "../../mesh/selection/selection.ts";
import type { Analyzer } from "../analyzer.ts";
import { hasWorkload } from "./workloads.ts";

const KINDS = ["AuthorizationPolicy", "RequestAuthentication", "Telemetry", "WasmPlugin", "ProxyFilter"] as const;

/** An analyzer for each of these kinds. */
export const TARGET_GATEWAYS: readonly Analyzer<typeof KINDS[number]>[] = KINDS.map((kind) => ({
  kind,
  reports: ["selects-nothing"],
  analyze: (object, read, report) => {
    const { targets } = selectionOf(object as ConfigObject & SelectingObject);
    const { namespace } = object.meta;
    const isKnown = (name: string) => hasWorkload(namespace, { [GATEWAY_LABEL]: name }, read);
    const gateways = targets.filter((one) => one.kind === "Gateway");
    for (const [at, target] of targets.entries()) {
      if (target.kind === "Gateway") continue;
      report("warning", "selects-nothing", {
        field: fieldOf(object, at),
        value: `${target.kind} ${target.name}`,
        expected: `a Gateway, or a selector (a ${target.kind} is for waypoint proxies, which this mesh does not have)`,
        fix: "Select the workloads by their labels.",
      });
    }
    if (gateways.length === 0 || gateways.length < targets.length || gateways.some(({ name }) => isKnown(name))) return;
    const [{ name }] = gateways as [typeof gateways[number]];
    report("warning", "selects-nothing", {
      field: fieldOf(object, 0),
      value: `Gateway ${name}`,
      expected:
        `a Gateway whose workloads are known (none has ${GATEWAY_LABEL}=${name}; Gateways of the gateway API are not read)`,
    });
  },
}));

function fieldOf({ spec }: ConfigObject<typeof KINDS[number]>, at: number): string {
  if (!("targetRef" in spec) || spec.targetRef === undefined) return `spec.targetRefs[${at}]`;
  return at === 0 ? "spec.targetRef" : `spec.targetRefs[${at - 1}]`;
}
