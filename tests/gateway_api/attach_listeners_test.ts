import assert from "node:assert/strict";
import { AttachWorld, listenerLines, word } from "./attach_world.ts";
import { GATEWAY, gateway, GOOD_TLS, GRANT, SECRETS } from "./listener_manifests.ts";

const SET = "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\n";
Deno.test("kinds of routes follow from the protocol, and allowedRoutes narrows them", () => {
  const world = new AttachWorld(
    gateway(`
    {name: http, port: 80, protocol: HTTP},
    {name: https, port: 443, protocol: HTTPS, ${GOOD_TLS}},
    {name: ends, port: 444, protocol: TLS, tls: {mode: Terminate, certificateRefs: [{name: good}]}},
    {name: passes, port: 445, protocol: TLS, tls: {mode: Passthrough}},
    {name: tcp, port: 9000, protocol: TCP},
    {name: udp, port: 9000, protocol: UDP},
    {name: narrow, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute}]}},
    {name: some, port: 82, protocol: HTTP, allowedRoutes: {kinds: [{kind: TLSRoute}, {kind: HTTPRoute}]}},
    {name: none, port: 83, protocol: HTTP, allowedRoutes: {kinds: [{kind: NoRoute}]}},
    {name: foreign, port: 84, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute, group: example.com}]}}`) +
      SECRETS,
  );
  const { listeners } = world.view("gw");
  assert.deepEqual(Object.fromEntries(listeners.map((one) => [one.spec.name, one.supportedKinds.join(" ")])), {
    http: "HTTPRoute GRPCRoute",
    https: "HTTPRoute GRPCRoute",
    ends: "TLSRoute TCPRoute",
    passes: "TLSRoute",
    tcp: "TCPRoute",
    udp: "UDPRoute",
    narrow: "HTTPRoute",
    some: "HTTPRoute",
    none: "",
    foreign: "",
  });
  const refs = listeners.filter((one) => one.resolvedRefs.status !== "True").map((one) => one.spec.name);
  assert.deepEqual(refs, ["some", "none", "foreign"]);
  assert.ok(listeners.every(({ serves }) => serves), "an unsupported kind does not stop a listener");
  assert.equal(word(world.view("gw").resolvedRefs), "not ListenersNotResolved");
});

Deno.test("an unknown protocol stops the listener, and only the last listener the Gateway", () => {
  const some = new AttachWorld(gateway(`
    {name: http, port: 80, protocol: HTTP},
    {name: lower, port: 81, protocol: http},
    {name: odd, port: 82, protocol: example.com/odd},
    {name: tunnel, port: 15008, protocol: HBONE}`)).view("gw");
  assert.deepEqual(listenerLines(some.listeners), {
    http: "Accepted, Programmed, ResolvedRefs",
    lower: "not UnsupportedProtocol, not Invalid, ResolvedRefs",
    odd: "not UnsupportedProtocol, not Invalid, ResolvedRefs",
    tunnel: "not UnsupportedProtocol, not Invalid, ResolvedRefs",
  });
  assert.match(some.listeners[1]!.accepted.message, /"http" on port \d+, expected HTTP, .*did you mean HTTP\?/);
  assert.equal(word(some.accepted), "ListenersNotValid");
  assert.deepEqual(some.listeners.map(({ serves }) => serves), [true, false, false, false]);
  const none = new AttachWorld(gateway("{name: odd, port: 82, protocol: ODD}")).view("gw");
  assert.equal(word(none.accepted), "not ListenersNotValid");
  assert.equal(none.programmed && word(none.programmed), "not Invalid");
});

Deno.test("the first of conflicting listeners serves", () => {
  const view = new AttachWorld(
    gateway(`
    {name: any, port: 80, protocol: HTTP},
    {name: shop, port: 80, protocol: HTTP, hostname: shop.example.com},
    {name: again, port: 80, protocol: HTTP, hostname: shop.example.com},
    {name: other-protocol, port: 80, protocol: HTTPS, hostname: shop.example.com, ${GOOD_TLS}},
    {name: bytes, port: 80, protocol: TCP},
    {name: tcp, port: 90, protocol: TCP},
    {name: tcp-again, port: 90, protocol: TCP},
    {name: http-late, port: 90, protocol: HTTP},
    {name: udp, port: 90, protocol: UDP},
    {name: udp-again, port: 90, protocol: UDP}`) + SECRETS,
  ).view("gw");
  const conflicts = Object.fromEntries(
    view.listeners.filter(({ conflicted }) => conflicted.status === "True").map((one) => [
      one.spec.name,
      [one.conflicted, one.accepted, one.programmed].map(word).join(", "),
    ]),
  );
  assert.deepEqual(conflicts, {
    again: "HostnameConflict, not HostnameConflict, not HostnameConflict",
    "other-protocol": "ProtocolConflict, not ProtocolConflict, not ProtocolConflict",
    bytes: "ProtocolConflict, not ProtocolConflict, not ProtocolConflict",
    "tcp-again": "HostnameConflict, not HostnameConflict, not HostnameConflict",
    "http-late": "ProtocolConflict, not ProtocolConflict, not ProtocolConflict",
    "udp-again": "HostnameConflict, not HostnameConflict, not HostnameConflict",
  });
  assert.equal(
    view.listeners[2]!.conflicted.message,
    'hostname "shop.example.com" on port 80 is taken by listener "shop" of Gateway infra/gw',
  );
  assert.equal(word(view.listeners[0]!.conflicted), "not NoConflicts");
});

