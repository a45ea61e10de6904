/**
 * The selectors of a Gateway: the labels of the workloads that serve it.
 *
 * @module
 */
import type { ConfigObject } from "../../types.ts";
import type { StringMap } from "../kinds.ts";

/** Label of gateways' workloads whose value says which gateway it is, in our spelling and in Istio's. */
export const GATEWAY_LABELS = ["mesh", "istio"] as const;

/** The parts of a Gateway that say which workloads serve it. */
type SelectingGateway = Pick<ConfigObject<"Gateway">, "spec" | "origin">;

/**
 * The selectors of a Gateway: workloads that have all labels of one serve it; an empty one selects all.
 *
 * A Gateway that a user wrote has one selector, as it is written. The Gateway of an Ingress, which says nothing of
 * workloads, is for gateways of either spelling.
 */
export function gatewaySelectors({ spec: { selector = {} }, origin }: SelectingGateway): readonly StringMap[] {
  if (origin.from !== "derived" || !origin.of.startsWith("Ingress/")) return [selector];
  const value = selector[GATEWAY_LABELS[0]];
  return value === undefined ? [selector] : GATEWAY_LABELS.map((label) => ({ [label]: value }));
}

/** Whether a workload with these labels serves a Gateway, wherever it is. */
export function gatewaySelects(gateway: SelectingGateway, labels: StringMap): boolean {
  return gatewaySelectors(gateway).some((selector) =>
    Object.entries(selector).every(([key, value]) => labels[key] === value)
  );
}
