/**
 * The rules of routes, kept by route: after an edit of one route only that route is converted again.
 *
 * @module
 */
import type { InternalVirtualService } from "../../config/kinds/virtual_service/internal.ts";
import { type ConfigObject, isKind } from "../../config/types.ts";
import type { ResolvedRule } from "../attach/types.ts";
import { convertRules, type RouteRules, type RuleContext } from "./convert.ts";
import { grpcMatches, httpMatches } from "./matches.ts";

export { merged } from "./order.ts";
export type { ConvertedRoute } from "./order.ts";
export type { RouteRules, RuleContext } from "./convert.ts";

/** A route of requests or calls. */
export type RequestRoute = ConfigObject<"HTTPRoute"> | ConfigObject<"GRPCRoute">;

/** The internal fields of VirtualServices with these rules: prefixes of paths end at segments. */
export const GATEWAY_SEMANTICS: InternalVirtualService = { semantics: "gateway" };

/** The last conversion of a route. */
interface KnownRules {
  /** Backends and context as text, to compare them with the backends and context of the next conversion. */
  readonly inputs: string;
  readonly rules: RouteRules;
}

/** An edit makes another object of the route, so a conversion is kept as long as the object. */
const known = new WeakMap<RequestRoute, KnownRules>();

/**
 * The rules of a route, one for each match.
 *
 * @param backends By rule of the route. A missing entry: the rule's backends lead nowhere.
 */
export function rulesOf(route: RequestRoute, backends: readonly ResolvedRule[], context: RuleContext): RouteRules {
  const inputs = JSON.stringify([backends, context]);
  const last = known.get(route);
  if (last?.inputs === inputs) return last.rules;
  const rules = converted(route, backends, context);
  known.set(route, { inputs, rules });
  return rules;
}

/** Requests without a backend get 500; calls without a backend get 503, for their clients UNAVAILABLE. */
function converted(route: RequestRoute, backends: readonly ResolvedRule[], context: RuleContext): RouteRules {
  if (isKind(route, "HTTPRoute")) {
    return convertRules(route, route.spec.rules, backends, { matches: httpMatches, unresolved: 500 }, context);
  }
  const { spec } = route as ConfigObject<"GRPCRoute">;
  return convertRules(route, spec.rules, backends, { matches: grpcMatches, unresolved: 503 }, context);
}