Deno.test("a port is in plain text or with TLS: HTTP beside HTTPS or TLS is a conflict, whatever the hostnames", () => {
  const view = new AttachWorld(
    gateway(`
    {name: plain, port: 80, protocol: HTTP, hostname: a.example.com},
    {name: https-late, port: 80, protocol: HTTPS, hostname: b.example.com, ${GOOD_TLS}},
    {name: tls-late, port: 80, protocol: TLS, hostname: c.example.com, tls: {mode: Passthrough}},
    {name: https, port: 443, protocol: HTTPS, hostname: a.example.com, ${GOOD_TLS}},
    {name: tls, port: 443, protocol: TLS, hostname: b.example.com, tls: {mode: Passthrough}},
    {name: http-late, port: 443, protocol: HTTP}`) + SECRETS,
  ).view("gw");
  assert.deepEqual(view.listeners.filter(({ serves }) => serves).map(({ spec }) => spec.name), [
    "plain",
    "https",
    "tls",
  ]);
  const late = view.listeners.filter(({ serves }) => !serves).map(({ conflicted }) => conflicted);
  assert.deepEqual(late.map(({ reason }) => reason), ["ProtocolConflict", "ProtocolConflict", "ProtocolConflict"]);
  assert.equal(
    late[0]!.message,
    'port 80 is taken with protocol HTTP by listener "plain" of Gateway infra/gw',
  );
});

const ALLOWS = ", allowedListeners: {namespaces: {from: Same}}";

function listenerSet(name: string, listeners: string, more = ""): string {
  return `${SET}metadata: {name: ${name}${more}}\nspec: {parentRef: {name: gw}, listeners: [${listeners}]}\n---\n`;
}

Deno.test("listeners of sets come after the Gateway's, the oldest set first", () => {
  const shared = "{name: shared, port: 80, protocol: HTTP, hostname: shared.example.com}";
  const view = new AttachWorld(
    gateway("{name: own, port: 80, protocol: HTTP, hostname: own.example.com}", ALLOWS) +
      listenerSet("a-young", `${shared}, {name: a, port: 80, protocol: HTTP, hostname: a.example.com}`) +
      listenerSet("z-old", shared, ', creationTimestamp: "2026-01-01T00:00:00Z"') +
      listenerSet("bad", "{name: bad, port: 80, protocol: TCP}"),
  ).view("gw");
  assert.deepEqual(view.sets.map(({ set, accepted }) => `${set.meta.name} ${word(accepted)}`), [
    "z-old Accepted",
    "a-young ListenersNotValid",
    "bad not ListenersNotValid",
  ]);
  assert.deepEqual(view.sets.map(({ programmed }) => word(programmed)), [
    "Programmed",
    "Programmed",
    "not ListenersNotValid",
  ]);
  assert.deepEqual(
    view.listeners.map(({ owner, spec, serves }) => `${owner.meta.name}/${spec.name} ${serves}`),
    ["gw/own true", "z-old/shared true", "a-young/shared false", "a-young/a true"],
  );
  assert.equal(view.listeners[1]!.derived.name, "z-old-istio-autogenerated-k8s-listenerset-shared");
});

