/**
 * Status of listeners of Gateways and ListenerSets.
 *
 * @module
 */
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { ListenerView, RouteAtParent } from "../attach/types.ts";
import {
  mergedConditions,
  objectsOf,
  type StatusJson,
  type StatusMoment,
  STAYS,
  type WantedConditions,
} from "./conditions.ts";

/** The number of routes that are attached to a listener. */
export type CountRoutes = (listener: ListenerView) => number;

/** Counts routes by listener. A route that is attached to a listener by several parentRefs counts once. */
export function countRoutes(routes: readonly { readonly at: readonly RouteAtParent[] }[]): CountRoutes {
  const counts = new Map<string, number>();
  for (const { at } of routes) {
    const keys = new Set(at.flatMap(({ bound }) => bound.map(({ listener }) => listenerKey(listener))));
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (listener) => counts.get(listenerKey(listener)) ?? 0;
}

function listenerKey({ owner, spec }: ListenerView): string {
  return `${owner.key}#${spec.name}`;
}

/**
 * The statuses of listeners, in the order of `spec.listeners`. Statuses of removed listeners are left out.
 *
 * @param isWaiting Whether it is not yet known that proxies have the listeners: no listener becomes programmed.
 */
export function listenerStatuses(
  present: unknown,
  listeners: readonly ListenerView[],
  attachedRoutes: CountRoutes,
  { isWaiting, ...moment }: StatusMoment & { readonly isWaiting: boolean },
): readonly StatusJson[] {
  const old = new Map(objectsOf(present).map((one) => [one["name"], one]));
  return listeners.map((listener) => {
    const { spec: { name }, supportedKinds, accepted, conflicted, programmed, resolvedRefs } = listener;
    const wanted: WantedConditions = {
      Accepted: accepted,
      Programmed: isWaiting && programmed.status === "True" ? STAYS : programmed,
      Conflicted: conflicted,
      ResolvedRefs: resolvedRefs,
    };
    return {
      name,
      supportedKinds: supportedKinds.map((kind) => ({ group: GATEWAY_API_GROUP, kind })),
      attachedRoutes: attachedRoutes(listener),
      conditions: mergedConditions(old.get(name)?.["conditions"], wanted, moment),
    };
  });
}
