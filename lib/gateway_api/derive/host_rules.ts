/**
 * The derived VirtualService of a hostname at a listener: the rules of all HTTPRoutes and GRPCRoutes there.
 *
 * @module
 */
import type { DerivedObject } from "../../config/derive/derivation.ts";
import type { ListenerView } from "../attach/types.ts";
import { hostObjectName } from "./names.ts";
import { GATEWAY_SEMANTICS, merged, type RequestRoute, type RouteRules } from "./rules.ts";

/** A route with its rules. */
export interface RouteWithRules {
  readonly route: RequestRoute;
  readonly rules: RouteRules;
}

/** The listener's parts that decide the VirtualService. */
export type RequestListener = Pick<ListenerView, "derived" | "owner">;

/**
 * The VirtualService of a hostname.
 *
 * @param host Hostname that the routes and the listener share; `*`: any.
 * @param routes Never empty.
 */
export function hostVirtualService(
  { derived }: RequestListener,
  host: string,
  routes: readonly RouteWithRules[],
): DerivedObject<"VirtualService"> {
  const first = [...routes].sort(oldestFirst)[0]!.route;
  return {
    kind: "VirtualService",
    meta: {
      name: hostObjectName(derived.name, host),
      namespace: derived.namespace,
      creationTimestamp: first.meta.creationTimestamp,
    },
    spec: {
      hosts: [host],
      gateways: [`${derived.namespace}/${derived.name}`],
      http: merged(routes.map(({ rules }) => rules)),
      exportTo: ["*"],
      internal: GATEWAY_SEMANTICS,
    },
    of: first,
  };
}

/**
 * The VirtualService of a listener's hostname without routes. It answers 404. Without it, a listener of the same port with
 * a wider hostname would answer.
 */
export function emptyHost({ derived, owner }: RequestListener, host: string): DerivedObject<"VirtualService"> {
  return {
    kind: "VirtualService",
    meta: {
      name: hostObjectName(derived.name, host),
      namespace: derived.namespace,
    },
    spec: {
      hosts: [host],
      gateways: [`${derived.namespace}/${derived.name}`],
      http: [{ directResponse: { status: 404 } }],
      exportTo: ["*"],
      internal: GATEWAY_SEMANTICS,
    },
    of: owner,
  };
}

function oldestFirst(
  { route: { key: a, meta: one } }: RouteWithRules,
  { route: { key: b, meta: two } }: RouteWithRules,
) {
  return one.creationTimestamp - two.creationTimestamp || (a < b ? -1 : a > b ? 1 : 0);
}
