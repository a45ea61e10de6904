/**
 * Where a request at a Gateway goes: a small model of the Gateway API, written from the text of its specification (the
 * comments of its types, v1.6.1) and sharing nothing with the program.
 *
 *     request ─> listener (port, server name, Host) ─> routes attached to it ─> hostname ─> rule ─> backends
 *
 * The model compares one request with everything, one after the other: no patterns are merged, nothing is sorted ahead.
 * Where the text leaves a choice, the model follows the documented choice of this project (docs/differences):
 *
 * - Of listeners that cannot be told apart the first keeps its place, also if the listener cannot serve.
 * - A port is in plain text or with TLS: HTTP is not compatible with HTTPS and TLS.
 * - A hostname of a route counts as far as its listener allows: of two routes at listener `a.com`, one for `*.com` and one
 *   for `a.com`, none has a more specific hostname. Rules of a wider hostname get no request of a narrower hostname.
 * - Of HTTPRoutes and GRPCRoutes with a common hostname at a listener, the first route keeps the other kind out.
 *
 * @module
 */

/** A listener. */
export interface WorldListener {
  readonly name: string;
  readonly port: number;
  readonly protocol: "HTTP" | "HTTPS" | "TLS" | "TCP";
  readonly hostname?: string | undefined;
  /** Namespaces of routes. Selector: namespaces with label `team: web`. */
  readonly from: "Same" | "All" | "Selector";
  /** Allowed kinds; empty: all kinds of the protocol. */
  readonly kinds: readonly RouteKind[];
  /** Of an HTTPS listener: namespace of Secret `web`. Absent: the listener's own. */
  readonly certificate?: string | undefined;
}

/** A ListenerSet of the Gateway. */
export interface WorldSet {
  readonly namespace: string;
  readonly name: string;
  /** Day of the creation. */
  readonly age: number;
  readonly listeners: readonly WorldListener[];
}

/** Kinds of routes. */
export type RouteKind = "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute";

/** A reference of a route: to the Gateway, or to a ListenerSet. */
export interface WorldParent {
  readonly set?: { readonly namespace: string; readonly name: string } | undefined;
  readonly section?: string | undefined;
  readonly port?: number | undefined;
}

/** A match of a rule. Of an HTTPRoute: path, method, headers, query. Of a GRPCRoute: called, headers. */
export interface WorldMatch {
  readonly path?: { readonly type: "Exact" | "PathPrefix"; readonly value: string } | undefined;
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly called?: { readonly service?: string | undefined; readonly method?: string | undefined } | undefined;
}

/** A backend of a rule. */
export interface WorldBackend {
  /** Absent: the route's. */
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly port: number;
  readonly weight: number;
}

/** A rule. Routes for bytes have one rule without matches. */
export interface WorldRule {
  /** Empty: every request. */
  readonly matches: readonly WorldMatch[];
  readonly backends: readonly WorldBackend[];
}

/** A route. */
export interface WorldRoute {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly name: string;
  readonly age: number;
  readonly parents: readonly WorldParent[];
  /** Empty: any. */
  readonly hostnames: readonly string[];
  readonly rules: readonly WorldRule[];
}

/** A ReferenceGrant with one origin and one target. */
export interface WorldGrant {
  /** Namespace of the targets. */
  readonly namespace: string;
  readonly from: { readonly kind: RouteKind | "Gateway" | "ListenerSet"; readonly namespace: string };
  readonly to: { readonly kind: "Service" | "Secret"; readonly name?: string | undefined };
}

/** A Gateway with everything around it. */
export interface World {
  readonly gateway: {
    readonly namespace: string;
    readonly listeners: readonly WorldListener[];
    /** Namespaces of ListenerSets. */
    readonly allowed: "None" | "Same" | "All" | "Selector";
  };
  readonly sets: readonly WorldSet[];
  readonly routes: readonly WorldRoute[];
  readonly grants: readonly WorldGrant[];
  /** Services with port 80, `namespace/name`, and whether they have an endpoint. */
  readonly services: Readonly<Record<string, boolean>>;
  /** Namespaces with label `team: web`. */
  readonly labelled: readonly string[];
  /** Namespaces with a usable Secret `web`. */
  readonly secrets: readonly string[];
}

