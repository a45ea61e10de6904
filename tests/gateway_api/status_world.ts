/**
 * The statuses of a world in lines of words: what a reader of the API would see.
 *
 * @module
 */
import { rulesOf } from "../../lib/gateway_api/derive/rules.ts";
import { isRequestRoute } from "../../lib/gateway_api/groups/judged.ts";
import type { ApiRoute, GatewayView, ListenerView } from "../../lib/gateway_api/attach/types.ts";
import type { GatewayRuntime, GatewayService } from "../../lib/gateway_api/status/assignment.ts";
import { gatewayStatus, programmedVerdict } from "../../lib/gateway_api/status/gateways.ts";
import type { StatusJson } from "../../lib/gateway_api/status/conditions.ts";
import { LIVE } from "../../lib/gateway_api/status/live.ts";
import { listenerSetStatus } from "../../lib/gateway_api/status/listener_sets.ts";
import { routeStatus } from "../../lib/gateway_api/status/routes.ts";
import { type ProgressSum, sumProgress } from "../../lib/status/progress.ts";
import type { AttachWorld } from "./attach_world.ts";

const NOW = "2026-02-02T00:00:00Z";

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

interface Listener {
  readonly name: string;
  readonly attachedRoutes: number;
  readonly supportedKinds: readonly { readonly kind: string }[];
  readonly conditions: readonly Condition[];
}

/** Of some proxies, `live` have an object in force, and some refuse it. */
export function proxiesOf(live: number, total: number, rejected = 0): ProgressSum {
  const reason = rejected === 0 ? "" : "no port";
  return sumProgress(1, [{ generation: 1, total, live, rejected, reason }]);
}

/** Two proxies that have everything. */
export const LIVE_PROXIES: ProgressSum = proxiesOf(2, 2);

/** `Accepted` for a True condition with the usual reason, else `Accepted: REASON` or `not Accepted: REASON`. */
function words(conditions: readonly Condition[]): string {
  return conditions.map(({ type, status, reason }) => {
    if (type === LIVE && status === "True") return "";
    // A conflict is bad news when it is True.
    if (type === "Conflicted") return status === "False" ? "" : `Conflicted: ${reason}`;
    if (status === "True") return type === reason ? type : `${type}: ${reason}`;
    return `not ${type}: ${reason}`;
  }).filter((one) => one !== "").join(", ");
}

function listenerLines(listeners: readonly Listener[]): string[] {
  return listeners.map(({ name, attachedRoutes, supportedKinds, conditions }) =>
    `${name} [${supportedKinds.map(({ kind }) => kind).join(" ")}] ${attachedRoutes}: ${words(conditions)}`
  );
}

/** A Gateway's service with all ports, an address and endpoints; and a proxy that has everything. */
export function servedBy(view: GatewayView, changes: Partial<GatewayService> = {}): GatewayRuntime {
  const { addressing, gateway, listeners } = view;
  const host = addressing.by === "managed" ? addressing.host : "";
  const ports = listeners.map(({ spec }) => ({ port: spec.port, hasEndpoints: true }));
  const service = { external: ["10.0.0.1"], internal: [], isPending: false, ...changes };
  const services = [{ host, namespace: gateway.meta.namespace, ports, ...service }];
  return { services, proxies: LIVE_PROXIES };
}

/** Counts the routes of a world at each listener. */
function counted(world: AttachWorld): (listener: ListenerView) => number {
  const all = world.routes().map((route) => world.attachments(route));
  const isAt = ({ owner, spec }: ListenerView, { listener }: { readonly listener: ListenerView }) =>
    listener.owner.key === owner.key && listener.spec.name === spec.name;
  return (listener) => all.filter((at) => at.some(({ bound }) => bound.some((one) => isAt(listener, one)))).length;
}

/** A Gateway of namespace `infra`: its conditions and addresses, then a line for each listener. */
export function gatewayLines(world: AttachWorld, name: string, changes: Partial<GatewayService> = {}): string[] {
  const view = world.view(name);
  const report = { view, runtime: servedBy(view, changes), attachedRoutes: counted(world) };
  const status = gatewayStatus(report, {}, NOW) as StatusJson;
  const addresses = (status["addresses"] ?? []) as { readonly value: string }[];
  const sets = status["attachedListenerSets"];
  const more = [...addresses.map(({ value }) => value), ...(sets === undefined ? [] : [`${sets} sets`])];
  return [
    `${words(status["conditions"] as Condition[])} at ${more.join(", ")}`,
    ...listenerLines(status["listeners"] as Listener[]),
  ];
}

/** A ListenerSet of a Gateway: its conditions, then a line for each listener. */
export function setLines(world: AttachWorld, gateway: string, name: string, namespace = "infra"): string[] {
  const view = world.view(gateway);
  const set = view.sets.find(({ set: { meta } }) => meta.name === name && meta.namespace === namespace)!;
  const parent = programmedVerdict(view, servedBy(view));
  const report = { view: set, parent: view, gateway: parent, proxies: LIVE_PROXIES, attachedRoutes: counted(world) };
  const status = listenerSetStatus(report, {}, NOW) as StatusJson;
  return [words(status["conditions"] as Condition[]), ...listenerLines((status["listeners"] ?? []) as Listener[])];
}

/** A route: a line for each parent. */
export function routeLines(world: AttachWorld, route: ApiRoute): string[] {
  const resolved = world.resolve(route);
  const status = routeStatus(
    {
      ...{ route, attachments: world.attachments(route), isOurs: () => true },
      resolvedRefs: { gateway: resolved.resolvedRefs, mesh: world.resolve(route, "mesh").resolvedRefs },
      refused: isRequestRoute(route) ? rulesOf(route, resolved.rules, {}).refusals : [],
    },
    {},
    NOW,
  ) as StatusJson | undefined;
  const parents = (status?.["parents"] ?? []) as {
    readonly parentRef: { readonly name: string };
    readonly conditions: readonly Condition[];
  }[];
  return parents.map(({ parentRef, conditions }) => `${parentRef.name}: ${words(conditions)}`);
}
