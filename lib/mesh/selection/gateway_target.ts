/**
 * Workloads of Gateways of the Kubernetes Gateway API. A policy may target such a Gateway instead of selecting labels.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { SelectableWorkload } from "./index.ts";

/** Label of a workload. The value is the name of the workload's Gateway. */
export const GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name";

/** A workload with its Gateway as a target. */
export function withTargets(
  { namespace, labels }: { readonly namespace: string; readonly labels: StringMap },
): SelectableWorkload {
  const name = labels[GATEWAY_LABEL];
  if (name === undefined) return { namespace, labels };
  return { namespace, labels, targets: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name }] };
}