/** A request. */
export interface WorldRequest {
  readonly port: number;
  /** `tls`: bytes inside of TLS. */
  readonly scheme: "http" | "https" | "tls" | "tcp";
  readonly serverName: string;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Weight of each end of a request: `shop/a`, a status, or `closed`. */
export type Answer = Readonly<Record<string, number>>;

/** A listener with its place. */
interface Placed {
  readonly spec: WorldListener;
  readonly namespace: string;
  /** Absent: the Gateway itself. */
  readonly set?: WorldSet;
  readonly wins: boolean;
  readonly serves: boolean;
}

const CLOSED: Answer = { closed: 1 };

/** The answer of a world to a request. */
export function answerOf(world: World, request: WorldRequest): Answer {
  const { port, scheme, serverName, host } = request;
  const here = placedListeners(world).filter((one) => one.serves && one.spec.port === port);
  const bytes = here.find(({ spec }) => spec.protocol === "TCP");
  if (bytes !== undefined) return connection(world, attached(world, bytes).filter(({ kind }) => kind === "TCPRoute"));
  if (scheme === "tcp") return CLOSED;
  if (scheme === "http") {
    const plain = here.filter(({ spec }) => spec.protocol === "HTTP");
    if (plain.length === 0) return CLOSED;
    const listener = mostSpecific(plain, host, hostnameOf);
    return listener === undefined ? { 404: 1 } : response(world, listener, request);
  }
  const secure = here.filter(({ spec }) => spec.protocol !== "HTTP");
  const listener = mostSpecific(secure, serverName, hostnameOf);
  if (listener === undefined) return CLOSED;
  if (listener.spec.protocol === "TLS") return passedThrough(world, listener, serverName);
  if (scheme === "tls") return CLOSED;
  const owner = mostSpecific(secure.filter(({ spec }) => spec.protocol === "HTTPS"), host, hostnameOf);
  if (owner === undefined) return { 404: 1 };
  return owner === listener ? response(world, listener, request) : { 421: 1 };
}

/** All listeners, in order of precedence: the Gateway's own, then those of the sets by age, then by name. */
function placedListeners(world: World): Placed[] {
  const { gateway, sets } = world;
  const placed: Placed[] = [];
  const place = (spec: WorldListener, namespace: string, set?: WorldSet) => {
    const wins = !placed.some((other) => other.wins && isIndistinct(other.spec, spec));
    const kind = set === undefined ? "Gateway" : "ListenerSet";
    const { certificate: at = namespace } = spec;
    const isUsable = world.secrets.includes(at) &&
      isGranted(world, { kind, namespace }, { kind: "Secret", namespace: at, name: "web" });
    const hasCertificate = spec.protocol !== "HTTPS" || isUsable;
    placed.push({ spec, namespace, ...(set && { set }), wins, serves: wins && hasCertificate });
  };
  for (const listener of gateway.listeners) place(listener, gateway.namespace);
  const name = (set: WorldSet) => `${set.namespace}/${set.name}`;
  for (const set of [...sets].sort((a, b) => a.age - b.age || (name(a) < name(b) ? -1 : 1))) {
    if (!allows(gateway.allowed, gateway.namespace, set.namespace, world)) continue;
    for (const listener of set.listeners) place(listener, set.namespace, set);
  }
  return placed;
}

function isIndistinct(a: WorldListener, b: WorldListener): boolean {
  if (a.port !== b.port) return false;
  if ((a.protocol === "HTTP") !== (b.protocol === "HTTP")) return true;
  return a.protocol === "TCP" || b.protocol === "TCP" || a.hostname === b.hostname;
}

function allows(from: string, owner: string, guest: string, { labelled }: World): boolean {
  if (from === "Selector") return labelled.includes(guest);
  return from === "All" || (from === "Same" && owner === guest);
}

function isGranted(
  { grants }: World,
  from: WorldGrant["from"],
  to: { readonly kind: "Service" | "Secret"; readonly namespace: string; readonly name: string },
): boolean {
  return from.namespace === to.namespace ||
    grants.some((grant) =>
      grant.namespace === to.namespace && grant.from.kind === from.kind && grant.from.namespace === from.namespace &&
      grant.to.kind === to.kind && (grant.to.name === undefined || grant.to.name === to.name)
    );
}

const CARRIED: Readonly<Record<WorldListener["protocol"], readonly RouteKind[]>> = {
  HTTP: ["HTTPRoute", "GRPCRoute"],
  HTTPS: ["HTTPRoute", "GRPCRoute"],
  TLS: ["TLSRoute"],
  TCP: ["TCPRoute"],
};

/** The routes that name a listener and that the listener allows. Their hostnames are compared with each request. */
function attached(world: World, { spec, namespace, set }: Placed): WorldRoute[] {
  const names = (parent: WorldParent) =>
    parent.set?.name === set?.name && parent.set?.namespace === set?.namespace &&
    (parent.section === undefined || parent.section === spec.name) &&
    (parent.port === undefined || parent.port === spec.port);
  const candidates = world.routes.filter((route) =>
    CARRIED[spec.protocol].includes(route.kind) && (spec.kinds.length === 0 || spec.kinds.includes(route.kind)) &&
    allows(spec.from, namespace, route.namespace, world) && route.parents.some(names)
  );
  const refused = new Set<WorldRoute>();
  const accepted: WorldRoute[] = [];
  for (const route of candidates.toSorted(compareRoutes)) {
    const isRival = accepted.some((one) => one.kind !== route.kind && shareHosts(one, route, spec.hostname));
    if (isRival) refused.add(route);
    else accepted.push(route);
  }
  return candidates.filter((route) => !refused.has(route));
}

/** Whether two routes share a host at a listener. */
function shareHosts(a: WorldRoute, b: WorldRoute, ofListener: string | undefined): boolean {
  const all = (route: WorldRoute) => route.hostnames.length === 0 ? [undefined] : route.hostnames;
  return all(a).some((one) =>
    all(b).some((two) => overlap(one, two) && overlap(one, ofListener) && overlap(two, ofListener))
  );
}

/** Whether some host has both hostnames. Of two hostnames with a common host, one covers the other. */
function overlap(a: string | undefined, b: string | undefined): boolean {
  const covers = (wide: string | undefined, narrow: string | undefined) =>
    wide === undefined || wide === narrow ||
    (wide.startsWith("*.") && narrow !== undefined && narrow.endsWith(wide.slice(1)));
  return covers(a, b) || covers(b, a);
}

/** Whether a hostname covers a host, label by label from the right. */
function matches(hostname: string | undefined, host: string): boolean {
  if (hostname === undefined) return true;
  const [wanted, asked] = [hostname.split(".").reverse(), host.split(".").reverse()];
  if (wanted.at(-1) !== "*") return hostname === host;
  return asked.length >= wanted.length && wanted.slice(0, -1).every((label, at) => label === asked[at]);
}

/** Exact names, then wildcards with more dots, then no name. */
function specificity(hostname: string | undefined): number {
  if (hostname === undefined) return 0;
  return hostname.startsWith("*") ? hostname.split(".").length : Infinity;
}

function hostnameOf({ spec }: Placed): string | undefined {
  return spec.hostname;
}

/** Of the things whose hostname covers a host, the one with the most specific hostname. */
function mostSpecific<T>(all: readonly T[], host: string, nameOf: (one: T) => string | undefined): T | undefined {
  return all.filter((one) => matches(nameOf(one), host)).sort((a, b) =>
    compare(specificity(nameOf(b)), specificity(nameOf(a)))
  )[0];
}

/** The order of numbers that may be infinite. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** A route at one hostname: its own, or the listener's where that is narrower. */
interface Hosted {
  readonly route: WorldRoute;
  readonly hostname: string | undefined;
}

/** The routes of the most specific hostname of a listener that covers a host. */
function routesFor(world: World, listener: Placed, host: string): WorldRoute[] {
  const narrower = (a: string | undefined, b: string | undefined) => specificity(a) >= specificity(b) ? a : b;
  const hosted = attached(world, listener).flatMap((route): Hosted[] => {
    const own = route.hostnames.length === 0 ? [undefined] : route.hostnames;
    return own.map((hostname) => ({ route, hostname: narrower(hostname, listener.spec.hostname) }));
  }).filter(({ route, hostname }) =>
    matches(hostname, host) && (route.hostnames.length === 0 || route.hostnames.some((own) => matches(own, host)))
  );
  const best = mostSpecific(hosted, host, ({ hostname }) => hostname)?.hostname;
  return [...new Set(hosted.filter(({ hostname }) => hostname === best).map(({ route }) => route))];
}

/** The response to a request that belongs to a listener. */
function response(world: World, listener: Placed, request: WorldRequest): Answer {
  const found = routesFor(world, listener, request.host).flatMap((route) =>
    route.rules.flatMap((rule) =>
      (rule.matches.length === 0 ? [{}] : rule.matches).filter((match) => isMatch(match, request))
        .map((match) => ({ route, rule, rank: rankOf(match) }))
    )
  );
  // A stable sort: within a route the first rule stays before the others.
  const [first] = found.sort((a, b) => compareRanks(a.rank, b.rank) || compareRoutes(a.route, b.route));
  if (first === undefined) return { 404: 1 };
  return backends(world, first.route, first.rule, first.route.kind === "GRPCRoute" ? "503" : "500");
}

function isMatch({ path, method, headers = {}, query = {}, called }: WorldMatch, request: WorldRequest): boolean {
  const asked = request.path;
  const parts = asked.split("/");
  if (path?.type === "Exact" && path.value !== asked) return false;
  const isUnder = (prefix: string) => prefix === "/" || asked === prefix || asked.startsWith(`${prefix}/`);
  if (path?.type === "PathPrefix" && !isUnder(path.value)) return false;
  if (called?.service !== undefined && parts[1] !== called.service) return false;
  if (called?.method !== undefined && (parts.length !== 3 || parts[2] !== called.method)) return false;
  return (method === undefined || method === request.method) &&
    Object.entries(headers).every(([name, value]) => request.headers[name] === value) &&
    Object.entries(query).every(([name, value]) => request.query[name] === value);
}

/** How specific a match is: numbers to be compared one after the other, the higher first. */
function rankOf({ path, method, headers = {}, query = {}, called = {} }: WorldMatch): readonly number[] {
  const { service = "", method: procedure = "" } = called;
  const exact = path?.type === "Exact" ? path.value : service && procedure ? `/${service}/${procedure}` : "";
  const prefix = path?.type === "PathPrefix" && path.value !== "/" ? path.value : service && `/${service}`;
  return [
    ...[exact.length, exact === "" ? prefix.length : 0, exact + prefix === "" ? procedure.length : 0],
    ...[method === undefined ? 0 : 1, Object.keys(headers).length, Object.keys(query).length],
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((one, index) => one !== b[index]);
  return at < 0 ? 0 : b[at]! - a[at]!;
}

/** The older route first, then by name. */
function compareRoutes(a: WorldRoute, b: WorldRoute): number {
  const [one, two] = [a, b].map(({ namespace, name }) => `${namespace}/${name}`);
  return a.age - b.age || (one! < two! ? -1 : one! > two! ? 1 : 0);
}

/** The shares of a rule's requests. Backends without permission, or without existence, keep their share. */
function backends(world: World, route: WorldRoute, rule: WorldRule, failure: string): Answer {
  const shares: Record<string, number> = {};
  const used = rule.backends.filter(({ weight }) => weight > 0);
  const sum = used.reduce((all, { weight }) => all + weight, 0);
  for (const { namespace = route.namespace, name, port, weight } of used) {
    const from = { kind: route.kind, namespace: route.namespace };
    const isFound = port === 80 && isGranted(world, from, { kind: "Service", namespace, name }) &&
      world.services[`${namespace}/${name}`] !== undefined;
    const isReady = isFound && world.services[`${namespace}/${name}`];
    const unready = failure === "closed" ? "closed" : "503";
    const end = !isFound ? failure : isReady ? `${namespace}/${name}` : unready;
    shares[end] = (shares[end] ?? 0) + weight / sum;
  }
  return used.length === 0 ? { [failure]: 1 } : shares;
}

/** A connection to a TLS listener that passes connections on. */
function passedThrough(world: World, listener: Placed, serverName: string): Answer {
  return connection(world, routesFor(world, listener, serverName));
}

/** The oldest route has the connection. */
function connection(world: World, routes: readonly WorldRoute[]): Answer {
  const [first] = [...routes].sort(compareRoutes);
  return first === undefined ? CLOSED : backends(world, first, first.rules[0]!, "closed");
}
