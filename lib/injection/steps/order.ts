/**
 * The order of containers: who starts before whom.
 *
 * @module
 */
import type { InjectedPod, PodContainer } from "../pod.ts";
import { INIT, VALIDATION } from "../sidecar/init.ts";
import { PROXY } from "../sidecar/input.ts";

/**
 * Orders the containers of an injected pod. A proxy that is an init container comes before those of the user, so that
 * they are in the mesh; else they run before traffic is redirected, because nothing would answer. A proxy beside the
 * applications is the last container, or the first where they have to wait for it.
 */
export function inOrder(spec: InjectedPod["spec"], holds: boolean): InjectedPod["spec"] {
  const inits = spec.initContainers ?? [];
  const native = inits.some(({ name }) => name === PROXY);
  const ranks: Readonly<Record<string, number>> = native
    ? { [INIT]: -3, [VALIDATION]: -2, [PROXY]: -1 }
    : { [VALIDATION]: -1, [INIT]: 1 };
  return {
    ...spec,
    containers: byRank(spec.containers, { [PROXY]: holds ? -1 : 1 }),
    ...(inits.length > 0 && { initContainers: byRank(inits, ranks) }),
  };
}

/** Containers without a rank stay where they are among each other. */
function byRank(containers: readonly PodContainer[], ranks: Readonly<Record<string, number>>): PodContainer[] {
  const rank = ({ name }: PodContainer) => Object.hasOwn(ranks, name) ? ranks[name]! : 0;
  return containers.toSorted((a, b) => rank(a) - rank(b));
}
