/**
 * Verdicts on the listeners of a Gateway or ListenerSet: on each listener alone, and on its place among the others.
 *
 * @module
 */
import type { ApiListener } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isTunnelClass } from "./classes.ts";
import type { ListenerPlaces, TakenPlace } from "./conflicts.ts";
import { derivedGatewayName, ownerText } from "./names.ts";
import { expectedProtocol, isTunnelPort, protocolOf, routeKinds } from "./protocols.ts";
import { isAutoPassthrough, type JudgedTls, tlsOf } from "./tls.ts";
import type { AttachReader, ClassRole, ConditionVerdict, ListenerOwner, ListenerView } from "./types.ts";
import { fails, holds } from "./verdicts.ts";

/** The Gateway of listeners, and what the listeners share. */
export interface ListenerContext {
  readonly gateway: ConfigObject<"ApiGateway">;
  readonly role: ClassRole;
  /** The places of listeners with precedence over these listeners. */
  readonly places: ListenerPlaces;
  readonly read: AttachReader;
}

/** The listeners of an object, in order. Each listener takes its place, if the place is free. */
export function listenersOf(owner: ListenerOwner, context: ListenerContext): ListenerView[] {
  const known = lastViews.get(owner) ?? [];
  const views = owner.spec.listeners.map((spec, index) => {
    const view = listenerView(owner, index, spec, context);
    const last = known[index];
    return last !== undefined && isSameView(last, view) ? last : view;
  });
  lastViews.set(owner, views);
  return views;
}

/**
 * The last views of an object's listeners. A view that says the same is the same object, so that a change of one of a
 * thousand ListenerSets makes nothing again for the listeners of the others.
 */
const lastViews = new WeakMap<ListenerOwner, readonly ListenerView[]>();

/** Whether two views of one listener of one object say the same beside the object's own words. */
function isSameView(a: ListenerView, b: ListenerView): boolean {
  const { owner: _, spec: __, ...said } = a;
  return Object.entries(said).every(([field, value]) => {
    const other = b[field as keyof ListenerView];
    return value === other || (typeof value === "object" && JSON.stringify(value) === JSON.stringify(other));
  }) && Object.keys(a).length === Object.keys(b).length;
}

function listenerView(
  owner: ListenerOwner,
  index: number,
  spec: ApiListener,
  { gateway, role, places, read }: ListenerContext,
): ListenerView {
  const expected = expectedProtocol(spec, role);
  const unsupported = expected && `protocol: "${spec.protocol}" on port ${spec.port}, expected ${expected}`;
  const protocol = protocolOf(spec);
  const conflict = protocol === undefined ? undefined : places.take({ spec, owner: ownerText(owner) });
  const judged = tlsOf(spec, {
    owner: { kind: owner.kind === "ApiGateway" ? "Gateway" : owner.kind, namespace: owner.meta.namespace },
    gateway: { kind: "Gateway", namespace: gateway.meta.namespace },
    ...{ spec: gateway.spec, read },
  });
  const kinds = unsupported === undefined ? routeKinds(spec) : { supported: [], unsupported: [] };
  const accepted = acceptedVerdict(unsupported, conflict, judged);
  // Proxies of a class of tunnels take HBONE at its port, whatever protocol the listener says.
  const isTolerated = unsupported !== undefined && isTunnelClass(role) && isTunnelPort(spec.port) &&
    protocol !== undefined && !conflict;
  const programmed = isTolerated ? holds("Programmed") : programmedVerdict(accepted, conflict, judged);
  return {
    ...{ owner, index, spec, protocol, derived: derivedGatewayName(owner, spec.name, gateway) },
    supportedKinds: kinds.supported,
    ...{ accepted, programmed },
    conflicted: conflict === undefined
      // A False verdict, and good news.
      ? fails("NoConflicts", "no other listener has the place of the listener")
      : { status: "True", reason: conflict.reason, message: conflict.message },
    resolvedRefs: refsVerdict(spec, kinds.unsupported, judged),
    serves: role !== "remote" && programmed.status === "True",
    ...(judged && { tls: judged.tls }),
    // Such a listener leads to services of all namespaces: the author of a ListenerSet must not open the Gateway so far.
    autoPassthrough: owner.kind === "ApiGateway" && isAutoPassthrough(spec, gateway.meta.labels),
  };
}

function acceptedVerdict(
  unsupported: string | undefined,
  conflict: TakenPlace | undefined,
  judged: JudgedTls | undefined,
): ConditionVerdict {
  if (unsupported !== undefined) return fails("UnsupportedProtocol", unsupported);
  if (conflict !== undefined) return fails(conflict.reason, conflict.message);
  return judged?.accepted ?? holds("Accepted");
}

function programmedVerdict(
  accepted: ConditionVerdict,
  conflict: TakenPlace | undefined,
  judged: JudgedTls | undefined,
): ConditionVerdict {
  if (conflict !== undefined) return fails(conflict.reason, conflict.message);
  if (accepted.status !== "True") return fails("Invalid", accepted.message);
  return judged?.programmed ?? holds("Programmed");
}

function refsVerdict(
  spec: ApiListener,
  unsupportedKinds: readonly string[],
  judged: JudgedTls | undefined,
): ConditionVerdict {
  if (judged?.refs !== undefined) return judged.refs;
  if (unsupportedKinds.length === 0) return holds("ResolvedRefs");
  const expected = `kinds of routes that protocol ${spec.protocol} carries`;
  return fails("InvalidRouteKinds", `allowedRoutes.kinds: ${unsupportedKinds.join(", ")}, expected ${expected}`);
}
