/**
 * The order in which containers start.
 *
 * @module
 */
import type { InjectedPod, PodContainer } from "../pod.ts";
import { INIT, VALIDATION } from "../sidecar/init.ts";
import { isProxy } from "../sidecar/input.ts";

/**
 * Orders the containers of an injected pod. A proxy that is an init container comes before those of the user, so that
 * they are in the mesh; else they run before traffic is redirected, because nothing would answer. A proxy beside the
 * applications is the last container, or the first where they have to wait for it.
 */
export function inOrder(spec: InjectedPod["spec"], holds: boolean): InjectedPod["spec"] {
  const inits = spec.initContainers ?? [];
  const native = inits.some(isProxy);
  const ranks: Readonly<Record<string, number>> = native
    ? { [INIT]: -3, "istio-init": -3, [VALIDATION]: -2, "istio-validation": -2 }
    : { [VALIDATION]: -1, "istio-validation": -1, [INIT]: 1, "istio-init": 1 };
  return {
    ...spec,
    containers: byRank(spec.containers, {}, holds ? -1 : 1),
    ...(inits.length > 0 && { initContainers: byRank(inits, ranks, -1) }),
  };
}

/** Containers without a rank stay where they are among each other. */
function byRank(
  containers: readonly PodContainer[],
  ranks: Readonly<Record<string, number>>,
  proxy: number,
): PodContainer[] {
  const rank = (one: PodContainer) => isProxy(one) ? proxy : Object.hasOwn(ranks, one.name) ? ranks[one.name]! : 0;
  return containers.toSorted((a, b) => rank(a) - rank(b));
}
