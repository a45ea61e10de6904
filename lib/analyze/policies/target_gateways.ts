/**
 * Objects that name a Gateway of the gateway API instead of labels, where no known workload runs that Gateway: such
 * Gateways are not read, so nothing else tells of them.
 *
 * @module
 */
import { GATEWAY_LABEL } from "../../mesh/selection/gateway_target.ts";
import type { ConfigObject } from "../../config/types.ts";
import { type SelectingObject, selectionOf } from "../../mesh/selection/selection.ts";
import type { Analyzer } from "../analyzer.ts";
import { hasWorkload } from "./workloads.ts";

const KINDS = ["AuthorizationPolicy", "RequestAuthentication", "Telemetry", "WasmPlugin", "ProxyFilter"] as const;

/** One for each of these kinds. */
export const TARGET_GATEWAYS: readonly Analyzer<typeof KINDS[number]>[] = KINDS.map((kind) => ({
  kind,
  reports: ["selects-nothing"],
  analyze: (object, read, report) => {
    const { targets } = selectionOf(object as ConfigObject & SelectingObject);
    const { namespace } = object.meta;
    const isKnown = (name: string) => hasWorkload(namespace, { [GATEWAY_LABEL]: name }, read);
    const gateways = targets.filter((one) => one.kind === "Gateway");
    if (gateways.length === 0 || gateways.length < targets.length || gateways.some(({ name }) => isKnown(name))) return;
    const [{ name }] = gateways as [typeof gateways[number]];
    report("warning", "selects-nothing", {
      field: "targetRef" in object.spec && object.spec.targetRef !== undefined
        ? "spec.targetRef"
        : "spec.targetRefs[0]",
      value: `Gateway ${name}`,
      expected:
        `a Gateway whose workloads are known (none has ${GATEWAY_LABEL}=${name}; Gateways of the gateway API are not read)`,
    });
  },
}));
