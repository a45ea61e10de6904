/**
 * The gateway of the gateway API for a workload. Policies may name the gateway instead of labels.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { SelectableWorkload } from "./index.ts";

/** Label with the Gateway of the gateway API for a workload. */
export const GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name";

/** A workload with the Gateway of the gateway API as a target. */
export function withTargets(
  { namespace, labels }: { readonly namespace: string; readonly labels: StringMap },
): SelectableWorkload {
  const name = labels[GATEWAY_LABEL];
  if (name === undefined) return { namespace, labels };
  return { namespace, labels, targets: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name }] };
}
