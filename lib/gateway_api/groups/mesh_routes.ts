/**
 * Routes whose parent is a service of the mesh: sidecars and gRPC libraries use them in place of the service's default
 * route. `./mesh_bytes.ts` has the rules for connections.
 *
 *     route of the service's namespace (producer)   all clients
 *     route of another namespace (consumer)         clients of that namespace, in place of producers' routes
 *
 * On a port with a route, a request that no rule matches gets 404. Ports without a route keep the default route.
 *
 * @module
 */
import type { DerivationReader, DerivedGroup, DerivedObject } from "../../config/derive/derivation.ts";
import type { HttpMatchRequest, HttpRoute, ParentReference } from "../../config/kinds/kinds.ts";
import { namesOver } from "../attach/hostnames.ts";
import { byPrecedence } from "../attach/precedence.ts";
import { serviceNamed } from "../attach/services.ts";
import type { ApiRoute, AttachOptions, MeshParent, NamespacedName } from "../attach/types.ts";
import type { RouteWithRules } from "../derive/host_rules.ts";
import { meshObjectName } from "../derive/names.ts";
import { GATEWAY_SEMANTICS, merged } from "../derive/rules.ts";
import { joinedShadowed, type ShadowedMatch, shadowedMatches } from "../derive/shadowed.ts";
import { parentKind } from "./groups.ts";
import { type GroupContext, type GroupVerdicts, isBytesRoute, isRequestRoute, judgedRoute } from "./judged.ts";
import { type MeshBytesRoute, meshBytesRules } from "./mesh_bytes.ts";

/** The service that a group of mesh routes is about. */
export interface MeshSubject extends NamespacedName {
  readonly kind: "Service" | "ServiceEntry";
}

/** A request route at a service, with its rules. */
interface MeshRoute {
  readonly parent: MeshParent;
  readonly with: RouteWithRules;
}

/** The VirtualServices of the routes at a service. */
export function meshRoutes(
  subject: MeshSubject,
  routes: readonly ApiRoute[],
  context: GroupContext,
): DerivedGroup<GroupVerdicts> {
  const { read, options } = context;
  const judged = routes.map((route) => {
    const belongs = (ref: ParentReference) =>
      parentKind(ref) === subject.kind && ref.name === subject.name &&
      (ref.namespace ?? route.meta.namespace) === subject.namespace;
    return judgedRoute(route, belongs, undefined, context);
  });
  const attached = judged.flatMap(({ route, at, rules }) =>
    rules === undefined || !isRequestRoute(route)
      ? []
      : at.flatMap(({ mesh }) => (mesh === undefined ? [] : [{ parent: mesh, with: { route, rules } }]))
  );
  const bytes = judged.flatMap(({ route, at, resolved }) =>
    isBytesRoute(route) ? at.flatMap(({ mesh }) => mesh === undefined ? [] : [{ parent: mesh, route, resolved }]) : []
  );
  const service = read.part("service", [], (reader) => serviceOf(subject, reader, options));
  const byAudience = Map.groupBy(attached, audienceOf);
  const bytesByAudience = Map.groupBy(bytes, audienceOf);
  const objects = [...new Set([...byAudience.keys(), ...bytesByAudience.keys()])].map((consumers): DerivedObject =>
    meshVirtualService(subject, consumers, {
      requests: byAudience.get(consumers) ?? [],
      bytes: bytesByAudience.get(consumers) ?? [],
      service,
    })
  );
  const shadowed = joinedShadowed([...byAudience.values()].flatMap(shadowedAtPorts));
  return { objects, about: { routes: judged, shadowed } };
}

/** Namespace of the clients; empty: all clients. */
function audienceOf({ parent }: { readonly parent: MeshParent }): string {
  return parent.consumers ?? "";
}

/** What the clients of an audience get at a service. At least one list of routes is not empty. */
interface AudienceRoutes {
  readonly requests: readonly MeshRoute[];
  readonly bytes: readonly MeshBytesRoute[];
  readonly service: RoutedService;
}

/** The matches that no request reaches, for each port on which routes meet. */
function shadowedAtPorts(routes: readonly MeshRoute[]): (readonly ShadowedMatch[])[] {
  const host = routes[0]?.parent.hosts[0] ?? "";
  const ports = new Set(routes.map(({ parent }) => parent.port));
  return [...ports].map((port) => {
    const meeting = routes.filter(({ parent }) => parent.port === undefined || parent.port === port);
    return shadowedMatches(port === undefined ? host : `${host}:${port}`, distinctRules(meeting));
  });
}

