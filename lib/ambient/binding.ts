/**
 * Whether a Service, ServiceEntry or workload that asks for a waypoint has the waypoint, and the way of its connections,
 * in words for people.
 *
 * @module
 */
import type { Fact, WorkloadKind } from "../config/facts/types.ts";
import type { ConfigObject } from "../config/types.ts";
import { externalNameOf } from "../registry/orch/stand_in.ts";
import { isEastWestPart, type Labels } from "../registry/labels.ts";
import { asksGateways, isWaypointPart, USE_WAYPOINT, WAYPOINT_FOR } from "../mesh/waypoints/marks.ts";
import { closingTargets, type WaypointUser } from "../mesh/waypoints/policies.ts";
import { chooseWaypoint, readWaypoint, type UnboundReason, type Waypoint } from "./waypoints.ts";

/** An object that may ask for a waypoint. */
export type Bindable = BindableService | BindableWorkload;

/** A service that may ask for a waypoint. */
export type BindableService = Fact<"Service"> | ConfigObject<"ServiceEntry">;

/** A workload that may ask for a waypoint. */
type BindableWorkload = Fact<WorkloadKind> | ConfigObject<"WorkloadEntry">;

/** Where a binding looks up objects. */
export interface BindingWorld {
  namespaceLabels(namespace: string): Labels;
  gateway(namespace: string, name: string): ConfigObject<"ApiGateway"> | undefined;
  gatewayClass(name: string): ConfigObject<"GatewayClass"> | undefined;
  /** Key of a policy that names an object and that only a waypoint enforces. */
  policyOn(target: string): string | undefined;
  /** `MESH_WAYPOINT_FAIL_OPEN` */
  readonly opensWithoutWaypoint: boolean;
  /** A Gateway that was read without a status counts as ready. Default false. */
  readonly assumesReady?: boolean;
  /** Gateways use the waypoints of services that ask for it (`ENABLE_INGRESS_WAYPOINT_ROUTING`). Default: not known. */
  readonly usesIngress?: boolean;
}

/** The waypoint that an object asks for, and what became of it. */
export interface Binding {
  readonly sort: WaypointUser["sort"];
  /** `namespace/name` of the Gateway. */
  readonly waypoint: string;
  /** Why the waypoint is not used; absent: it is used. */
  readonly reason?: UnboundReason;
  /** The Gateway; absent: there is no such Gateway. */
  readonly found?: Waypoint;
  /** Key of a policy that nobody enforces without the waypoint; absent: there is none. */
  readonly policy?: string;
  /**
   * `waypoint`: connections go through the waypoint; `direct`: to the workloads; `closed`: tunnels refuse connections;
   * `pods`: the service is headless, and clients dial its pods, whatever its waypoint is.
   */
  readonly way: "waypoint" | "direct" | "closed" | "pods";
  /** A service asks gateways to use its waypoint; whether gateways do. Absent: the service does not ask. */
  readonly gateways?: "use" | "pass";
}

/**
 * The binding of an object. Undefined: the object asks for no waypoint, or can have none. The label of a namespace may
 * be meant only for the services. So a workload without a label of its own has a binding only if the waypoint is used.
 */
export function waypointBinding(object: Bindable, world: BindingWorld): Binding | undefined {
  if (!canHaveWaypoint(object)) return undefined;
  const user = userOf(object);
  const { labels, sort } = user;
  const readGateway = (name: string) => gatewayOf(name, world);
  const choice = chooseWaypoint(user, {
    namespaceLabels: (name) => world.namespaceLabels(name),
    waypoint: readGateway,
  });
  if (choice.state === "none") return undefined;
  const { waypoint } = choice;
  const found = readGateway(waypoint);
  if (sort === "workload" && choice.state === "unbound" && !labels[USE_WAYPOINT]) return undefined;
  const known = { sort, waypoint, ...found && { found }, ...gatewaysOf(object, world) };
  const isPassedBy = isHeadless(object);
  if (choice.state === "bound" && !isPassedBy) return { ...known, way: "waypoint" };
  const policy = closingTargets(user, waypoint, found).map((one) => world.policyOn(one)).find((one) => one);
  const judged = { ...known, ...choice.state === "unbound" && { reason: choice.reason }, ...policy && { policy } };
  if (isPassedBy) return { ...judged, way: "pods" };
  return { ...judged, way: policy === undefined || world.opensWithoutWaypoint ? "direct" : "closed" };
}

