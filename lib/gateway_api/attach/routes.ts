/**
 * Routes at their parents: Gateways, ListenerSets and services.
 *
 * @module
 */
import type { ParentReference } from "../../config/kinds/kinds.ts";
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import { gatewayKeyOf } from "./gateway_view.ts";
import { ANY_HOST, commonHosts } from "./hostnames.ts";
import { attachToService } from "./mesh_parents.ts";
import { ownerText } from "./names.ts";
import { allowsNamespace } from "./namespaces.ts";
import type {
  ApiRoute,
  AttachOptions,
  BoundListener,
  FieldFault,
  GatewayView,
  ListenerView,
  RouteAtParent,
  ViewReader,
} from "./types.ts";
import { fails, faultText, holds } from "./verdicts.ts";
import type { GatewayViews } from "./views.ts";

/** The inputs of attachment. */
export interface AttachContext {
  readonly read: ViewReader;
  readonly options: AttachOptions;
  /** Views under the same options. */
  readonly views: GatewayViews;
}

/** A route at all its parents, in the order of `parentRefs`. Equal references count once. */
export function attachments(route: ApiRoute, context: AttachContext): RouteAtParent[] {
  const seen = new Set<string>();
  return (route.spec.parentRefs ?? []).flatMap((ref, index) => {
    const key = parentKey(ref, route.meta.namespace);
    if (seen.has(key)) return [];
    seen.add(key);
    const found = attach(route, index, context);
    return found === undefined ? [] : [found];
  });
}

/** What makes references to parents distinct. @param namespace Namespace of the route. */
export function parentKey(
  { group = GATEWAY_API_GROUP, kind = "Gateway", namespace: written, name, sectionName = "", port = 0 }: Partial<
    ParentReference
  >,
  namespace: string,
): string {
  return JSON.stringify([group, kind, written ?? namespace, name, sectionName, port]);
}

/**
 * A route at one parent; undefined: the parent is not ours, or does not exist.
 *
 * @param index Position in `parentRefs`.
 */
export function attach(route: ApiRoute, index: number, context: AttachContext): RouteAtParent | undefined {
  const ref = route.spec.parentRefs?.[index];
  if (ref === undefined) return undefined;
  const field = `parentRefs[${index}]`;
  const { group, kind, namespace = route.meta.namespace, name } = ref;
  if (group !== GATEWAY_API_GROUP) {
    const made = attachToService(route, ref, field, context);
    return made && { index, ref, controller: context.options.controllerName, bound: [], ...made };
  }
  const parent = kind === "Gateway"
    ? gatewayParent(namespace, name, context)
    : kind === "ListenerSet"
    ? setParent(namespace, name, context)
    : undefined;
  if (parent === undefined) return undefined;
  return { index, ref, controller: parent.controller, ...attachToListeners(route, ref, field, parent, context) };
}

/** A parent with listeners. */
interface ListenersParent {
  readonly controller: string;
  /** `Gateway shop/edge`. */
  readonly text: string;
  readonly listeners: readonly ListenerView[];
  /** Why no route attaches: what is expected of the parent. */
  readonly refusal?: string;
}

/** A Gateway with its own listeners. Listeners of ListenerSets are not the Gateway's. */
function gatewayParent(namespace: string, name: string, { read, views }: AttachContext): ListenersParent | undefined {
  const gateway = read.object("ApiGateway", namespace, name);
  const view = gateway && views.of(gateway, read);
  if (gateway === undefined || view === undefined) return undefined;
  return { controller: view.controller, text: ownerText(gateway), listeners: ownListeners(view) };
}

/** The own listeners of Gateways. ListenerSets may add thousands of listeners, and each route of the Gateway asks. */
const own = new WeakMap<GatewayView, readonly ListenerView[]>();

function ownListeners(view: GatewayView): readonly ListenerView[] {
  return own.getOrInsertComputed(view, () => view.listeners.filter(({ owner }) => owner === view.gateway));
}

function setParent(namespace: string, name: string, { read, views }: AttachContext): ListenersParent | undefined {
  const set = read.object("ListenerSet", namespace, name);
  const [, at = "", of = ""] = (set && gatewayKeyOf(set))?.split("/") ?? [];
  const gateway = read.object("ApiGateway", at, of);
  const view = gateway && views.of(gateway, read);
  // The view may have an earlier copy of the set, with another status.
  const found = view?.sets.find((one) => one.set.key === set?.key);
  if (set === undefined || view === undefined || found === undefined) return undefined;
  const parent = { controller: view.controller, text: ownerText(set), listeners: found.listeners };
  if (found.listeners.length > 0) return parent;
  return { ...parent, refusal: `a ListenerSet that its Gateway accepts (${found.accepted.message})` };
}

