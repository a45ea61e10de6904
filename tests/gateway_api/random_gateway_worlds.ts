/**
 * Random worlds for {@linkcode answerOf}, with few names for many encounters, and their manifests.
 *
 * @module
 */
import fc from "fast-check";
import type {
  RouteKind,
  World,
  WorldBackend,
  WorldGrant,
  WorldListener,
  WorldMatch,
  WorldParent,
  WorldRequest,
  WorldRoute,
  WorldRule,
  WorldSet,
} from "./reference_model.ts";

/** A manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly creationTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

const API = "gateway.networking.k8s.io/v1";
const NAMESPACES = ["shop", "pay"] as const;
const HOSTS = ["a.com", "x.a.com", "y.x.a.com", "b.com", "com"] as const;
const HOSTNAMES = ["a.com", "x.a.com", "*.a.com", "*.x.a.com", "*.com", "b.com"] as const;
const SCHEMES = ["http", "https", "tls", "tcp"] as const;
const HEADERS = [{}, {}, {}, { "x-v": "1" }, { "x-v": "2", "x-w": "1" }, { "x-w": "1" }] as const;
const QUERIES = [{}, {}, {}, { q: "1" }, { q: "1", r: "1" }] as const;

const namespace = fc.constantFrom(...NAMESPACES);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Mostly as usual; the others meet on one port. */
const place = fc.constantFrom<Pick<WorldListener, "port" | "protocol">>(
  ...Array.from({ length: 4 }, () => [{ port: 80, protocol: "HTTP" }, { port: 443, protocol: "HTTPS" }] as const)
    .flat(),
  ...[{ port: 443, protocol: "TLS" }, { port: 443, protocol: "TLS" }, { port: 443, protocol: "HTTP" }] as const,
  ...[{ port: 80, protocol: "HTTPS" }, { port: 9000, protocol: "HTTP" }, { port: 9000, protocol: "TCP" }] as const,
  { port: 80, protocol: "TCP" },
);

const listener = fc.record({
  place,
  hostname: optional(fc.constantFrom(...HOSTNAMES)),
  from: fc.constantFrom<WorldListener["from"]>("All", "All", "All", "All", "Same", "Selector"),
  kinds: fc.constantFrom<readonly RouteKind[]>(...Array.from({ length: 6 }, () => []), ["HTTPRoute"], ["GRPCRoute"]),
  certificate: fc.constantFrom(undefined, undefined, undefined, undefined, "shop", "pay"),
}).map(({ place, hostname, kinds, ...one }) => ({
  ...{ ...place, ...one },
  hostname: place.protocol === "TCP" ? undefined : hostname,
  kinds: place.protocol.startsWith("HTTP") ? kinds : [],
}));

/** Listeners of one object: definitions refuse two with equal port, protocol and hostname. */
function listeners(max: number): fc.Arbitrary<readonly WorldListener[]> {
  const selector = ({ port, protocol, hostname }: Omit<WorldListener, "name">) => `${port} ${protocol} ${hostname}`;
  return fc.uniqueArray(listener, { minLength: 1, maxLength: max, selector }).map((all) =>
    all.map((one, index) => ({ ...one, name: `l${index}` }))
  );
}

const set = fc.record({ namespace, age: fc.nat(2), listeners: listeners(2) });

const called = fc.record({ service: optional(fc.constantFrom("a", "b")), method: optional(fc.constantFrom("b", "c")) });

const httpMatch: fc.Arbitrary<WorldMatch> = fc.record({
  path: optional(fc.record({
    type: fc.constantFrom<"Exact" | "PathPrefix">("Exact", "PathPrefix", "PathPrefix"),
    value: fc.constantFrom("/", "/", "/a", "/a/b", "/b"),
  })),
  method: fc.constantFrom(undefined, undefined, "GET", "POST"),
  headers: fc.constantFrom(...HEADERS),
  query: fc.constantFrom(...QUERIES),
});