/** The rules of routes, each route once. */
function distinctRules(routes: readonly MeshRoute[]): RouteWithRules["rules"][] {
  return [...new Set(routes.map((one) => one.with.rules))];
}

/** The parts of a service that decide the rules of its routes. */
interface RoutedService {
  /** Namespace of the object behind the service: in a folder a ServiceEntry of any namespace may be a Service. */
  readonly home: string;
  /** Numbers of the service's ports; empty: not known. */
  readonly ports: readonly number[];
  /** Namespaces of the service's clients. */
  readonly exportTo: readonly string[];
}

function serviceOf(
  { kind, namespace, name }: MeshSubject,
  read: DerivationReader,
  options: AttachOptions,
): RoutedService {
  if (kind === "Service") {
    const found = serviceNamed({ namespace, name }, read, options);
    const ports = read.fact("Service", namespace, name)?.spec.ports.map(({ port }) => port);
    return { home: found?.home ?? namespace, ports: ports ?? [], exportTo: ["*"] };
  }
  const { ports = [], exportTo = [] } = read.object("ServiceEntry", namespace, name)?.spec ?? {};
  return {
    home: namespace,
    ports: ports.map(({ number }) => number),
    exportTo: exportTo.length > 0 ? exportTo : ["*"],
  };
}

/** @param consumers Namespace of the clients; empty: all clients. */
function meshVirtualService(
  { kind, namespace, name }: MeshSubject,
  consumers: string,
  { requests, bytes, service: { home, ports, exportTo } }: AudienceRoutes,
): DerivedObject<"VirtualService"> {
  const routes = [...requests.map((one) => one.with.route), ...bytes.map(({ route }) => route)];
  const first = routes.sort(byPrecedence)[0]!;
  const { hosts } = (requests[0] ?? bytes[0])!.parent;
  return {
    kind: "VirtualService",
    meta: {
      name: meshObjectName(kind, { namespace, name }),
      namespace: consumers || namespace,
      // Of a route and a VirtualService of the same moment the VirtualService has the host. Files tell no moment.
      creationTimestamp: first.meta.creationTimestamp + 1,
    },
    spec: {
      hosts: widest(hosts),
      gateways: ["mesh"],
      ...(requests.length > 0 ? { http: meshRules(hosts, requests, ports) } : {}),
      ...meshBytesRules(bytes),
      exportTo: consumers === "" ? exportTo : ["."],
      // Another namespace may have a ServiceEntry with the host: the rules are not for its clients.
      internal: { ...GATEWAY_SEMANTICS, serviceNamespace: home },
    },
    of: first,
  };
}

/** The hosts that no other of the hosts covers, each once. The hosts of a VirtualService do not overlap. */
function widest(hosts: readonly string[]): string[] {
  const all = new Set(hosts);
  return [...all].filter((host) => !Iterator.from(namesOver(host)).some((wider) => all.has(wider)));
}

function meshRules(hosts: readonly string[], routes: readonly MeshRoute[], ports: readonly number[]): HttpRoute[] {
  const written = new Set(routes.flatMap(({ parent }) => parent.port ?? []));
  if (written.size === 0) return [...mergedOf(routes), UNMATCHED];
  const all = [...new Set([...ports, ...written])].sort((a, b) => a - b);
  return all.flatMap((port) => {
    const own = routes.filter(({ parent }) => parent.port === undefined || parent.port === port);
    const rules = own.length > 0 ? [...mergedOf(own), UNMATCHED] : [unchanged(hosts, port)];
    return rules.map((rule) => atPort(rule, port));
  });
}

function mergedOf(routes: readonly MeshRoute[]): HttpRoute[] {
  return merged(distinctRules(routes));
}

/** The answer to requests that no rule matches. */
const UNMATCHED: HttpRoute = { directResponse: { status: 404 } };

/** The default route of a port. */
function unchanged([host = ""]: readonly string[], port: number): HttpRoute {
  return { route: [{ destination: { host, port: { number: port } } }] };
}

/** The rule for requests to a port of the service alone. */
function atPort(rule: HttpRoute, port: number): HttpRoute {
  const matches: readonly HttpMatchRequest[] = rule.match ?? [{}];
  return { ...rule, match: matches.map((match) => ({ ...match, port })) };
}