/** A route at the listeners of a parent: the route is attached to all listeners that take the route. */
function attachToListeners(
  route: ApiRoute,
  { name, sectionName, port }: ParentReference,
  field: string,
  { text, listeners, refusal }: ListenersParent,
  context: AttachContext,
): Pick<RouteAtParent, "accepted" | "bound" | "fault"> {
  const { kind, meta: { namespace } } = route;
  const refuse = (reason: string, part: string, value: unknown, expected: string) =>
    refusedAt(reason, { field: `${field}.${part}`, value, expected });
  if (refusal !== undefined) return refuse("NoMatchingParent", "name", name, refusal);
  const named = listeners.filter(({ spec }) => sectionName === undefined || spec.name === sectionName);
  if (named.length === 0) {
    const known = knownTo(route, listeners, ({ spec }) => spec.name);
    return refuse("NoMatchingParent", "sectionName", sectionName, `a listener of ${text}${known}`);
  }
  const meant = named.filter(({ spec }) => port === undefined || spec.port === port);
  if (meant.length === 0) {
    const known = knownTo(route, named, ({ spec }) => `${spec.port}`);
    return refuse("NoMatchingParent", "port", port, `the port of a listener of ${text}${known}`);
  }
  const ofKind = meant.filter(({ supportedKinds }) => supportedKinds.includes(kind));
  if (ofKind.length === 0) {
    const expected = `a listener of ${text} that takes routes of kind ${kind} (protocol, allowedRoutes.kinds)`;
    return refuse("NotAllowedByListeners", "name", name, expected);
  }
  const allowing = ofKind.filter((one) => allowsRoutesOf(one, namespace, context));
  if (allowing.length === 0) {
    const expected = `a listener of ${text} that takes routes of namespace ${namespace} (allowedRoutes.namespaces)`;
    return refuse("NotAllowedByListeners", "name", name, expected);
  }
  const bound = allowing.flatMap((listener) => bind(route, listener));
  if (bound.length > 0) return { accepted: holds("Accepted", acceptedText(bound.length)), bound };
  const known = shortList(allowing.map(({ spec }) => spec.hostname || ANY_HOST));
  return refusedAt("NoMatchingListenerHostname", {
    ...{ field: "hostnames", value: hostnamesOf(route) },
    expected: `a hostname within the hostnames of the listeners of ${text} (${known})`,
  });
}

function refusedAt(reason: string, fault: FieldFault): Pick<RouteAtParent, "accepted" | "bound" | "fault"> {
  return { accepted: fails(reason, faultText(fault)), bound: [], fault };
}

/** The texts of listeners, as an addition to a message; empty: a status must not tell what other namespaces hold. */
function knownTo(
  { meta: { namespace } }: ApiRoute,
  listeners: readonly ListenerView[],
  text: (listener: ListenerView) => string,
): string {
  const own = listeners.filter(({ owner }) => owner.meta.namespace === namespace);
  return own.length === 0 ? "" : ` (${shortList(own.map(text))})`;
}

/** Most items of a list in a message. */
const MOST_SHOWN = 8;

/** Distinct texts in a message, the first alone if there are many. */
function shortList(texts: readonly string[]): string {
  const all = [...new Set(texts)];
  return all.length > MOST_SHOWN ? `${all.slice(0, MOST_SHOWN).join(", ")} and others` : all.join(", ");
}

function acceptedText(listeners: number): string {
  return listeners === 1 ? "a listener takes the route" : `${listeners} listeners take the route`;
}

function hostnamesOf({ spec }: ApiRoute): readonly string[] | undefined {
  return "hostnames" in spec ? spec.hostnames : undefined;
}

function allowsRoutesOf({ owner, spec }: ListenerView, namespace: string, { read }: AttachContext): boolean {
  const { namespaces = { from: "Same" as const } } = spec.allowedRoutes ?? {};
  return allowsNamespace(namespaces, owner.meta.namespace, namespace, read);
}

function bind(route: ApiRoute, listener: ListenerView): BoundListener[] {
  const ofListener = listener.protocol === "TCP" || listener.protocol === "UDP" ? undefined : listener.spec.hostname;
  const hostnames = commonHosts(hostnamesOf(route), ofListener);
  return hostnames.length === 0 ? [] : [{ listener, hostnames }];
}
