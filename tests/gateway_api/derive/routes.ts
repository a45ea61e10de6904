/**
 * Routes as users write them, for tests of their rules. A backend or mirror leads to the Service of its name, unless the
 * name begins with `missing`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import { formatFinding } from "../../../lib/finding/finding.ts";
import type { ResolvedBackend, ResolvedRule } from "../../../lib/gateway_api/attach/types.ts";
import {
  type RequestRoute,
  type RouteRules,
  type RuleContext,
  rulesOf,
} from "../../../lib/gateway_api/derive/rules.ts";

/** What a test writes of a route beside its rules. */
export interface RouteHead {
  readonly kind?: "HTTPRoute" | "GRPCRoute";
  readonly name?: string;
  /** ISO 8601. */
  readonly created?: string;
}

/** A route `shop/web`. Mistakes throw. */
export function route(
  rules: readonly object[] | undefined,
  { kind = "HTTPRoute", name = "web", created }: RouteHead = {},
) {
  const metadata = { name, namespace: "shop", ...(created && { creationTimestamp: created }) };
  const spec = { parentRefs: [{ name: "gw" }], ...(rules && { rules }) };
  return parsedRoute({ apiVersion: "gateway.networking.k8s.io/v1", kind, metadata, spec });
}

/** A route as read from an API, whose definitions may be older and take what a file may not have. Others throw. */
export function parsedRoute(tree: unknown): RequestRoute {
  const { object, findings } = parseObject(tree, { from: "api", source: "Orch", uid: "1" }, {
    defaultNamespace: "shop",
  });
  assert.ok(object !== undefined, findings.map(formatFinding).join("\n"));
  return object as RequestRoute;
}

/** The converted rules of a route. */
export function rules(one: RequestRoute, context: RuleContext = {}): RouteRules {
  return rulesOf(one, backendsOf(one), context);
}

interface Reference {
  readonly name: string;
  readonly port?: number;
  readonly weight?: number;
}

interface Mirroring {
  readonly requestMirror?: { readonly backendRef: Reference };
}

/** The backends of a route's rules. */
export function backendsOf({ spec }: RequestRoute): ResolvedRule[] {
  return (spec.rules ?? []).map(({ backendRefs = [], filters = [] }) => ({
    backends: (backendRefs as readonly Reference[]).map(backend),
    mirrors: (filters as readonly Mirroring[]).flatMap(({ requestMirror }) =>
      requestMirror ? [backend(requestMirror.backendRef)] : []
    ),
  }));
}

/** Host of a Service in namespace `shop`. */
export function hostOf(name: string): string {
  return `${name}.shop.svc.cluster.local`;
}

function backend({ name, port = 80, weight = 1 }: Reference): ResolvedBackend {
  if (name.startsWith("missing")) {
    const fault = { field: "rules[0].backendRefs[0].name", value: name, expected: "a Service that exists" };
    return { weight, reason: "BackendNotFound", fault };
  }
  return { host: hostOf(name), port, weight, target: { kind: "Service", namespace: "shop", name } };
}
