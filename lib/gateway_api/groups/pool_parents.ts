/**
 * The Gateways to which HTTPRoutes lead pools, found once for all pools.
 *
 * Each of 200 routes may lead to each of 200 pools. The Gateways of a route are the same for all of the route's pools. So
 * they are kept with the reads behind them. Routes of one namespace with equal parentRefs share the reads, and a pool
 * repeats these reads once for all such routes.
 *
 * @module
 */
import type { ParentReference } from "../../config/kinds/kinds.ts";
import { gatewayKeyOf } from "../attach/gateway_view.ts";
import { isSame, type NotedReads, NotingReader } from "../attach/noted_reads.ts";
import { type AttachContext, attachments } from "../attach/routes.ts";
import type { ApiRoute, AttachReader, ConditionVerdict, NamespacedName, PoolParent } from "../attach/types.ts";
import { fails, holds } from "../attach/verdicts.ts";
import { parentKind } from "./groups.ts";

/** Routes with equal parents. */
interface KeptRoutes {
  /** The reads behind the Gateways of all kept routes. */
  readonly reads: NotedReads;
  readonly gateways: WeakMap<ApiRoute, readonly PoolParent[]>;
}

/** Most kept signatures: routes of the past are among them, and nobody asks for these again. */
const MAX_KEPT = 10_000;

/** The Gateways of routes, under one set of options. */
export class PoolParents {
  /** By namespace and parents of the routes. */
  readonly #kept = new Map<string, KeptRoutes>();
  readonly #signatures = new WeakMap<ApiRoute, string>();

  /** The Gateways at which each route leads to a pool. @param context With the reader of the pool */
  of(routes: readonly ApiRoute[], context: AttachContext): (readonly PoolParent[])[] {
    const repeated = new Map<string, KeptRoutes>();
    return routes.map((route) => {
      const signature = this.#signatures.getOrInsertComputed(route, () => signatureOf(route));
      const kept = repeated.getOrInsertComputed(signature, () => this.#repeat(signature, context));
      return kept.gateways.getOrInsertComputed(route, () => {
        const read = new NotingReader(context.read, kept.reads);
        return gatewaysOf(route, { ...context, read });
      });
    });
  }

  /** The kept routes with this signature, whose reads now are reads of the pool. */
  #repeat(signature: string, { read }: AttachContext): KeptRoutes {
    const kept = this.#kept.get(signature);
    if (kept !== undefined && isSame(kept.reads, read)) return kept;
    const now: KeptRoutes = { reads: new Map(), gateways: new WeakMap() };
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(signature, now);
    return now;
  }
}

function signatureOf({ meta: { namespace }, spec: { parentRefs = [] } }: ApiRoute): string {
  return JSON.stringify([namespace, parentRefs]);
}

/** The Gateways at which a route leads to pools. */
function gatewaysOf(route: ApiRoute, context: AttachContext): PoolParent[] {
  return attachments(route, context).flatMap(({ ref, controller, accepted }): PoolParent[] => {
    const gateway = gatewayOf(ref, route.meta.namespace, context.read);
    if (gateway === undefined) return [];
    if (accepted.status !== "True") {
      return [{ ...gateway, controller, accepted: routeRefused(route, accepted), routes: [] }];
    }
    return [{ ...gateway, controller, accepted: ACCEPTED, routes: [route.key] }];
  });
}

/** The verdict on a pool whose HTTPRoute a Gateway refuses. */
export function routeRefused({ meta: { namespace, name } }: ApiRoute, { message }: ConditionVerdict): ConditionVerdict {
  return fails("HTTPRouteNotAccepted", `HTTPRoute ${namespace}/${name}: ${message}`);
}

const ACCEPTED = holds("Accepted", "an HTTPRoute at the Gateway leads to the pool");

/** The Gateway behind a parent; undefined: the parent has no listeners. */
function gatewayOf(ref: ParentReference, own: string, read: AttachReader): NamespacedName | undefined {
  const { namespace = own, name } = ref;
  const kind = parentKind(ref);
  if (kind === "Gateway") return { namespace, name };
  if (kind !== "ListenerSet") return undefined;
  const set = read.object("ListenerSet", namespace, name);
  const [, at = "", of = ""] = (set && gatewayKeyOf(set))?.split("/") ?? [];
  return of === "" ? undefined : { namespace: at, name: of };
}