Deno.test("a Gateway takes ListenerSets of the namespaces that it allows", () => {
  const far = `${SET}metadata: {name: far, namespace: shop}\n` +
    "spec: {parentRef: {name: gw, namespace: infra}, listeners: [{name: a, port: 1, protocol: HTTP}]}\n---\n";
  const near = listenerSet("near", "{name: a, port: 2, protocol: HTTP}");
  const labels = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: web}}\n---\n";
  const cases: Readonly<Record<string, readonly [near: string, far: string]>> = {
    "": ["not NotAllowed", "not NotAllowed"],
    ", allowedListeners: {namespaces: {from: None}}": ["not NotAllowed", "not NotAllowed"],
    ", allowedListeners: {namespaces: {from: Same}}": ["Accepted", "not NotAllowed"],
    ", allowedListeners: {namespaces: {from: All}}": ["Accepted", "Accepted"],
    ", allowedListeners: {namespaces: {from: Selector, selector: {matchLabels: {team: web}}}}": [
      "not NotAllowed",
      "Accepted",
    ],
    ", allowedListeners: {namespaces: {from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: infra}}}}":
      ["Accepted", "not NotAllowed"],
    ", allowedListeners: {namespaces: {from: Selector}}": ["not NotAllowed", "not NotAllowed"],
  };
  for (const [rule, expected] of Object.entries(cases)) {
    const view = new AttachWorld(gateway("{name: own, port: 80, protocol: HTTP}", rule) + far + near + labels).view(
      "gw",
    );
    const verdicts = Object.fromEntries(view.sets.map(({ set, accepted }) => [set.meta.name, word(accepted)]));
    assert.deepEqual([verdicts["near"], verdicts["far"]], expected, rule);
  }
});

Deno.test("a certificate of a ListenerSet needs a grant for ListenerSets", () => {
  const set = listenerSet(
    "set",
    "{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: far, namespace: vault}]}}",
  );
  for (const [kind, expected] of Object.entries({ ListenerSet: "Accepted", Gateway: "not ListenersNotValid" })) {
    const from = `from: [{group: gateway.networking.k8s.io, kind: ${kind}, namespace: infra}]`;
    const view = new AttachWorld(
      SECRETS + gateway("{name: own, port: 80, protocol: HTTP}", ALLOWS) + set +
        `${GRANT}spec: {${from}, to: [{group: '', kind: Secret}]}\n`,
    ).view("gw");
    assert.equal(word(view.sets[0]!.accepted), expected, kind);
  }
});

Deno.test("a class decides by its controller; built-in classes need no object", () => {
  const listeners = "listeners: [{name: a, port: 80, protocol: HTTP}]";
  const of = (name: string) =>
    `${GATEWAY}metadata: {name: ${name}}\nspec: {gatewayClassName: ${name}, ${listeners}}\n---\n`;
  const kind = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\n";
  const world = new AttachWorld(
    `${kind}metadata: {name: own}\nspec: {controllerName: istio.io/gateway-controller}\n---\n` +
      `${kind}metadata: {name: foreign}\nspec: {controllerName: example.com/other}\n---\n` +
      ["mesh", "own", "foreign", "unknown", "mesh-remote", "mesh-waypoint"].map(of).join(""),
  );
  const roles = ["mesh", "own", "foreign", "unknown", "mesh-remote", "mesh-waypoint"].map((name) => {
    const view = world.views.of(world.object("ApiGateway", name), world.read);
    return view && `${view.role} ${view.controller}`;
  });
  assert.deepEqual(roles, [
    "gateway mesh.io/gateway-controller",
    "gateway istio.io/gateway-controller",
    undefined,
    undefined,
    "remote mesh.io/unmanaged-gateway",
    "waypoint mesh.io/mesh-controller",
  ]);
  assert.equal(world.view("mesh-remote").listeners[0]!.serves, false);
  assert.equal(word(world.view("mesh-remote").programmed!), "Programmed");
});

Deno.test("waypoints take HBONE at port 15008 alone, other classes no HBONE, and no route attaches to HBONE", () => {
  const of = (className: string, port: number, protocol: string) => {
    const listener = `{name: a, port: ${port}, protocol: ${protocol}}`;
    const route =
      `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {parentRefs: [{name: gw}]}\n---\n`;
    const world = new AttachWorld(
      `${GATEWAY}metadata: {name: gw}\nspec: {gatewayClassName: ${className}, listeners: [${listener}]}\n---\n${route}`,
    );
    const { accepted, programmed, serves, supportedKinds } = world.view("gw").listeners[0]!;
    const [at] = world.attachments(world.route("HTTPRoute", "r"));
    return [word(accepted), word(programmed), serves, supportedKinds.length, at?.bound.length ?? 0];
  };
  assert.deepEqual(of("mesh-waypoint", 15008, "HBONE"), ["Accepted", "Programmed", true, 0, 0]);
  assert.deepEqual(of("mesh-waypoint", 15008, "HTTP"), ["not UnsupportedProtocol", "Programmed", true, 0, 0]);
  assert.deepEqual(of("mesh-waypoint", 80, "HTTP"), ["not UnsupportedProtocol", "not Invalid", false, 0, 0]);
  assert.deepEqual(of("mesh-waypoint", 80, "HBONE"), ["not UnsupportedProtocol", "not Invalid", false, 0, 0]);
  assert.deepEqual(of("mesh", 15008, "HBONE"), ["not UnsupportedProtocol", "not Invalid", false, 0, 0]);
});

