/**
 * The waypoints of a mesh of texts, and the services and workloads that ask for each waypoint.
 *
 * @module
 */
import {
  type Bindable,
  type Binding,
  type BindingWorld,
  unboundText,
  waypointBinding,
  wayText,
} from "../ambient/binding.ts";
import { takesTunnels } from "../ambient/waypoint_admission.ts";
import type { FactStore } from "../config/facts/store.ts";
import type { ConfigStore } from "../config/store.ts";
import type { ConfigObject } from "../config/types.ts";
import { waypointAddress } from "../mesh/waypoints/address.ts";
import { waypointTerms } from "../mesh/waypoints/choice.ts";
import { targetsOf, WAYPOINT_POLICIES, WaypointPolicies } from "../mesh/waypoints/policies.ts";
import type { OfflineMesh } from "./offline_mesh.ts";

/** An object that asks for a waypoint. */
export interface ListedUser {
  /** `Service shop/cart` */
  readonly object: string;
  readonly way: Binding["way"];
  /** What becomes of connections, and why the waypoint is not used, in sentences. */
  readonly text: string;
}

/** A Gateway that is a waypoint, or that an object takes for one. */
export interface ListedWaypoint {
  /** `namespace/name` of the Gateway. */
  readonly name: string;
  /**
   * `ready`: its status has an address; `not ready`: it has none; `no status`: the text has no status, and the Gateway
   * counts as ready; `absent`: there is no such Gateway.
   */
  readonly state: "ready" | "not ready" | "no status" | "absent";
  /** Absent: there is no such Gateway. */
  readonly className?: string;
  /** The traffic of the waypoint: `service`, `workload`, `all` or `none`. */
  readonly traffic?: string;
  /** The first host name of the status, else the first address. */
  readonly address?: string;
  readonly users: readonly ListedUser[];
}

/** All waypoints by name, also those that are only asked for. */
export function listWaypoints(mesh: OfflineMesh): readonly ListedWaypoint[] {
  const world = bindingWorld({
    ...{ facts: mesh.facts, store: mesh.store, rootNamespace: mesh.mesh.rootNamespace },
    ...{ opensWithoutWaypoint: mesh.settings.MESH_WAYPOINT_FAIL_OPEN, assumesReady: true },
  });
  const users = new Map<string, ListedUser[]>();
  const objects: readonly Bindable[] = [
    ...mesh.facts.list("Service"),
    ...mesh.store.list("ServiceEntry"),
    ...mesh.facts.list("Pod"),
    ...mesh.store.list("WorkloadEntry"),
  ];
  for (const object of objects) {
    const binding = waypointBinding(object, world);
    if (binding === undefined) continue;
    const of = users.get(binding.waypoint);
    if (of === undefined) users.set(binding.waypoint, [listedUser(object, binding)]);
    else of.push(listedUser(object, binding));
  }
  const gateways = new Map<string, ConfigObject<"ApiGateway">>(
    mesh.store.list("ApiGateway").map((one) => [`${one.meta.namespace}/${one.meta.name}`, one]),
  );
  const names = new Set([...users.keys(), ...[...gateways].flatMap(([name, one]) => takesTunnels(one) ? [name] : [])]);
  return [...names].sort().map((name) => {
    const byName = (users.get(name) ?? []).sort((a, b) => a.object < b.object ? -1 : 1);
    const gateway = gateways.get(name);
    if (gateway === undefined) return { name, state: "absent", users: byName };
    return { ...listedGateway(name, gateway, world), users: byName };
  });
}

function listedGateway(
  name: string,
  gateway: ConfigObject<"ApiGateway">,
  world: BindingWorld,
): Omit<ListedWaypoint, "users"> {
  const className = gateway.spec.gatewayClassName;
  const { traffic } = waypointTerms(gateway, world.gatewayClass(className)?.meta);
  const found = waypointAddress(gateway.status);
  const address = found && ("hostname" in found ? found.hostname : found.ip);
  const state = gateway.status === undefined ? "no status" : address === undefined ? "not ready" : "ready";
  return { name, state, className, traffic, ...address === undefined ? {} : { address } };
}

function listedUser(object: Bindable, binding: Binding): ListedUser {
  const { kind, meta: { namespace, name } } = object;
  const why = unboundText(binding, namespace);
  return {
    object: `${kind} ${namespace}/${name}`,
    way: binding.way,
    text: why === "" ? wayText(binding) : `${why}. ${wayText(binding)}`,
  };
}

/** Where bindings are looked up. */
interface BindingSources extends Pick<BindingWorld, "opensWithoutWaypoint"> {
  readonly facts: FactStore;
  readonly store: Pick<ConfigStore, "list" | "get">;
  readonly rootNamespace: string;
  /** A Gateway without a status counts as ready. */
  readonly assumesReady: boolean;
}

/** The objects that decide about waypoints. */
export function bindingWorld(sources: BindingSources): BindingWorld {
  const { facts, store, rootNamespace, opensWithoutWaypoint, assumesReady } = sources;
  const policies = new WaypointPolicies();
  for (const kind of WAYPOINT_POLICIES) {
    for (const policy of store.list(kind)) policies.put(policy.key, targetsOf(policy, rootNamespace));
  }
  return {
    namespaceLabels: (name) => facts.get("Namespace", "", name)?.meta.labels ?? {},
    gateway: (namespace, name) => store.get("ApiGateway", namespace, name),
    gatewayClass: (name) => store.get("GatewayClass", "", name),
    policyOn: (target) => policies.first(target),
    opensWithoutWaypoint,
    assumesReady,
  };
}
