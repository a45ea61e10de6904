/**
 * The order in which containers start.
 *
 * @module
 */
import type { InjectedPod, PodContainer } from "../pod.ts";
import { type InjectedRole, roleOf } from "../names.ts";
import { isProxy } from "../sidecar/input.ts";

/**
 * Orders the containers of an injected pod. A proxy that is an init container comes before the user's init containers,
 * so that they are in the mesh. Otherwise the user's init containers run before traffic is redirected, because no proxy
 * would answer. A proxy beside the applications is the last container, or the first if applications must wait for the
 * proxy.
 */
export function inOrder(spec: InjectedPod["spec"], holds: boolean): InjectedPod["spec"] {
  const inits = spec.initContainers ?? [];
  const native = inits.some(isProxy);
  const ranks = native ? { init: -3, validation: -2 } : { init: 1, validation: -1 };
  return {
    ...spec,
    containers: byRank(spec.containers, { proxy: holds ? -1 : 1 }),
    ...(inits.length > 0 && { initContainers: byRank(inits, { ...ranks, proxy: -1 }) }),
  };
}

/** Containers without a rank keep their order. */
function byRank(
  containers: readonly PodContainer[],
  ranks: Readonly<Partial<Record<InjectedRole, number>>>,
): PodContainer[] {
  const rank = (one: PodContainer) => {
    const role = roleOf(one);
    return role === undefined ? 0 : ranks[role] ?? 0;
  };
  return containers.toSorted((a, b) => rank(a) - rank(b));
}
