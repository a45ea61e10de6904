/**
 * Rules for connections to a service, from the TCPRoutes and TLSRoutes whose parent is the service.
 *
 *     TCPRoute   the oldest route has the port, or every port that no route names
 *     TLSRoute   server names on ports with TLS; the oldest route has a name
 *
 * A TCPRoute also takes the connections on ports with TLS whose server name no TLSRoute has. Ports of HTTP keep their
 * routes for requests.
 *
 * @module
 */
import type { VirtualServiceSpec } from "../../config/kinds/virtual_service/schema.ts";
import { byPrecedence } from "../attach/precedence.ts";
import type { MeshParent, ResolvedRoute } from "../attach/types.ts";
import { type BytesRoute, destinations } from "../derive/bytes_rules.ts";

/** A route for connections at a service. */
export interface MeshBytesRoute {
  readonly route: BytesRoute;
  readonly parent: MeshParent;
  readonly resolved: Pick<ResolvedRoute, "rules">;
}

/** The rules for connections; a field is absent where no route gives such rules. */
export function meshBytesRules(routes: readonly MeshBytesRoute[]): Pick<VirtualServiceSpec, "tcp" | "tls"> {
  const sorted = [...routes].sort((a, b) => byPrecedence(a.route, b.route));
  const wholes = wholePorts(sorted.filter(({ route }) => route.kind === "TCPRoute"));
  const tcp = wholes.map((one) => ({
    ...(one.parent.port === undefined ? {} : { match: [portOf(one)] }),
    route: destinations(one),
  }));
  const tls = [
    ...sorted.flatMap((one) => {
      if (one.route.kind !== "TLSRoute") return [];
      const sniHosts = [...new Set(one.route.spec.hostnames ?? ["*"])].sort();
      return [{ match: [{ sniHosts, ...portOf(one) }], route: destinations(one) }];
    }),
    ...wholes.map((one) => ({ match: [{ sniHosts: ["*"], ...portOf(one) }], route: destinations(one) })),
  ];
  return { ...(tcp.length > 0 ? { tcp } : {}), ...(tls.length > 0 ? { tls } : {}) };
}

/** The first route of each port, then the first route of all other ports. @param routes The oldest first */
function wholePorts(routes: readonly MeshBytesRoute[]): MeshBytesRoute[] {
  const first = new Map<number | undefined, MeshBytesRoute>();
  for (const one of routes) if (!first.has(one.parent.port)) first.set(one.parent.port, one);
  const all = first.get(undefined);
  return [...first.values()].filter((one) => one !== all).concat(all ?? []);
}

function portOf({ parent: { port } }: MeshBytesRoute): { readonly port?: number } {
  return port === undefined ? {} : { port };
}
