/**
 * The selectors of a Gateway: labels of its workloads.
 *
 * @module
 */
import { carriesLabels } from "../../schema/labels.ts";
import type { ConfigObject } from "../../types.ts";
import type { StringMap } from "../kinds.ts";

/** Label of gateways' workloads whose value names the gateway, in our spelling and in Istio's. */
export const GATEWAY_LABELS = ["mesh", "istio"] as const;

/** The parts of a Gateway that decide its workloads. */
type SelectingGateway = Pick<ConfigObject<"Gateway">, "spec" | "origin">;

/**
 * The selectors of a Gateway: a workload with all labels of one selector serves the Gateway; an empty selector selects
 * all.
 *
 * A user's Gateway has one selector, as written. The Gateway of an Ingress, which does not mention workloads, is for
 * gateways of either spelling.
 */
export function gatewaySelectors({ spec: { selector = {} }, origin }: SelectingGateway): readonly StringMap[] {
  if (origin.from !== "derived" || !origin.of.startsWith("Ingress/")) return [selector];
  const value = selector[GATEWAY_LABELS[0]];
  return value === undefined ? [selector] : GATEWAY_LABELS.map((label) => ({ [label]: value }));
}

/** Whether a workload of a namespace with these labels serves a Gateway. */
export function isServedBy(
  gateway: Pick<ConfigObject<"Gateway">, "meta" | "spec" | "origin">,
  { namespace, labels }: { readonly namespace: string; readonly labels: StringMap },
): boolean {
  if (gateway.spec.internal !== undefined && gateway.meta.namespace !== namespace) return false;
  return gatewaySelects(gateway, labels);
}

/**
 * Whether a workload with these labels serves a Gateway, if the workload's namespace is right: see
 * {@linkcode isServedBy}.
 */
export function gatewaySelects(gateway: SelectingGateway, labels: StringMap): boolean {
  return gatewaySelectors(gateway).some((selector) => carriesLabels(labels, selector));
}