/** An object as a user of waypoints. */
export function userOf(object: Bindable): WaypointUser {
  const { key, kind, meta: { namespace, labels } } = object;
  if (kind === "Service" || kind === "ServiceEntry") return { key, namespace, labels, sort: "service" };
  // Policies name no workload.
  return { namespace, labels: { ...object.spec.labels, ...kind === "WorkloadEntry" ? labels : {} }, sort: "workload" };
}

function gatewaysOf(object: Bindable, world: BindingWorld): Pick<Binding, "gateways"> {
  const { kind, meta: { namespace, labels } } = object;
  if (kind !== "Service" && kind !== "ServiceEntry" || world.usesIngress === undefined) return {};
  if (!asksGateways(labels, world.namespaceLabels(namespace))) return {};
  return { gateways: world.usesIngress ? "use" : "pass" };
}

/**
 * Whether an object can have a waypoint. These have none: ExternalName services, which tunnels do not know; Services
 * and pods of gateways; and pods with the address of their node.
 */
function canHaveWaypoint(object: Bindable): boolean {
  if (object.kind === "ServiceEntry") return true;
  if (object.kind !== "Service") {
    const isOfNode = object.kind === "Pod" && object.spec.hostNetwork === true;
    return !isOfNode && !isWaypointPart(userOf(object).labels);
  }
  const { meta: { labels }, spec } = object;
  return externalNameOf(spec) === undefined && !isWaypointPart(labels) && !isEastWestPart(labels);
}

function isHeadless(object: Bindable): boolean {
  return object.kind === "Service" && object.spec.clusterIPs.includes("None");
}

function gatewayOf(key: string, world: BindingWorld): Waypoint | undefined {
  const [namespace = "", name = ""] = key.split("/");
  const gateway = world.gateway(namespace, name);
  if (gateway === undefined) return undefined;
  const waypoint = readWaypoint(gateway, world.gatewayClass(gateway.spec.gatewayClassName)?.meta, "");
  const isAssumed = world.assumesReady === true && gateway.status === undefined;
  return isAssumed ? { ...waypoint, address: {} } : waypoint;
}

/** Why the waypoint is not used: `Gateway shop/gate does not exist`. Empty: the waypoint is used. */
export function unboundText({ sort, waypoint, reason, found }: Binding, namespace: string): string {
  const gateway = `Gateway ${waypoint}`;
  if (reason === undefined) return "";
  switch (reason) {
    case "WaypointIsNotReady":
      return found === undefined ? `${gateway} does not exist` : `${gateway} has no address in its status`;
    case "AttachmentDenied":
      return `no listener for tunnels of ${gateway} admits the namespace ${namespace}`;
    case "UnsupportedTrafficType":
      return `${gateway} takes the traffic "${found?.traffic ?? ""}" by its label ${WAYPOINT_FOR}, not "${sort}"`;
  }
}

/** The way of connections, as a sentence. */
export function wayText({ sort, waypoint, reason, policy, way, gateways }: Binding): string {
  const to = sort === "workload" ? "workload" : "workloads";
  const named = policy === undefined ? "" : policyText(policy);
  switch (way) {
    case "waypoint":
      return `Connections of node tunnels go through the waypoint ${waypoint}.${gatewaysText(gateways)}`;
    case "closed":
      return `Node tunnels refuse connections, because ${named} needs the waypoint.`;
    case "direct":
      return policy === undefined
        ? `Connections go to the ${to} directly. No policy needs the waypoint.`
        : `Connections go to the ${to} directly, and nothing enforces ${named} (MESH_WAYPOINT_FAIL_OPEN=true).`;
    case "pods": {
      const past = reason === undefined ? `, past the waypoint ${waypoint} unless the pods ask for it` : "";
      const unenforced = policy === undefined ? "" : ` On that way nothing enforces ${named}.`;
      return `The service is headless: clients dial its pods, so connections go to the pods${past}.${unenforced}`;
    }
  }
}

/** A sentence about gateways, to be appended. Empty: the service does not ask gateways to use its waypoint. */
function gatewaysText(gateways: Binding["gateways"]): string {
  if (gateways === undefined) return "";
  return gateways === "use"
    ? " Gateways use the waypoint, too."
    : " Gateways pass the waypoint by (ENABLE_INGRESS_WAYPOINT_ROUTING=false).";
}

/** `AuthorizationPolicy shop/admins` from a key. */
function policyText(key: string): string {
  const slash = key.indexOf("/");
  return `${key.slice(0, slash)} ${key.slice(slash + 1)}`;
}
