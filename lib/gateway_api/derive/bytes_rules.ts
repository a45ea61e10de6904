/**
 * The derived VirtualService of a listener for connections or datagrams: TCPRoutes, TLSRoutes and UDPRoutes.
 *
 *     TCPRoute, UDPRoute   one rule: the oldest route gets all connections of the listener
 *     TLSRoute             a rule for each route, by server name; the oldest route gets a name
 *
 * A backend that cannot be used keeps its share of the connections. The connections of the share are closed.
 *
 * @module
 */
import type { DerivedObject } from "../../config/derive/derivation.ts";
import type { RouteDestination, TlsRoute } from "../../config/kinds/kinds.ts";
import { UNRESOLVED_HOST } from "../../config/kinds/virtual_service/internal.ts";
import type { ConfigObject } from "../../config/types.ts";
import { byPrecedence } from "../attach/precedence.ts";
import type { ListenerView, ResolvedBackend, ResolvedRoute } from "../attach/types.ts";

/** A route for connections or datagrams. */
export type BytesRoute = ConfigObject<"TCPRoute"> | ConfigObject<"TLSRoute"> | ConfigObject<"UDPRoute">;

/** A route that is attached to a listener. */
export interface AttachedBytesRoute {
  readonly route: BytesRoute;
  /** Server names within the hostnames of listener and route; `*`: any. Never empty. Used only for TLSRoutes. */
  readonly hostnames: readonly string[];
  /** A rule of such a route has no matches, so the first rule takes all connections. */
  readonly resolved: Pick<ResolvedRoute, "rules">;
}

/**
 * The VirtualService of a listener; undefined: no route is attached, or the listener is for requests. If only the closing
 * rule is left, the origin of the object is the input of the caller.
 *
 * @param attached In any order. Of several routes the oldest counts; of the same age, the first by namespace and name.
 */
export function bytesVirtualService(
  { derived, protocol, spec }: Pick<ListenerView, "derived" | "protocol" | "spec">,
  attached: readonly AttachedBytesRoute[],
): DerivedObject<"VirtualService"> | undefined {
  if (protocol !== "TCP" && protocol !== "TLS" && protocol !== "UDP") return undefined;
  const routes = attached.toSorted((a, b) => byPrecedence(a.route, b.route));
  const sole = routes.find(({ route }) => route.kind === WHOLE[protocol]);
  const byName = protocol === "TLS" ? routes.filter(({ route }) => route.kind === "TLSRoute") : [];
  const tls = protocol === "TLS" ? tlsRules(spec.hostname, byName, sole !== undefined) : [];
  const [first = sole] = byName;
  if (tls.length === 0 && sole === undefined) return undefined;
  return {
    kind: "VirtualService",
    meta: derived,
    spec: {
      // Server names are in the matches. A name without a dot would here be taken for a service of the namespace.
      hosts: ["*"],
      gateways: [`${derived.namespace}/${derived.name}`],
      ...(tls.length > 0 ? { tls } : {}),
      ...(sole === undefined ? {} : { tcp: [{ route: destinations(sole) }] }),
      exportTo: ["*"],
    },
    ...(first === undefined ? {} : { of: first.route }),
  };
}

/** The kind of routes that take all connections of a listener. */
const WHOLE = { TCP: "TCPRoute", TLS: "TCPRoute", UDP: "UDPRoute" } as const;

/**
 * A rule for each route. If no route has the hostname of the listener, a last rule closes the connections for it: otherwise
 * a listener with a wider hostname on the port would get these connections.
 *
 * @param isOpen Whether a TCPRoute takes the connections that no TLSRoute takes.
 */
function tlsRules(hostname: string | undefined, routes: readonly AttachedBytesRoute[], isOpen: boolean): TlsRoute[] {
  const rules = routes.map((one): TlsRoute => ({
    match: [{ sniHosts: [...new Set(one.hostnames)].sort() }],
    route: destinations(one),
  }));
  const isTaken = rules.some(({ match }) => match?.some(({ sniHosts }) => sniHosts.includes(hostname ?? "*")));
  if (hostname === undefined || isTaken || isOpen) return rules;
  return [...rules, { match: [{ sniHosts: [hostname] }], route: [CLOSED] }];
}

/** Connections that are closed. */
const CLOSED: RouteDestination = { destination: { host: UNRESOLVED_HOST }, internal: { closed: true } };

/** The destinations of backends with a share. Without any share, connections are closed. */
export function destinations(
  { resolved: { rules: [rule] } }: Pick<AttachedBytesRoute, "resolved">,
): RouteDestination[] {
  const shared = rule?.backends.filter(({ weight }) => weight > 0) ?? [];
  return shared.length === 0 ? [CLOSED] : shared.map(destination);
}

function destination({ weight, ...backend }: ResolvedBackend): RouteDestination {
  if (backend.host === undefined) return { ...CLOSED, weight };
  return { destination: { host: backend.host, port: { number: backend.port } }, weight };
}
