/**
 * Objects without a selected workload because of a target reference. The target is a Gateway of the Gateway API that
 * nothing here serves, or a Service, ServiceEntry or GatewayClass in a mesh without waypoints: the other targets are for
 * waypoint proxies.
 *
 * @module
 */
import type { NamespacedName } from "../../gateway_api/attach/types.ts";
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import { type ConfigObject, objectKey } from "../../config/types.ts";
import { type SelectingObject, selectionOf } from "../../mesh/selection/selection.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { nearObject } from "../references/near_object.ts";
import { hasWorkload } from "./workloads.ts";

const KINDS = ["AuthorizationPolicy", "RequestAuthentication", "Telemetry", "WasmPlugin", "ProxyFilter"] as const;

/** An analyzer for each of these kinds. */
export const TARGET_GATEWAYS: readonly Analyzer<typeof KINDS[number]>[] = KINDS.map((kind) => ({
  kind,
  reports: ["selects-nothing"],
  analyze: (object, read, report) => {
    const { targets } = selectionOf(object as ConfigObject & SelectingObject);
    const { namespace } = object.meta;
    // The workloads of a served Gateway may be made later, and outside of the texts.
    const isKnown = (name: string) =>
      isServed({ namespace, name }, read) || hasWorkload(namespace, { [GATEWAY_NAME_LABEL]: name }, read);
    const gateways = targets.filter((one) => one.kind === "Gateway");
    for (const [at, target] of targets.entries()) {
      if (target.kind === "Gateway" || read.settings.waypoints) continue;
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
      expected: expectedGateway({ namespace, name }, read),
    });
  },
}));

/** Whether a Gateway of the Gateway API has a class that is served here. */
function isServed({ namespace, name }: NamespacedName, read: AnalysisReader): boolean {
  return read.gatewayApi?.gateway(objectKey("ApiGateway", namespace, name)) !== undefined;
}

/** What is expected of a Gateway that is not served here. */
function expectedGateway({ namespace, name }: NamespacedName, read: AnalysisReader): string {
  const full = `${namespace}/${name}`;
  const gateway = read.object("ApiGateway", namespace, name);
  const why = gateway === undefined
    ? `there is no Gateway ${full}`
    : `Gateway ${full} has the class ${gateway.spec.gatewayClassName}, which this mesh does not serve`;
  const near = gateway === undefined
    ? nearObject({ namespace, name }, read.objectsIn("ApiGateway", namespace).map(({ meta }) => meta))
    : "";
  return `a Gateway that is served here (${why}, and no known workload has ${GATEWAY_NAME_LABEL}=${name})${near}`;
}

function fieldOf({ spec }: ConfigObject<typeof KINDS[number]>, at: number): string {
  if (!("targetRef" in spec) || spec.targetRef === undefined) return `spec.targetRefs[${at}]`;
  return at === 0 ? "spec.targetRef" : `spec.targetRefs[${at - 1}]`;
}
