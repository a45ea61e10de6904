/**
 * The gateway of the gateway API that a workload runs, which policies may name instead of labels.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { SelectableWorkload } from "./index.ts";

/** Label that names the Gateway of the gateway API that a workload runs. */
export const GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name";

/** A workload with the objects that stand for it. */
export function withTargets(
  { namespace, labels }: { readonly namespace: string; readonly labels: StringMap },
): SelectableWorkload {
  const name = labels[GATEWAY_LABEL];
  if (name === undefined) return { namespace, labels };
  return { namespace, labels, targets: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name }] };
}
