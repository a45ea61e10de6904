/**
 * The groups in which objects of the Gateway API are derived.
 *
 *     gateway/NAMESPACE/NAME   a Gateway, its ListenerSets, and routes at the Gateway
 *     sets/GATEWAY             only the ListenerSets of a Gateway; the views of the Gateway read this group
 *     set/NAMESPACE/NAME       routes at a ListenerSet; the Gateway of the set reads this group
 *     mesh/KIND/NAMESPACE/NAME routes at a Service or a ServiceEntry
 *     pool/NAMESPACE/NAME      an InferencePool, and the HTTPRoutes that lead to the pool
 *
 * @module
 */
import type { DerivationInput } from "../../config/derive/derivation.ts";
import type { ParentReference } from "../../config/kinds/kinds.ts";
import { GATEWAY_API_GROUP, INFERENCE_GROUP } from "../../config/spelling/spelling.ts";
import { objectKey } from "../../config/types.ts";
import { setsGroup } from "../attach/gateway_view.ts";
import { NETWORKING_GROUPS } from "../attach/services.ts";
import { type ApiRoute, type NamespacedName, ROUTE_KINDS } from "../attach/types.ts";

/** Kinds of parents, as a parentRef names them. */
export type ParentKind = "Gateway" | "ListenerSet" | "Service" | "ServiceEntry";

/** The kind of a parent; undefined: a kind that takes no routes here. */
export function parentKind({ group, kind }: Pick<ParentReference, "group" | "kind">): ParentKind | undefined {
  if (group === GATEWAY_API_GROUP) return kind === "Gateway" || kind === "ListenerSet" ? kind : undefined;
  if (group === "") return kind === "Service" ? kind : undefined;
  return NETWORKING_GROUPS.includes(group) && kind === "ServiceEntry" ? kind : undefined;
}

/** Whether an input is a route. */
export function isRoute(input: DerivationInput): input is DerivationInput & ApiRoute {
  return (ROUTE_KINDS as readonly string[]).includes(input.kind);
}

/** The group of a Gateway. */
function gatewayGroup({ namespace, name }: NamespacedName): string {
  return `gateway/${namespace}/${name}`;
}

/** The group of the routes at a ListenerSet. */
export function setGroup({ namespace, name }: NamespacedName): string {
  return `set/${namespace}/${name}`;
}

/** The group of the routes at a service. */
function meshGroup(kind: "Service" | "ServiceEntry", { namespace, name }: NamespacedName): string {
  return `mesh/${kind}/${namespace}/${name}`;
}

/** The group of an InferencePool. */
function poolGroup({ namespace, name }: NamespacedName): string {
  return `pool/${namespace}/${name}`;
}

/** The object that a group is about: the parent of the group's routes, or the pool to which the routes lead. */
export interface GroupSubject {
  readonly kind: ParentKind | "InferencePool";
  readonly object: NamespacedName;
}

/** The subject of a group by its name; undefined: the name is of no such group. */
export function subjectOf(group: string): GroupSubject | undefined {
  const [head, ...parts] = group.split("/");
  const [namespace = "", name = ""] = parts.slice(-2);
  const object = { namespace, name };
  if (head === "gateway") return { kind: "Gateway", object };
  if (head === "set") return { kind: "ListenerSet", object };
  if (head === "pool") return { kind: "InferencePool", object };
  const [kind] = parts;
  return head === "mesh" && (kind === "Service" || kind === "ServiceEntry") ? { kind, object } : undefined;
}

/** The groups of an input, with the groups of InferencePools. */
export function groupsWithPools(input: DerivationInput): string[] {
  return [...groupsOf(input), ...poolGroupsOf(input)];
}

/** The groups of InferencePools to which an input belongs. */
function poolGroupsOf(input: DerivationInput): string[] {
  const { namespace, name } = input.meta;
  if (input.kind === "InferencePool") return [poolGroup({ namespace, name })];
  if (input.kind !== "HTTPRoute") return [];
  const references = (input.spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs);
  const pools = references.filter(({ group, kind }) => group === INFERENCE_GROUP && kind === "InferencePool");
  return [...new Set(pools.map((ref) => poolGroup({ namespace: ref.namespace ?? namespace, name: ref.name })))];
}

/** The groups of an input, without the groups of InferencePools. */
export function groupsOf(input: DerivationInput): string[] {
  const { namespace, name } = input.meta;
  if (input.kind === "ApiGateway") return [gatewayGroup({ namespace, name })];
  if (input.kind === "ListenerSet") {
    const { parentRef } = input.spec;
    if (parentKind(parentRef) !== "Gateway") return [];
    const parent = { namespace: parentRef.namespace ?? namespace, name: parentRef.name };
    return [gatewayGroup(parent), setsGroup(objectKey("ApiGateway", parent.namespace, parent.name))];
  }
  if (!isRoute(input)) return [];
  return (input.spec.parentRefs ?? []).flatMap((ref) => {
    const parent = { namespace: ref.namespace ?? namespace, name: ref.name };
    const kind = parentKind(ref);
    if (kind === "Gateway") return [gatewayGroup(parent)];
    if (kind === "ListenerSet") return [setGroup(parent)];
    return kind === undefined ? [] : [meshGroup(kind, parent)];
  });
}