const grpcMatch: fc.Arbitrary<WorldMatch> = fc.record({
  // Definitions refuse a method without names.
  called: optional(called.filter(({ service, method }) => service !== undefined || method !== undefined)),
  headers: fc.constantFrom(...HEADERS),
});

const backend: fc.Arbitrary<WorldBackend> = fc.record({
  namespace: fc.constantFrom(undefined, undefined, undefined, ...NAMESPACES),
  name: fc.constantFrom("a", "a", "a", "b", "b", "b", "empty", "gone"),
  port: fc.constantFrom(...Array.from({ length: 7 }, () => 80), 81),
  weight: fc.constantFrom(1, 1, 1, 1, 1, 3, 3, 0),
});

const parent: fc.Arbitrary<WorldParent> = fc.record({
  set: fc.constantFrom(
    ...Array.from({ length: 5 }, () => undefined),
    ...[{ namespace: "shop", name: "set0" }, { namespace: "pay", name: "set1" }],
  ),
  section: fc.constantFrom(...Array.from({ length: 9 }, () => undefined), "l0", "l1", "l2"),
  port: fc.constantFrom(...Array.from({ length: 9 }, () => undefined), 80, 443),
});

/** References to distinct listeners: definitions want a section in each of several references to one parent. */
const parents = fc.uniqueArray(parent, {
  minLength: 1,
  maxLength: 2,
  selector: ({ set }) => set?.name,
});

function rule(kind: RouteKind): fc.Arbitrary<WorldRule> {
  const match = kind === "HTTPRoute" ? httpMatch : grpcMatch;
  const isBytes = kind === "TLSRoute" || kind === "TCPRoute";
  return fc.record({
    matches: isBytes ? fc.constant([]) : fc.array(match, { maxLength: 2 }),
    backends: fc.array(backend, { minLength: isBytes ? 1 : 0, maxLength: 2 }),
  });
}

/** Half of the routes for requests are for any host. */
function hostnames(kind: RouteKind): fc.Arbitrary<readonly string[]> {
  const none = fc.constant<readonly string[]>([]);
  const some = fc.uniqueArray(fc.constantFrom(...HOSTNAMES), { minLength: 1, maxLength: 4 });
  return kind === "TCPRoute" ? none : kind === "TLSRoute" ? some : fc.oneof(none, some);
}

const route = fc.constantFrom<RouteKind>(
  ...Array.from({ length: 5 }, () => "HTTPRoute" as const),
  ...["GRPCRoute", "TLSRoute", "TLSRoute", "TLSRoute", "TCPRoute", "TCPRoute"] as const,
).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    namespace,
    age: fc.nat(2),
    parents,
    hostnames: hostnames(kind),
    rules: fc.array(rule(kind), { minLength: 1, maxLength: kind.startsWith("T") ? 1 : 3 }),
  })
);

const grant: fc.Arbitrary<WorldGrant> = fc.oneof(
  fc.record({
    namespace,
    from: fc.record({ kind: fc.constantFrom<RouteKind>("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"), namespace }),
    to: fc.record({ kind: fc.constant("Service" as const), name: fc.constantFrom(undefined, "a", "b") }),
  }),
  fc.record({
    namespace,
    from: fc.record({ kind: fc.constantFrom<"Gateway" | "ListenerSet">("Gateway", "ListenerSet"), namespace }),
    to: fc.record({ kind: fc.constant("Secret" as const), name: fc.constantFrom(undefined, "web", "other") }),
  }),
);

