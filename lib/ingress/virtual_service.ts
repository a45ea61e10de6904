/**
 * The VirtualService of a host: the rules of all Ingresses with this host.
 *
 * @module
 */
import type { DerivedObject } from "../config/derive/derivation.ts";
import type { Fact } from "../config/facts/types.ts";
import type { HttpRoute } from "../config/kinds/kinds.ts";
import { certificatesOf } from "./gateway.ts";
import { gatewayName, virtualServiceName } from "./names.ts";
import { comparePaths } from "./path.ts";
import type { IngressReader } from "./reader.ts";
import { defaultRouteOf, hostOf, routesOf, type RuleOptions } from "./rules.ts";

/** Hosts whose VirtualService an Ingress influences: by a rule, a certificate, or its default backend. */
export function hostsOf({ spec }: Fact<"Ingress">): string[] {
  const written = [
    ...spec.rules.map(({ host }) => host),
    ...spec.tls.flatMap(({ hosts }) => hosts),
    ...(spec.defaultBackend === undefined ? [] : [""]),
  ];
  return [...new Set(written.flatMap((host) => hostOf(host) ?? []))];
}

/**
 * The VirtualService of a host; undefined: no Ingress has a route for the host.
 *
 * The oldest Ingress with a route gives namespace and age. The VirtualService is also bound to the Gateways of the
 * other Ingresses with a certificate, because the gateway may present any of these certificates for the host.
 *
 * @param ingresses The Ingresses that influence the host, all to be served.
 * @param namespace Namespace of the Gateways.
 */
export function virtualServiceOf(
  host: string,
  ingresses: readonly Fact<"Ingress">[],
  namespace: string,
  options: { readonly read: IngressReader; readonly domain: string },
): DerivedObject<"VirtualService"> | undefined {
  const silent: RuleOptions = { ...options, report: () => {} };
  const parts = [...ingresses].sort(oldestFirst).map((ingress) => {
    const routes = routesOf(ingress, host, silent);
    const fallback = routes.length > 0 || host === "*" ? defaultRouteOf(ingress, silent) : undefined;
    return { ingress, routes, fallback };
  });
  const first = parts.find(({ routes, fallback }) => routes.length > 0 || fallback !== undefined)?.ingress;
  if (first === undefined) return undefined;
  const sorted = parts.flatMap(({ routes }) => routes).sort((a, b) => comparePaths(a.match, b.match));
  const fallback = parts.flatMap(({ fallback }) => fallback ?? []).slice(0, 1);
  const others = ingresses.filter((ingress) => ingress !== first && certificatesOf(ingress).length > 0);
  return {
    kind: "VirtualService",
    meta: {
      name: virtualServiceName(host, first.meta.name),
      namespace: first.meta.namespace,
    },
    spec: {
      hosts: [host],
      gateways: [first, ...others].map(({ meta }) => `${namespace}/${gatewayName(meta)}`),
      http: reachable([...sorted.map(({ route }) => route), ...fallback]),
      exportTo: ["*"],
      internal: { semantics: "ingress" },
    },
    of: first,
  };
}

/** Of several routes for the same path the first counts. No route counts behind a route for every path. */
function reachable(routes: readonly HttpRoute[]): HttpRoute[] {
  const seen = new Set<string>();
  return routes.filter(({ match }) => {
    const key = JSON.stringify(match ?? []);
    return !seen.has(key) && seen.add(key);
  });
}

/** By age, then by name, then by namespace. Ingresses in the same file have the same age. */
function oldestFirst({ meta: a }: Fact<"Ingress">, { meta: b }: Fact<"Ingress">): number {
  return a.creationTimestamp - b.creationTimestamp || compare(a.name, b.name) || compare(a.namespace, b.namespace);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
