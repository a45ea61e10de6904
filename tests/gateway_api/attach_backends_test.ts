import assert from "node:assert/strict";
import type { RouteKind } from "../../lib/gateway_api/attach/types.ts";
import { AttachWorld, word } from "./attach_world.ts";

const API = "apiVersion: gateway.networking.k8s.io/v1\n";
const FACTS = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]}
---
apiVersion: v1
kind: Service
metadata: {name: far, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: entry, namespace: shop}
spec:
  hosts: [out.example.com, mock.infra.svc.cluster.local]
  ports: [{number: 443, name: tls, protocol: TLS}]
  resolution: DNS
---
`;

/** A route of one rule with one backend. */
function routeWith(kind: RouteKind, ref: string): string {
  return `${API}kind: ${kind}\nmetadata: {name: r}\nspec: {rules: [{backendRefs: [${ref}]}]}\n---\n`;
}

/** Resolves one reference: `host:port`, or the reason. */
function resolved(kind: RouteKind, ref: string, more = "", parents: "gateway" | "mesh" = "gateway", options = {}) {
  const world = new AttachWorld(FACTS + routeWith(kind, ref) + more, options);
  const { rules, resolvedRefs } = world.resolve(world.route(kind, "r"), parents);
  const [backend] = rules[0]!.backends;
  assert.equal(word(resolvedRefs), backend?.host === undefined ? `not ${backend?.reason}` : "ResolvedRefs");
  return backend?.host === undefined ? backend?.reason : `${backend.host}:${backend.port}`;
}

/** A grant in namespace `shop`. */
function grant(from: string, to: string): string {
  return `${API.replace("v1\n", "v1beta1\n")}kind: ReferenceGrant\nmetadata: {name: g, namespace: shop}\n` +
    `spec: {from: [${from}], to: [${to}]}\n---\n`;
}

const HTTP_ROUTES = "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: infra}";

Deno.test("a backend is a Service, the host of a service, or a reason why not", () => {
  const cases: Readonly<Record<string, string>> = {
    "{name: web, port: 80}": "web.infra.svc.cluster.local:80",
    "{name: web, namespace: infra, port: 80}": "web.infra.svc.cluster.local:80",
    "{name: gone, port: 80}": "BackendNotFound",
    "{name: web, port: 81}": "BackendNotFound",
    "{name: web}": "BackendNotFound",
    "{name: web, port: 53}": "UnsupportedProtocol",
    "{name: web, kind: Unknown, port: 80}": "InvalidKind",
    "{name: web, group: example.com, port: 80}": "InvalidKind",
    "{name: far, namespace: shop, port: 80}": "RefNotPermitted",
    "{name: gone, namespace: shop, port: 80}": "RefNotPermitted",
    "{name: out.example.com, group: networking.istio.io, kind: Hostname, port: 443}": "out.example.com:443",
    "{name: web.infra.svc.cluster.local, group: networking.mesh.io, kind: Hostname, port: 80}":
      "web.infra.svc.cluster.local:80",
    "{name: gone.example.com, group: networking.mesh.io, kind: Hostname, port: 80}": "BackendNotFound",
    "{name: web, group: multicluster.x-k8s.io, kind: ServiceImport, port: 80}": "web.infra.svc.clusterset.local:80",
  };
  for (const [ref, expected] of Object.entries(cases)) {
    assert.equal(resolved("HTTPRoute", ref, "", "gateway", { setDomain: "clusterset.local" }), expected, ref);
  }
});

Deno.test("datagrams need a UDP port", () => {
  assert.equal(resolved("UDPRoute", "{name: web, port: 53}"), "web.infra.svc.cluster.local:53");
  assert.equal(resolved("UDPRoute", "{name: web, port: 80}"), "UnsupportedProtocol");
  assert.equal(resolved("TCPRoute", "{name: web, port: 80}"), "web.infra.svc.cluster.local:80");
});

Deno.test("a backend of another namespace needs a grant for kind, namespace and name", () => {
  const ref = "{name: far, namespace: shop, port: 80}";
  const services = "{group: '', kind: Service}";
  const of = (from: string, to: string, kind: RouteKind = "HTTPRoute") => resolved(kind, ref, grant(from, to));
  const host = "far.shop.svc.cluster.local:80";
  assert.equal(of(HTTP_ROUTES, services), host);
  assert.equal(of(HTTP_ROUTES, "{group: '', kind: Service, name: far}"), host);
  assert.equal(of(HTTP_ROUTES, "{group: '', kind: Service, name: other}, {group: '', kind: Service, name: far}"), host);
  assert.equal(of(HTTP_ROUTES, "{group: '', kind: Service, name: other}"), "RefNotPermitted");
  assert.equal(of(HTTP_ROUTES, "{group: '', kind: Secret}"), "RefNotPermitted");
  assert.equal(of(HTTP_ROUTES, services, "GRPCRoute"), "RefNotPermitted");
  assert.equal(
    of("{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: other}", services),
    "RefNotPermitted",
  );
  assert.equal(resolved("HTTPRoute", ref, "", "mesh"), host, "routes of the mesh need no grant");
});

Deno.test("in a folder the host of a ServiceEntry counts as the Service", () => {
  const ref = "{name: mock, port: 443}";
  assert.equal(resolved("TLSRoute", ref), "BackendNotFound");
  assert.equal(
    resolved("TLSRoute", ref, "", "gateway", { servicesFromEntries: true }),
    "mock.infra.svc.cluster.local:443",
  );
});

Deno.test("each reference of a rule is resolved by itself, mirrors too", () => {
  const world = new AttachWorld(`${FACTS}${API}kind: HTTPRoute