/** A random world around Gateway `shop/edge`. */
export const world: fc.Arbitrary<World> = fc.record({
  gateway: fc.record({
    namespace: fc.constant("shop"),
    listeners: listeners(4),
    allowed: fc.constantFrom<World["gateway"]["allowed"]>("All", "All", "All", "Same", "Selector", "None"),
  }),
  sets: fc.array(set, { maxLength: 2 }),
  routes: fc.array(route, { minLength: 1, maxLength: 6 }),
  grants: fc.array(grant, { maxLength: 6 }),
  services: fc.constant({ "shop/a": true, "shop/b": true, "shop/empty": false, "pay/a": true, "pay/b": true }),
  labelled: fc.subarray([...NAMESPACES]),
  secrets: fc.constantFrom(...Array.from({ length: 4 }, () => ["shop", "pay"]), ["shop"], ["pay"]),
}).map(named);

/** Sets and routes with their names. The sets are in distinct namespaces, and routes of any kind have distinct names. */
function named(
  { sets, routes, ...one }: Omit<World, "sets" | "routes"> & {
    readonly sets: readonly Omit<WorldSet, "name">[];
    readonly routes: readonly Omit<WorldRoute, "name">[];
  },
): World {
  return {
    ...one,
    sets: sets.map((each, index) => ({ ...each, namespace: NAMESPACES[index]!, name: `set${index}` })),
    routes: routes.map((each, index) => ({ ...each, name: `r${index}` })),
  };
}

/** A random request before it is aimed. */
export const request = fc.record({
  /** Chooses a listener whose port and protocol the request has. Past the end: any port and protocol. */
  at: fc.nat(719),
  ...{ port: fc.constantFrom(80, 443, 9000), scheme: fc.constantFrom(...SCHEMES) },
  /** The host is mostly one that the listener's hostname covers. */
  ...{ host: fc.constantFrom(...HOSTS), hostAt: fc.nat(59), isOther: fc.constantFrom(false, false, false, true) },
  ...{ serverName: fc.constantFrom(...HOSTS), isMisdirected: fc.constantFrom(false, false, false, true) },
  method: fc.constantFrom("GET", "POST"),
  path: fc.constantFrom("/", "/a", "/a/b", "/b/c", "/ab", "/a/b/c"),
  ...{ query: fc.constantFrom(...QUERIES), headers: fc.constantFrom(...HEADERS) },
});

const SCHEME_OF = { HTTP: "http", HTTPS: "https", TLS: "tls", TCP: "tcp" } as const;

type RawRequest = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** A random request to a world. */
export function aimed(raw: RawRequest, { gateway, sets }: World): WorldRequest {
  const { at, port, scheme, host: other, hostAt, isOther, serverName, isMisdirected, ...one } = raw;
  const listeners = [...gateway.listeners, ...sets.flatMap(({ listeners }) => listeners), undefined];
  const listener = listeners[at % listeners.length];
  const to = listener ? { port: listener.port, scheme: SCHEME_OF[listener.protocol] } : { port, scheme };
  const { hostname = "" } = listener ?? {};
  const covered = HOSTS.filter((host) => host.endsWith(hostname.replace("*", "")));
  const host = isOther ? other : covered[hostAt % covered.length]!;
  return { ...one, ...to, host, serverName: isMisdirected ? serverName : host };
}

function day(age: number): string {
  return `2026-01-0${age + 1}T00:00:00Z`;
}

function listenerTree({ name, port, protocol, hostname, from, kinds, certificate }: WorldListener) {
  const selector = from === "Selector" ? { selector: { matchLabels: { team: "web" } } } : {};
  return {
    ...{ name, port, protocol },
    ...(hostname === undefined ? {} : { hostname }),
    ...(protocol === "TLS" ? { tls: { mode: "Passthrough" } } : {}),
    ...(protocol === "HTTPS"
      ? { tls: { certificateRefs: [{ name: "web", ...(certificate && { namespace: certificate }) }] } }
      : {}),
    allowedRoutes: {
      namespaces: { from, ...selector },
      ...(kinds.length > 0 ? { kinds: kinds.map((kind) => ({ kind })) } : {}),
    },
  };
}

