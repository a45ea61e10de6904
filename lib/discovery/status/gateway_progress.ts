/**
 * The progress of objects of the Gateway API: on the proxies of this server, and summed over the servers.
 *
 *     Gateway, ListenerSet, route at a Gateway ──> keys, last change ──> proxies of the Gateway
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { isRequestRoute } from "../../gateway_api/groups/judged.ts";
import { parentKind } from "../../gateway_api/groups/groups.ts";
import type { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";
import type {
  ApiRoute,
  GatewayView,
  ListenerSetView,
  ListenerView,
  RouteAtParent,
} from "../../gateway_api/attach/types.ts";
import { type ObjectProgress, type ProgressSum, sumProgress } from "../../status/progress.ts";
import type { ServerReport } from "../../status/report.ts";
import type { GatewayProxies } from "./gateway_proxies.ts";
import type { MeshRouteRows } from "./mesh_route_rows.ts";

export interface GatewayProgressParts {
  readonly verdicts: Pick<GatewayApiVerdicts, "gateway" | "judgedGateways" | "judgedMeshRoutes">;
  readonly proxies: GatewayProxies;
  /** The push of an object's last change; undefined: the object does not exist. */
  readonly changedIn: (key: string) => number | undefined;
  /** Whether a version of an object has been pushed. */
  readonly isPushed: (object: ConfigObject) => boolean;
  /** The progress of routes at services. */
  readonly meshRoutes: Pick<MeshRouteRows, "row">;
  /** The reports of the other servers. */
  readonly others: () => readonly ServerReport[];
  /** Whether the reports of the other servers may lack objects. */
  readonly areEarly: () => boolean;
}

/** The progress of the objects. */
export class GatewayApiProgress {
  readonly #parts: GatewayProgressParts;

  constructor(parts: GatewayProgressParts) {
    this.#parts = parts;
  }

  /** Of a Gateway with its own listeners. */
  gateway(view: GatewayView): ProgressSum {
    return this.#sum(idOf(view.gateway), this.#ofGateway(view));
  }

  /** Of a ListenerSet. */
  listenerSet(view: GatewayView, set: ListenerSetView): ProgressSum {
    return this.#sum(idOf(set.set), this.#ofListeners(view, set.set, set.listeners));
  }

  /** Of a route at one of its parents; undefined: nobody counts. */
  route(route: ApiRoute, at: RouteAtParent): ProgressSum | undefined {
    if (at.mesh !== undefined) return isRequestRoute(route) ? this.#atServices(route) : undefined;
    const view = this.#parentOf(route, at);
    return view &&
      this.#sum(routeId(route, view), this.#ofRoute(view, route, at.bound.map(({ listener }) => listener)));
  }

  /** Of all objects of this server, for the servers that write status. Objects without proxies are left out. */
  report(): ServerReport {
    const rows = new Map<string, ObjectProgress>();
    const note = (id: string, row: ObjectProgress) => void (row.total > 0 && rows.set(id, row));
    for (const { view, routes } of this.#parts.verdicts.judgedGateways()) {
      const own = this.#ofGateway(view);
      if (own.total === 0) continue;
      note(idOf(view.gateway), own);
      for (const { set, listeners } of view.sets) note(idOf(set), this.#ofListeners(view, set, listeners));
      for (const { route, at } of routes) {
        const listeners = at.flatMap(({ bound }) => bound.map(({ listener }) => listener));
        if (listeners.length > 0) note(routeId(route, view), this.#ofRoute(view, route, listeners));
      }
    }
    for (const { route } of this.#parts.verdicts.judgedMeshRoutes()) {
      const row = this.#parts.meshRoutes.row(route);
      if (row !== undefined) note(meshId(route), row);
    }
    return rows;
  }

  #atServices(route: ApiRoute): ProgressSum {
    return sumProgress(route.meta.generation ?? 0, [this.#parts.meshRoutes.row(route), ...this.#others(meshId(route))]);
  }

  #parentOf({ meta }: ApiRoute, { ref }: RouteAtParent): GatewayView | undefined {
    const kind = parentKind(ref);
    if (kind !== "Gateway" && kind !== "ListenerSet") return undefined;
    const name = `${ref.namespace ?? meta.namespace}/${ref.name}`;
    return this.#parts.verdicts.gateway(`${kind === "Gateway" ? "ApiGateway" : kind}/${name}`)?.view;
  }

  #ofGateway(view: GatewayView): ObjectProgress {
    const { gateway } = view;
    return this.#ofListeners(view, gateway, view.listeners.filter(({ owner }) => owner.key === gateway.key));
  }

  #ofListeners(view: GatewayView, owner: ConfigObject, listeners: readonly ListenerView[]): ObjectProgress {
    return this.#of(view, owner, listeners.filter(({ serves }) => serves).map((one) => derivedKey("Gateway", one)));
  }

  #ofRoute(view: GatewayView, route: ApiRoute, listeners: readonly ListenerView[]): ObjectProgress {
    // Resources name the rules' routes for requests; for connections, they name the derived object.
    return this.#of(
      view,
      route,
      isRequestRoute(route) ? [] : listeners.map((one) => derivedKey("VirtualService", one)),
    );
  }

  #of(view: GatewayView, object: ConfigObject, derived: readonly string[]): ObjectProgress {
    const { proxies, changedIn, isPushed } = this.#parts;
    const keys = [object.key, ...derived];
    const reach = proxies.reach(view, {
      keys,
      changedIn: Math.max(...keys.map((key) => changedIn(key) ?? 0)),
      isWaiting: !isPushed(object),
    });
    return { generation: object.meta.generation ?? 0, ...reach };
  }

  #sum(id: string, own: ObjectProgress): ProgressSum {
    return sumProgress(own.generation, [own, ...this.#others(id)]);
  }

  /** The rows of the other servers. A report that may lack the object counts as a row that is not there yet. */
  #others(id: string): (ObjectProgress | undefined)[] {
    const { others, areEarly } = this.#parts;
    const absent = areEarly() ? [undefined] : [];
    return others().flatMap((report) => report.get(id) ?? absent);
  }
}

function idOf({ origin, key }: ConfigObject): string {
  return origin.from === "api" ? origin.uid : key;
}

/** A route counts apart at each Gateway. */
function routeId(route: ApiRoute, { gateway }: GatewayView): string {
  return `${idOf(route)} ${gateway.key}`;
}

/** A route counts once for all services. */
function meshId(route: ApiRoute): string {
  return `${idOf(route)} mesh`;
}

function derivedKey(kind: "Gateway" | "VirtualService", { derived: { namespace, name } }: ListenerView): string {
  return `${kind}/${namespace}/${name}`;
}