metadata: {name: r}
spec:
  rules:
  - backendRefs: [{name: web, port: 80, weight: 3}, {name: gone, port: 80, weight: 0}]
  - backendRefs: [{name: web, port: 80}]
    filters:
    - {type: RequestMirror, requestMirror: {backendRef: {name: far, namespace: shop, port: 80}}}
    - {type: RequestMirror, requestMirror: {backendRef: {name: web, port: 80}}}
  - filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]
`);
  const { rules, resolvedRefs } = world.resolve(world.route("HTTPRoute", "r"));
  const lines = rules.map(({ backends, mirrors }) =>
    [backends, mirrors].map((refs) => refs.map((one) => `${one.weight} ${one.host ?? one.reason}`))
  );
  const web = "web.infra.svc.cluster.local";
  assert.deepEqual(lines, [
    [[`3 ${web}`, "0 BackendNotFound"], []],
    [[`1 ${web}`], ["1 RefNotPermitted", `1 ${web}`]],
    [[], []],
  ]);
  assert.equal(word(resolvedRefs), "not BackendNotFound");
  assert.equal(
    resolvedRefs.message,
    'rules[0].backendRefs[1].name: "gone", expected a Service that exists (infra/gone does not); ' +
      'rules[1].filters[0].requestMirror.backendRef.namespace: "shop", ' +
      "expected a ReferenceGrant in namespace shop from HTTPRoute of namespace infra to Service far",
  );
});

const TLS_FACTS = `${FACTS}
apiVersion: v1
kind: ConfigMap
metadata: {name: good}
data: {ca.crt: $AUTHORITY_TEXT}
---
apiVersion: v1
kind: Secret
metadata: {name: good}
stringData: {ca.crt: $AUTHORITY_TEXT}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: malformed}
data: {ca.crt: hello}
---
`;

function policy(name: string, targets: string, validation: string, created = ""): string {
  return `${API}kind: BackendTLSPolicy\nmetadata: {name: ${name}${created}}\n` +
    `spec: {targetRefs: [${targets}], validation: {hostname: web.example.com, ${validation}}}\n---\n`;
}

const WEB = "{group: '', kind: Service, name: web}";

Deno.test("a BackendTLSPolicy needs a usable authority", () => {
  const cases: Readonly<Record<string, readonly [accepted: string, refs: string, authorities: unknown]>> = {
    "wellKnownCACertificates: System": ["Accepted", "ResolvedRefs", "system"],
    "wellKnownCACertificates: example.com/Other": ["not Invalid", "ResolvedRefs", []],
    "caCertificateRefs: [{group: '', kind: ConfigMap, name: good}]": ["Accepted", "ResolvedRefs", ["good"]],
    "caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]": [
      ...["not NoValidCACertificate", "not InvalidCACertificateRef", []] as const,
    ],
    "caCertificateRefs: [{group: '', kind: ConfigMap, name: malformed}]": [
      ...["not NoValidCACertificate", "not InvalidCACertificateRef", []] as const,
    ],
    "caCertificateRefs: [{group: '', kind: Service, name: good}]": [
      ...["not NoValidCACertificate", "not InvalidKind", []] as const,
    ],
    "caCertificateRefs: [{group: '', kind: Secret, name: good}]": [
      ...["not NoValidCACertificate", "not InvalidKind", []] as const,
    ],
    "caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}, {group: '', kind: ConfigMap, name: good}]": [
      ...["Accepted", "not InvalidCACertificateRef", ["good"]] as const,
    ],
  };
  for (const [validation, [accepted, refs, authorities]] of Object.entries(cases)) {
    const view = new AttachWorld(TLS_FACTS + policy("p", WEB, validation)).policy("p");
    const names = view.authorities === "system" ? "system" : view.authorities.map(({ name }) => name);
    assert.deepEqual([word(view.targets[0]!.accepted), word(view.resolvedRefs), names], [accepted, refs, authorities]);
  }
});

Deno.test("targets of a BackendTLSPolicy must exist", () => {
  const targets = [
    WEB,
    "{group: '', kind: Service, name: web, sectionName: http}",
    "{group: '', kind: Service, name: web, sectionName: other}",
    "{group: '', kind: Service, name: gone}",
    "{group: example.com, kind: Service, name: web}",
  ];
  const world = new AttachWorld(TLS_FACTS + policy("p", targets.join(", "), "wellKnownCACertificates: System"));
  assert.deepEqual(world.policy("p").targets.map(({ accepted }) => word(accepted)), [
    ...["Accepted", "Accepted", "not TargetNotFound", "not TargetNotFound", "not Invalid"],
  ]);
});

Deno.test("of several BackendTLSPolicies of a target the oldest is in force; a port's policy is of its own", () => {
  const system = "wellKnownCACertificates: System";
  const world = new AttachWorld(
    TLS_FACTS + policy("a", WEB, system) +
      policy("z", WEB, system, ', creationTimestamp: "2026-01-01T00:00:00Z"') +
      policy("port", "{group: '', kind: Service, name: web, sectionName: http}", system),
  );
  const verdicts = ["a", "z", "port"].map((name) => word(world.policy(name).targets[0]!.accepted));
  assert.deepEqual(verdicts, ["not Conflicted", "Accepted", "Accepted"]);
});