Deno.test("the selector of the Gateway's Service chooses workloads, else the Gateway's label", () => {
  const services = `
apiVersion: v1
kind: Service
metadata: {name: gw-mesh}
spec: {selector: {app: made}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: ingress}
spec: {selector: {app: ingress}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: ingress, namespace: other}
spec: {selector: {app: far}, ports: [{port: 80}]}
---
`;
  const address = (type: string, value: string) => `, addresses: [{type: ${type}, value: ${value}}]`;
  const look = (more: string, facts = services, options = {}) => {
    const view = new AttachWorld(gateway("{name: a, port: 80, protocol: HTTP}", more) + facts, options).view("gw");
    return [view.addressing.by, view.workloads, word(view.accepted)];
  };
  const byName = { "gateway.networking.k8s.io/gateway-name": "gw" };
  assert.deepEqual(look(""), ["managed", { app: "made" }, "Accepted"]);
  assert.deepEqual(look("", ""), ["managed", byName, "Accepted"]);
  assert.deepEqual(look(address("IPAddress", "10.0.0.1")), ["managed", { app: "made" }, "Accepted"]);
  assert.deepEqual(look(address("Hostname", "ingress")), ["manual", { app: "ingress" }, "Accepted"]);
  assert.deepEqual(look(address("Hostname", "ingress.infra.svc.cluster.local")), [
    "manual",
    { app: "ingress" },
    "Accepted",
  ]);
  assert.deepEqual(look(address("Hostname", "ingress.other.svc.cluster.local")), ["manual", undefined, "Accepted"]);
  assert.deepEqual(look(address("example.com/Name", "a")), ["managed", { app: "made" }, "not UnsupportedAddress"]);
  assert.deepEqual(look(address("Hostname", "ingress"), services, { allowsManualDeployment: false }), [
    "managed",
    { app: "made" },
    "Accepted",
  ]);
});

Deno.test("in a folder a ServiceEntry of a cluster's host is the Gateway's Service", () => {
  const entry = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ingress}
spec:
  hosts: [ingress.infra.svc.cluster.local]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 10.0.0.1, labels: {app: a, v: "1"}}, {address: 10.0.0.2, labels: {app: a, v: "2"}}]
`;
  const manifest = gateway("{name: a, port: 80, protocol: HTTP}", ", addresses: [{type: Hostname, value: ingress}]");
  const view = new AttachWorld(manifest + entry, { servicesFromEntries: true }).view("gw");
  assert.deepEqual(view.workloads, { app: "a" });
});

Deno.test("parameters must be an existing ConfigMap", () => {
  const of = (ref: string) =>
    new AttachWorld(
      SECRETS + gateway("{name: a, port: 80, protocol: HTTP}", `, infrastructure: {parametersRef: ${ref}}`),
    ).view("gw");
  assert.equal(word(of("{group: '', kind: ConfigMap, name: empty}").accepted), "Accepted");
  assert.equal(word(of("{group: '', kind: ConfigMap, name: gone}").accepted), "not InvalidParameters");
  assert.equal(word(of("{group: example.com, kind: Any, name: empty}").accepted), "not InvalidParameters");
});

Deno.test("derived Gateways are in the Gateway's namespace, with names of their own", () => {
  const at = (name: string, namespace: string) =>
    `${SET}metadata: {name: ${name}, namespace: ${namespace}}\n` +
    `spec: {parentRef: {name: gw, namespace: infra}, listeners: [{name: b, port: 80, protocol: HTTP, ` +
    `hostname: ${name}.${namespace}.com}]}\n---\n`;
  const long = "l".repeat(240);
  const view = new AttachWorld(
    gateway(
      `{name: a, port: 80, protocol: HTTP}, {name: ${long}, port: 81, protocol: HTTP}`,
      ", allowedListeners: {namespaces: {from: All}}",
    ) + at("gw", "infra") + at("gw", "shop") + at("shop.gw", "infra"),
  ).view("gw");
  const names = view.listeners.map(({ derived }) => derived.name);
  assert.deepEqual([names[0], ...names.slice(2)], [
    "gw-istio-autogenerated-k8s-gateway-a",
    "gw-istio-autogenerated-k8s-listenerset-b",
    "shop.gw-istio-autogenerated-k8s-listenerset-b",
    "shop.gw-istio-autogenerated-k8s-far-listenerset-b",
  ]);
  assert.ok(view.listeners.every(({ derived }) => derived.namespace === "infra" && derived.name.length <= 253));
});