function pairs(values: Readonly<Record<string, string>> = {}) {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function matchTree({ path, method, headers, query, called }: WorldMatch) {
  return {
    ...(path && { path }),
    ...(method !== undefined && { method }),
    ...(headers && { headers: pairs(headers) }),
    ...(query && { queryParams: pairs(query) }),
    ...(called && { method: { type: "Exact", ...called } }),
  };
}

/** The manifest of a route. */
export function routeTree({ kind, namespace, name, age, parents, hostnames, rules }: WorldRoute): Manifest {
  return {
    ...{ apiVersion: API, kind, metadata: { namespace, name, creationTimestamp: day(age) } },
    spec: {
      parentRefs: parents.map(({ set, section, port }) => ({
        ...(set === undefined ? { name: "edge", namespace: "shop" } : { kind: "ListenerSet", ...set }),
        ...(section === undefined ? {} : { sectionName: section }),
        ...(port === undefined ? {} : { port }),
      })),
      ...(hostnames.length === 0 ? {} : { hostnames }),
      rules: rules.map(({ matches, backends }) => ({
        ...(matches.length === 0 ? {} : { matches: matches.map(matchTree) }),
        backendRefs: backends,
      })),
    },
  };
}

function namespacesRule(from: World["gateway"]["allowed"]) {
  return { from, ...(from === "Selector" ? { selector: { matchLabels: { team: "web" } } } : {}) };
}

/** The manifests of a world without its services: the objects of the Gateway API, Namespaces and Secrets. */
export function gatewayTrees({ gateway, sets, routes, grants, labelled, secrets }: World): Manifest[] {
  const { namespace, listeners, allowed } = gateway;
  return [
    {
      ...{ apiVersion: API, kind: "Gateway", metadata: { name: "edge", namespace } },
      spec: {
        gatewayClassName: "mesh",
        listeners: listeners.map(listenerTree),
        allowedListeners: { namespaces: namespacesRule(allowed) },
      },
    },
    ...sets.map(({ name, namespace, age, listeners }): Manifest => ({
      ...{ apiVersion: API, kind: "ListenerSet", metadata: { name, namespace, creationTimestamp: day(age) } },
      spec: { parentRef: { name: "edge", namespace: "shop" }, listeners: listeners.map(listenerTree) },
    })),
    ...routes.map(routeTree),
    ...grants.map(({ namespace, from, to }, index): Manifest => ({
      ...{ apiVersion: API, kind: "ReferenceGrant", metadata: { name: `g${index}`, namespace } },
      spec: { from: [{ group: "gateway.networking.k8s.io", ...from }], to: [{ group: "", ...to }] },
    })),
    ...NAMESPACES.map((name): Manifest => ({
      ...{ apiVersion: "v1", kind: "Namespace" },
      metadata: { name, labels: labelled.includes(name) ? { team: "web" } : {} },
    })),
    ...secrets.map(secretTree),
  ];
}

const PAIR = {
  "tls.crt": Deno.readTextFileSync(new URL("../testdata/pem/cert.pem", import.meta.url)),
  "tls.key": Deno.readTextFileSync(new URL("../testdata/pem/key.pem", import.meta.url)),
};

function secretTree(namespace: string): Manifest {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "web", namespace }, stringData: PAIR };
}

/** A service with an endpoint, or without one. */
function serviceTree(key: string, isReady: boolean, index: number): Manifest {
  const [namespace = "", name = ""] = key.split("/");
  return {
    ...{ apiVersion: "networking.mesh.io/v1", kind: "ServiceEntry", metadata: { name, namespace } },
    spec: {
      hosts: [`${name}.${namespace}.svc.cluster.local`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 80, name: "first", protocol: "TCP" }],
      endpoints: isReady ? [{ address: `10.0.1.${index + 1}` }] : [],
    },
  };
}

/** All manifests of a world. */
export function worldTrees(one: World): Manifest[] {
  return [
    ...gatewayTrees(one),
    ...Object.entries(one.services).map(([key, isReady], index) => serviceTree(key, isReady, index)),
  ];
}
