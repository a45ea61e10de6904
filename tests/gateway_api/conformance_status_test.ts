/**
 * The official conformance suite's tests that look at status alone, as small worlds: a row for each test, with the status
 * that the suite wants. The suite itself needs a cluster.
 */
import assert from "node:assert/strict";
import type { GatewayService } from "../../lib/gateway_api/status/assignment.ts";
import { AttachWorld } from "./attach_world.ts";
import { gatewayLines, routeLines, setLines } from "./status_world.ts";

const API = "apiVersion: gateway.networking.k8s.io/v1\n";

/** Namespaces, services and secrets of the suite's base. */
const BASE =
  ["infra", "app", "web"].map((name) =>
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {side: ${
      name === "infra" ? "front" : "back"
    }}}\n---\n`
  ).join("") + `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 8080}, {name: dns, port: 53, protocol: UDP}]}
---
apiVersion: v1
kind: Service
metadata: {name: far, namespace: web}
spec: {ports: [{port: 8080}]}
---
apiVersion: v1
kind: Secret
metadata: {name: own}
data: {tls.crt: $CERTIFICATE, tls.key: $KEY}
---
apiVersion: v1
kind: Secret
metadata: {name: broken}
data: {tls.crt: SGVsbG8gd29ybGQK, tls.key: SGVsbG8gd29ybGQK}
---
apiVersion: v1
kind: Secret
metadata: {name: far, namespace: web}
data: {tls.crt: $CERTIFICATE, tls.key: $KEY}
---
`;

function gateway(listeners: string, more = ""): string {
  return `${API}kind: Gateway\nmetadata: {name: gw}\nspec: {gatewayClassName: mesh, listeners: [${listeners}]${more}}\n---\n`;
}

const HTTP = "{name: http, port: 80, protocol: HTTP}";

function https(secret: string): string {
  return `{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [${secret}]}}`;
}

function tls(mode: string, kinds: string, name = mode.toLowerCase()): string {
  const certificate = mode === "Terminate" ? ", certificateRefs: [{name: own}]" : "";
  return `{name: ${name}, port: 8443, protocol: TLS, hostname: ${name}.example.com, ` +
    `allowedRoutes: {kinds: [${kinds}]}, tls: {mode: ${mode}${certificate}}}`;
}

function grant(fields: { from?: string; kind?: string; group?: string; at?: string; to?: string } = {}): string {
  const { from = "infra", kind = "Gateway", group = "gateway.networking.k8s.io", at = "web", to = "kind: Secret" } =
    fields;
  return `${API}kind: ReferenceGrant\nmetadata: {name: g-${Math.random()}, namespace: ${at}}\n` +
    `spec: {from: [{group: ${group}, kind: ${kind}, namespace: ${from}}], to: [{group: "", ${to}}]}\n---\n`;
}

/** A route of any kind, named `r`. */
function route(kind: string, parent: string, backend: string, more = "", namespace = "infra"): string {
  return `${API}kind: ${kind}\nmetadata: {name: r, namespace: ${namespace}}\n` +
    `spec: {parentRefs: [{name: gw, namespace: infra${parent}}], rules: [{backendRefs: [${backend}]}]${more}}\n---\n`;
}

const WEB = "{name: web, port: 8080}";

/** A world with the wanted lines. */
interface StatusRow {
  /** Names of the suite's tests. */
  readonly of: string;
  readonly world: string;
  /** Lines of Gateway `gw`. */
  readonly gateway?: readonly string[];
  /** Lines of route `r`. */
  readonly route?: readonly string[];
  readonly service?: Partial<GatewayService>;
}

const GOOD = "Accepted, Programmed, ResolvedRefs";
const AT = `${GOOD} at 10.0.0.1`;
const BAD_CERTIFICATE = (reason: string) => [
  "Accepted, not Programmed: Invalid, not ResolvedRefs: ListenersNotResolved at 10.0.0.1",
  `https [HTTPRoute GRPCRoute] 0: Accepted, not Programmed: Invalid, not ResolvedRefs: ${reason}`,
];
const GRANTED = [AT, `https [HTTPRoute GRPCRoute] 0: ${GOOD}`];
const FAR = "{name: far, namespace: web}";
const addresses = (...values: string[]) => `, addresses: [${values.join(", ")}]`;
const PENDING = { external: [], isPending: true };

const ROWS: readonly StatusRow[] = [
  {
    of: "GatewaySecretMissingReferenceGrant",
    world: gateway(https(FAR)),
    gateway: BAD_CERTIFICATE("RefNotPermitted"),
  },
  {
    of: "GatewaySecretInvalidReferenceGrant",
    world: gateway(https(FAR)) + grant({ at: "app" }) + grant({ group: "example.com" }) + grant({ kind: "HTTPRoute" }) +
      grant({ from: "app" }) + grant({ to: "kind: Service" }) + grant({ to: "kind: Secret, name: another" }),
    gateway: BAD_CERTIFICATE("RefNotPermitted"),
  },
  { of: "GatewaySecretReferenceGrantAllInNamespace", world: gateway(https(FAR)) + grant(), gateway: GRANTED },
  {
    of: "GatewaySecretReferenceGrantSpecific",
    world: gateway(https(FAR)) + grant({ to: "kind: Secret, name: far" }),
    gateway: GRANTED,
  },
  ...["{name: absent}", "{group: example.com, kind: Secret, name: own}", "{kind: Wrong, name: own}", "{name: broken}"]
    .map((secret): StatusRow => ({
      of: `GatewayInvalidTLSConfiguration ${secret}`,
      world: gateway(https(secret)),
      gateway: BAD_CERTIFICATE("InvalidCertificateRef"),
    })),
  {
    of: "GatewayInvalidRouteKind, no kind is known",
    world: gateway(HTTP.replace("}", ", allowedRoutes: {kinds: [{kind: OddRoute}]}}")),
    gateway: [
      "Accepted, Programmed, not ResolvedRefs: ListenersNotResolved at 10.0.0.1",
      "http [] 0: Accepted, Programmed, not ResolvedRefs: InvalidRouteKinds",
    ],
  },
  {
    of: "GatewayInvalidRouteKind, one kind is known",
    world: gateway(HTTP.replace("}", ", allowedRoutes: {kinds: [{kind: OddRoute}, {kind: HTTPRoute}]}}")),
    gateway: [
      "Accepted, Programmed, not ResolvedRefs: ListenersNotResolved at 10.0.0.1",
      "http [HTTPRoute] 0: Accepted, Programmed, not ResolvedRefs: InvalidRouteKinds",
    ],
  },
  {
    of: "GatewayListenerUnsupportedProtocol, no protocol is known",
    world: gateway("{name: odd, port: 1111, protocol: ODD}"),
    gateway: [
      "not Accepted: ListenersNotValid, not Programmed: Invalid, ResolvedRefs at 10.0.0.1",
      "odd [] 0: not Accepted: UnsupportedProtocol, not Programmed: Invalid, ResolvedRefs",
    ],
  },
  {
    of: "GatewayListenerUnsupportedProtocol, one protocol is known",
    world: gateway(`${HTTP}, {name: odd, port: 1111, protocol: ODD}`),
    gateway: [
      "Accepted: ListenersNotValid, Programmed, ResolvedRefs at 10.0.0.1",
      `http [HTTPRoute GRPCRoute] 0: ${GOOD}`,
      "odd [] 0: not Accepted: UnsupportedProtocol, not Programmed: Invalid, ResolvedRefs",
    ],
  },
  {
    of: "GatewayInvalidParametersRef",
    world: gateway(HTTP, ", infrastructure: {parametersRef: {group: odd.io, kind: Odd, name: odd}}"),
    gateway: [
      "not Accepted: InvalidParameters, not Programmed: Invalid, ResolvedRefs at 10.0.0.1",
      `http [HTTPRoute GRPCRoute] 0: ${GOOD}`,
    ],
  },
  {
    of: "GatewayOptionalAddressValue",
    world: gateway(HTTP, addresses("{type: IPAddress}")),
    gateway: [AT, `http [HTTPRoute GRPCRoute] 0: ${GOOD}`],
  },
  {
    of: "GatewayStaticAddresses, an address of an odd type",
    world: gateway(HTTP, addresses("{type: odd.io/odd, value: odd}", "{value: 192.0.2.9}", "{value: 10.0.0.1}")),
    service: PENDING,
    gateway: [
      "not Accepted: UnsupportedAddress, not Programmed: AddressNotUsable, ResolvedRefs at ",
      `http [HTTPRoute GRPCRoute] 0: ${GOOD}`,
    ],
  },
  {
    of: "GatewayStaticAddresses, an address that nobody gives",
    world: gateway(HTTP, addresses("{value: 192.0.2.9}", "{value: 10.0.0.1}")),
    service: PENDING,
    gateway: [
      "Accepted, not Programmed: AddressNotUsable, ResolvedRefs at ",
      `http [HTTPRoute GRPCRoute] 0: ${GOOD}`,
    ],
  },
  {
    of: "GatewayStaticAddresses, one address on its way",
    world: gateway(HTTP, addresses("{value: 10.0.0.1}")),
    service: PENDING,
    gateway: [
      "Accepted, not Programmed: AddressNotAssigned, ResolvedRefs at ",
      `http [HTTPRoute GRPCRoute] 0: ${GOOD}`,
    ],
  },
  {
    of: "GatewayStaticAddresses, a usable address",
    world: gateway(HTTP, addresses("{value: 10.0.0.1}")),
    gateway: [AT, `http [HTTPRoute GRPCRoute] 0: ${GOOD}`],
  },
  {
    of: "GatewayWithAttachedRoutes, unresolved references on both sides",
    world: gateway(https("{name: absent}")) + route("HTTPRoute", ", sectionName: https", "{name: absent, port: 1}"),
    gateway: BAD_CERTIFICATE("InvalidCertificateRef").map((line) => line.replace("] 0", "] 1")),
    route: ["gw: Accepted, not ResolvedRefs: BackendNotFound"],
  },
  {
    of: "GatewayWithAttachedRoutes, another hostname",
    world: gateway(HTTP.replace("}", ", hostname: foo.example.com}")) +
      route("HTTPRoute", "", WEB, ", hostnames: [other.test.com]"),
    gateway: [AT, `http [HTTPRoute GRPCRoute] 0: ${GOOD}`],
    route: ["gw: not Accepted: NoMatchingListenerHostname, ResolvedRefs"],
  },
  {
    of: "GatewayWithAttachedRoutesWithPort8080, GatewayModifyListeners",
    world: gateway(`${HTTP}, {name: b, port: 8080, protocol: HTTP}`) + route("HTTPRoute", ", sectionName: b", WEB),
    gateway: [AT, `http [HTTPRoute GRPCRoute] 0: ${GOOD}`, `b [HTTPRoute GRPCRoute] 1: ${GOOD}`],
    route: ["gw: Accepted, ResolvedRefs"],
  },
  {
    of: "HTTPRouteDisallowedKind",
    world: gateway(tls("Passthrough", "{kind: TLSRoute}")) + route("HTTPRoute", "", WEB),
    gateway: [AT, `passthrough [TLSRoute] 0: ${GOOD}`],
    route: ["gw: not Accepted: NotAllowedByListeners, ResolvedRefs"],
  },
  {
    of: "HTTPRouteInvalidBackendRefUnknownKind",
    world: gateway(HTTP) + route("HTTPRoute", "", "{group: odd.io, kind: Odd, name: odd, port: 1}"),
    route: ["gw: Accepted, not ResolvedRefs: InvalidKind"],
  },
  {
    of: "HTTPRouteInvalidNonExistentBackendRef",
    world: gateway(HTTP) + route("HTTPRoute", "", "{name: absent, port: 8080}"),
    route: ["gw: Accepted, not ResolvedRefs: BackendNotFound"],
  },
  {
    of: "HTTPRouteInvalidCrossNamespaceBackendRef",
    world: gateway(HTTP) + route("HTTPRoute", "", "{name: far, namespace: web, port: 8080}"),
    route: ["gw: Accepted, not ResolvedRefs: RefNotPermitted"],
  },
  {
    of: "HTTPRouteInvalidReferenceGrant, HTTPRoutePartiallyInvalidViaInvalidReferenceGrant",
    world: gateway(HTTP) + route("HTTPRoute", "", "{name: far, namespace: web, port: 8080}") +
      grant({ kind: "HTTPRoute" }) + grant({ kind: "HTTPRoute", to: "kind: Service, name: another" }),
    route: ["gw: Accepted, not ResolvedRefs: RefNotPermitted"],
  },
  {
    of: "HTTPRouteReferenceGrant",
    world: gateway(HTTP) + route("HTTPRoute", "", "{name: far, namespace: web, port: 8080}") +
      grant({ kind: "HTTPRoute", to: "kind: Service, name: far" }),
    route: ["gw: Accepted, ResolvedRefs"],
  },
  {
    of: "HTTPRouteInvalidCrossNamespaceParentRef",
    world: gateway(HTTP) + route("HTTPRoute", "", "{name: far, port: 8080}", "", "web"),
    route: ["gw: not Accepted: NotAllowedByListeners, ResolvedRefs"],
  },
  ...[", port: 81", ", sectionName: odd, port: 80", ", sectionName: http, port: 81"].map((parent): StatusRow => ({
    of: `HTTPRouteInvalidParentRef... ${parent}`,
    world: gateway(HTTP) + route("HTTPRoute", parent, WEB),
    gateway: [AT, `http [HTTPRoute GRPCRoute] 0: ${GOOD}`],
    route: ["gw: not Accepted: NoMatchingParent, ResolvedRefs"],
  })),
  {
    of: "TLSRouteListenerPassthroughSupportedKinds",
    world: gateway(tls("Passthrough", "{kind: TCPRoute}, {kind: TLSRoute}")),
    gateway: [
      "Accepted, Programmed, not ResolvedRefs: ListenersNotResolved at 10.0.0.1",
      "passthrough [TLSRoute] 0: Accepted, Programmed, not ResolvedRefs: InvalidRouteKinds",
    ],
  },
  {
    of: "TLSRouteListenerTerminateSupportedKinds",
    world: gateway(tls("Terminate", "{kind: TLSRoute}")),
    gateway: [AT, `terminate [TLSRoute] 0: ${GOOD}`],
  },
  {
    // The suite skips TLSRouteListenerMixedTerminationNotSupported where the mix is supported.
    of: "TLSRouteMixedTerminationSameNamespace",
    world: gateway(`${tls("Terminate", "{kind: TLSRoute}")}, ${tls("Passthrough", "{kind: TLSRoute}")}`),
    gateway: [AT, `terminate [TLSRoute] 0: ${GOOD}`, `passthrough [TLSRoute] 0: ${GOOD}`],
  },
  ...[HTTP, https("{name: own}")].map((listener): StatusRow => ({
    of: "TLSRouteInvalidNoMatchingListener",
    world: gateway(listener) + route("TLSRoute", "", WEB, ", hostnames: [a.example.com]"),
    route: ["gw: not Accepted: NotAllowedByListeners, ResolvedRefs"],
  })),
  {
    of: "TLSRouteInvalidNoMatchingListenerHostname",
    world: gateway(tls("Passthrough", "{kind: TLSRoute}")) +
      route("TLSRoute", "", WEB, ", hostnames: [other.example.com]"),
    gateway: [AT, `passthrough [TLSRoute] 0: ${GOOD}`],
    route: ["gw: not Accepted: NoMatchingListenerHostname, ResolvedRefs"],
  },
  {
    of: "TCPRouteInvalidNonTCPListener",
    world: gateway(HTTP.replace("}", ", allowedRoutes: {kinds: [{kind: HTTPRoute}]}}")) +
      route("TCPRoute", ", sectionName: http", WEB),
    gateway: [AT, `http [HTTPRoute] 0: ${GOOD}`],
    route: ["gw: not Accepted: NotAllowedByListeners, ResolvedRefs"],
  },
  {
    of: "TCPRouteInvalidBackendRefNonexistent",
    world: gateway("{name: tcp, port: 90, protocol: TCP}") + route("TCPRoute", "", "{name: absent, port: 1}"),
    gateway: [AT, `tcp [TCPRoute] 1: ${GOOD}`],
    route: ["gw: Accepted, not ResolvedRefs: BackendNotFound"],
  },
  {
    of: "UDPRouteNotAllowedByListeners",
    world: gateway(tls("Passthrough", "{kind: TLSRoute}")) +
      route("UDPRoute", ", sectionName: passthrough", "{name: web, port: 53}"),
    gateway: [AT, `passthrough [TLSRoute] 0: ${GOOD}`],
    route: ["gw: not Accepted: NotAllowedByListeners, ResolvedRefs"],
  },
  {
    of: "UDPRouteInvalidCrossNamespaceBackendRef",
    world: gateway("{name: udp, port: 90, protocol: UDP}") +
      route("UDPRoute", "", "{name: far, namespace: web, port: 8080}"),
    gateway: [AT, `udp [UDPRoute] 1: ${GOOD}`],
    route: ["gw: Accepted, not ResolvedRefs: RefNotPermitted"],
  },
];

for (const { of, world: text, gateway: wanted, route: wantedRoute, service } of ROWS) {
  Deno.test(`the status that the suite wants: ${of}`, () => {
    const world = new AttachWorld(BASE + text);
    if (wanted !== undefined) assert.deepEqual(gatewayLines(world, "gw", service), wanted);
    for (const one of world.routes()) assert.deepEqual(routeLines(world, one), wantedRoute);
  });
}

Deno.test("two routes for the bytes of one listener are both accepted and counted", () => {
  const bytes = gateway("{name: tcp, port: 90, protocol: TCP}") + route("TCPRoute", "", WEB);
  const world = new AttachWorld(BASE + bytes + route("TCPRoute", "", WEB).replace("name: r,", "name: s,"));
  assert.deepEqual(gatewayLines(world, "gw"), [AT, `tcp [TCPRoute] 2: ${GOOD}`]);
  for (const one of world.routes()) assert.deepEqual(routeLines(world, one), ["gw: Accepted, ResolvedRefs"]);
});

function set(name: string, listeners: string, namespace = "infra"): string {
  return `${API}kind: ListenerSet\nmetadata: {name: ${name}, namespace: ${namespace}}\n` +
    `spec: {parentRef: {name: gw, namespace: infra}, listeners: [${listeners}]}\n---\n`;
}

const ofHost = (host: string, name = host) =>
  `{name: ${name}, port: 80, protocol: HTTP, hostname: ${host}.com, allowedRoutes: {namespaces: {from: Same}}}`;
const allows = (rule: string) => `, allowedListeners: {namespaces: {${rule}}}`;
const NOT_ALLOWED = ["not Accepted: NotAllowed, not Programmed: NotAllowed"];
const goodSet = (name: string, routes = 0) => [
  "Accepted, Programmed",
  `${name} [HTTPRoute GRPCRoute] ${routes}: ${GOOD}`,
];

Deno.test("ListenerSetAllowedNamespace...: sets attach as the Gateway's rule says, by default not at all", () => {
  const sets = set("near", ofHost("near")) + set("far", ofHost("far"), "app");
  const cases: [string, boolean, boolean][] = [
    ["", false, false],
    [allows("from: None"), false, false],
    [allows("from: Same"), true, false],
    [allows("from: Selector, selector: {matchLabels: {side: back}}"), false, true],
    [allows("from: All"), true, true],
  ];
  for (const [rule, near, far] of cases) {
    const world = new AttachWorld(BASE + gateway(HTTP, rule) + sets);
    assert.deepEqual(setLines(world, "gw", "near"), near ? goodSet("near") : NOT_ALLOWED, rule);
    assert.deepEqual(setLines(world, "gw", "far", "app"), far ? goodSet("far") : NOT_ALLOWED, rule);
    assert.equal(gatewayLines(world, "gw")[0], `${AT}, ${Number(near) + Number(far)} sets`, rule);
  }
});

Deno.test("ListenerSetHostnameConflict, ListenerSetProtocolConflict: the Gateway's listeners go first, then the older set's", () => {
  const tcp = (name: string) => `{name: ${name}, port: 80, protocol: TCP}`;
  for (const [reason, bad] of [["HostnameConflict", ofHost("own", "bad")], ["ProtocolConflict", tcp("bad")]] as const) {
    const kinds = reason === "HostnameConflict" ? "HTTPRoute GRPCRoute" : "TCPRoute";
    const line =
      `bad [${kinds}] 0: not Accepted: ${reason}, not Programmed: ${reason}, Conflicted: ${reason}, ResolvedRefs`;
    const world = new AttachWorld(
      BASE + gateway(ofHost("own"), allows("from: All")) + set("mixed", `${ofHost("a")}, ${bad}`) + set("worst", bad),
    );
    assert.deepEqual(setLines(world, "gw", "mixed"), [
      "Accepted: ListenersNotValid, Programmed",
      `a [HTTPRoute GRPCRoute] 0: ${GOOD}`,
      line,
    ]);
    assert.deepEqual(setLines(world, "gw", "worst"), [
      "not Accepted: ListenersNotValid, not Programmed: ListenersNotValid",
      line,
    ]);
    assert.equal(gatewayLines(world, "gw")[0], `${AT}, 1 sets`);
  }
});

Deno.test("ListenerSetReferenceGrant: a set needs a grant of its own for secrets of other namespaces", () => {
  const one = (name: string) => https(FAR).replace("name: https", `name: ${name}, hostname: ${name}.com`);
  const world = new AttachWorld(
    BASE + gateway(one("own"), allows("from: All")) + set("granted", one("a")) + set("other", one("b"), "app") +
      grant() + grant({ kind: "ListenerSet" }),
  );
  assert.deepEqual(setLines(world, "gw", "granted"), goodSet("a"));
  assert.deepEqual(setLines(world, "gw", "other", "app"), [
    "not Accepted: ListenersNotValid, not Programmed: ListenersNotValid",
    "b [HTTPRoute GRPCRoute] 0: Accepted, not Programmed: Invalid, not ResolvedRefs: RefNotPermitted",
  ]);
});

Deno.test("ListenerSetAllowedRoutesSupportedKinds: a kind that the protocol does not carry", () => {
  const world = new AttachWorld(
    BASE + gateway(HTTP, allows("from: All")) + set("odd", tls("Passthrough", "{kind: HTTPRoute}")),
  );
  assert.deepEqual(setLines(world, "gw", "odd"), [
    "Accepted, Programmed",
    "passthrough [] 0: Accepted, Programmed, not ResolvedRefs: InvalidRouteKinds",
  ]);
});

Deno.test("ListenerSetDualParentRefIndependence, ...SectionNameNotFound, ...RouteStatusScopedToParentRef: each parentRef for itself", () => {
  const text = (refs: string) =>
    BASE + gateway(ofHost("own"), allows("from: All")) + set("set", ofHost("more")) +
    `${API}kind: HTTPRoute\nmetadata: {name: r}\nspec: {parentRefs: [${refs}], rules: [{backendRefs: [${WEB}]}]}\n`;
  const toSet = "group: gateway.networking.k8s.io, kind: ListenerSet, name: set";
  const lines = (refs: string) => {
    const world = new AttachWorld(text(refs));
    const counts = [gatewayLines(world, "gw")[1], setLines(world, "gw", "set")[1]].map((line) => line?.split(" ")[3]);
    return [...routeLines(world, world.route("HTTPRoute", "r")), counts.join(" ")];
  };
  const good = "Accepted, ResolvedRefs";
  assert.deepEqual(lines(`{name: gw}, {${toSet}}`), [`gw: ${good}`, `set: ${good}`, "1: 1:"]);
  assert.deepEqual(lines("{name: gw}"), [`gw: ${good}`, "1: 0:"]);
  assert.deepEqual(lines(`{${toSet}}`), [`set: ${good}`, "0: 1:"]);
  assert.deepEqual(lines(`{name: gw, sectionName: more}, {${toSet}, sectionName: more}`), [
    "gw: not Accepted: NoMatchingParent, ResolvedRefs",
    `set: ${good}`,
    "0: 1:",
  ]);
});
