/**
 * Things missing in texts may lie elsewhere: findings of translation say so, too; and findings tell of names without a
 * target.
 */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { meshOf } from "./mesh_of.ts";

const object = (api: string, kind: string, name: string, spec: unknown, namespace = "shop") =>
  `---\n${JSON.stringify({ apiVersion: api, kind, metadata: { name, namespace }, spec })}\n`;
const routing = (kind: string, name: string, spec: unknown, namespace?: string) =>
  object("networking.istio.io/v1", kind, name, spec, namespace);
const policy = (kind: string, name: string, spec: unknown) => object("security.istio.io/v1", kind, name, spec);
const namespace = (name: string) =>
  `---\napiVersion: v1\nkind: Namespace\nmetadata: { name: ${name}, labels: { istio-injection: enabled } }\n`;

/** `SEVERITY CODE OBJECT FIELD` of each finding. */
function found(text: string, options: { whole?: boolean; meshConfig?: string } = {}): string[] {
  const { whole = false, meshConfig } = options;
  const mesh = meshOf(
    { "a.yaml": text },
    meshConfig === undefined ? {} : { meshConfig, hasMeshConfig: true },
  );
  const { findings } = unpaced(checkMesh(mesh, { assumeServices: false, whole, textOf: () => undefined }));
  return findings.map(({ severity, code, place }) =>
    `${severity} ${code} ${place.objects.slice(0, 1).map(({ kind, name }) => `${kind}/${name}`)} ${place.field}`
  ).sort();
}

const CART = routing("ServiceEntry", "cart", {
  hosts: ["cart.test"],
  location: "MESH_INTERNAL",
  resolution: "STATIC",
  ports: [{ number: 80, name: "http", protocol: "HTTP" }],
  endpoints: [{ address: "10.0.0.1", labels: { app: "cart" } }],
});

const BYTES = routing("Gateway", "door", {
  selector: { app: "door" },
  servers: [
    { port: { number: 443, name: "tls", protocol: "TLS" }, hosts: ["*.test"], tls: { mode: "PASSTHROUGH" } },
    { port: { number: 9000, name: "tcp", protocol: "TCP" }, hosts: ["*"] },
  ],
});

Deno.test("a gateway's port of bytes without a rule is a warning, and an error of whole texts", () => {
  const fields = ["spec.servers[0].port", "spec.servers[1].port"];
  assert.deepEqual(found(BYTES), fields.map((field) => `warning MSH0195 Gateway/door ${field}`));
  const whole = found(BYTES, { whole: true }).filter((one) => one.includes("MSH0195"));
  assert.deepEqual(whole, fields.map((field) => `error MSH0195 Gateway/door ${field}`));
});

Deno.test("an unknown authorizer is an error only where the mesh configuration is known, or texts are whole", () => {
  const text = CART + policy("AuthorizationPolicy", "ask", {
    selector: { matchLabels: { app: "cart" } },
    action: "CUSTOM",
    provider: { name: "elsewhere" },
    rules: [{}],
  });
  const severity = (options: Parameters<typeof found>[1]) => {
    const all = found(text, options).filter((one) => one.includes("MSH1022"));
    return [...new Set(all.map((one) => one.split(" ")[0]))];
  };
  assert.deepEqual(severity({}), ["warning"]);
  assert.deepEqual(severity({ whole: true }), ["error"]);
  assert.deepEqual(severity({ meshConfig: "trustDomain: own.test" }), ["error"]);
});

const to = { route: [{ destination: { host: "cart.test" } }] };
const HTTP = { port: { number: 80, name: "http", protocol: "HTTP" } };

Deno.test("each host without a Gateway of its VirtualService is found, also beside hosts with a Gateway", () => {
  const gateway = routing("Gateway", "door", {
    selector: { app: "door" },
    servers: [{ ...HTTP, hosts: ["shop/*.a.test", "other/b.test"] }],
  });
  const route = (gateways: string[], hosts = ["x.a.test", "b.test"]) =>
    found(CART + gateway + routing("VirtualService", "cart", { hosts, gateways, http: [to] }))
      .filter((one) => one.includes("MSH0132"));
  assert.deepEqual(route(["door"]), ["warning MSH0132 VirtualService/cart spec.hosts[1]"]);
  assert.deepEqual(route(["door"], ["b.test"]), ["warning MSH0132 VirtualService/cart spec.gateways[0]"]);
  assert.deepEqual(route(["door"], ["x.a.test", "*.a.test"]), []);
  assert.deepEqual(route(["door", "mesh"]), [], "sidecars have the host");
  assert.deepEqual(route(["door", "elsewhere/door"]), [], "a Gateway that is not known may have the host");
});

Deno.test("a policy for a Service, a ServiceEntry or a GatewayClass selects nothing in a mesh without waypoints", () => {
  const ref = (group: string, kind: string) => ({ group, kind, name: "cart" });
  const rest: Record<string, unknown> = { action: "DENY", rules: [{ to: [{ operation: { ports: ["80"] } }] }] };
  const refs = [
    ref("", "Service"),
    ref("networking.istio.io", "ServiceEntry"),
    ref("gateway.networking.k8s.io", "GatewayClass"),
  ];
  for (const one of refs) {
    assert.deepEqual(
      found(CART + policy("AuthorizationPolicy", "deny", { targetRefs: [one], ...rest })),
      ["warning MSH0101 AuthorizationPolicy/deny spec.targetRefs[0]"],
      one.kind,
    );
  }
});

Deno.test("namespaces that do not exist are found wherever objects name them, where Namespaces are known", () => {
  const objects = CART +
    routing("ServiceEntry", "ext", {
      exportTo: ["cliemt"],
      hosts: ["ext.test"],
      location: "MESH_EXTERNAL",
      resolution: "DNS",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    }) +
    routing("DestinationRule", "cart", {
      host: "cart.test",
      exportTo: [".", "cliemt"],
      trafficPolicy: { tls: { mode: "DISABLE" } },
    }) +
    routing("VirtualService", "cart", {
      hosts: ["cart.test"],
      exportTo: ["client", "cliemt"],
      http: [{ match: [{ sourceNamespace: "cliemt" }, { sourceNamespace: "client" }], ...to }, to],
    }) +
    routing("Gateway", "door", { selector: { app: "door" }, servers: [{ ...HTTP, hosts: ["cliemt/*", "./a.test"] }] }) +
    routing("Sidecar", "default", { egress: [{ hosts: ["./*", "cliemt/*", "*/*", "~/*"] }] }, "client");
  const names = (text: string) =>
    found(text).filter((one) => one.includes("MSH0101")).map((one) => one.split(" ").slice(2).join(" "));
  assert.deepEqual(names(namespace("shop") + namespace("client") + objects), [
    "DestinationRule/cart spec.exportTo[1]",
    "Gateway/door spec.servers[0].hosts[0]",
    "ServiceEntry/ext spec.exportTo[0]",
    "Sidecar/default spec.egress[0].hosts[1]",
    "VirtualService/cart spec.exportTo[1]",
    "VirtualService/cart spec.http[0].match[0].sourceNamespace",
  ]);
  assert.deepEqual(names(objects), [], "no Namespace is known");
});

const PATCH = { operation: "MERGE", value: { per_connection_buffer_limit_bytes: 1000 } };

Deno.test("a patch for gateways with labels that only sidecars have is reported", () => {
  const filter = (context: string, labels?: Record<string, string>) =>
    found(
      CART + object("networking.istio.io/v1alpha3", "EnvoyFilter", "limit", {
        ...(labels === undefined ? {} : { workloadSelector: { labels } }),
        configPatches: [{ applyTo: "LISTENER", match: { context }, patch: PATCH }],
      }),
    ).filter((one) => one.includes("MSH1036"));
  const cart = { app: "cart" };
  assert.deepEqual(filter("GATEWAY", cart), [
    "warning MSH1036 ProxyFilter/limit spec.configPatches[0].match.context",
  ]);
  assert.deepEqual(filter("SIDECAR_INBOUND", cart), []);
  assert.deepEqual(filter("GATEWAY"), [], "gateways of the namespace may be installed elsewhere");
});

Deno.test("a patch without effect is found beside advice about how patches are ordered", () => {
  const text = CART + object("networking.istio.io/v1alpha3", "EnvoyFilter", "lua", {
    workloadSelector: { labels: { app: "cart" } },
    configPatches: [{
      applyTo: "HTTP_FILTER",
      match: { context: "SIDECAR_INBOUND", listener: { portNumber: 8081 } },
      patch: {
        operation: "INSERT_BEFORE",
        value: {
          name: "lua",
          typed_config: {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            default_source_code: { inline_string: "function envoy_on_request(h) end" },
          },
        },
      },
    }],
  });
  const codes = found(text).map((one) => one.split(" ")[1]);
  assert.deepEqual(codes.sort(), ["MSH0151", "MSH1036"]);
});

Deno.test("hosts with a path and paths with a query are values that no request has", () => {
  const text = CART + policy("AuthorizationPolicy", "allow", {
    selector: { matchLabels: { app: "cart" } },
    rules: [{ to: [{ operation: { hosts: ["cart.test/api", "cart.test:80"], paths: ["/a?b=1", "/a#b", "/a/{*}"] } }] }],
  });
  assert.deepEqual(found(text).filter((one) => one.includes("MSH1038")).map((one) => one.split(".").at(-1)), [
    "hosts[0]",
    "paths[0]",
    "paths[1]",
  ]);
});

const MANIFEST = (name: string, more: object, ports: object[]) =>
  `---\n${
    JSON.stringify({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "shop", ...more },
      spec: { clusterIP: "10.96.0.9", ports },
    })
  }\n`;

/** Findings where Services of manifests are part of the mesh: `CODE FIELD: EXPECTED`. */
function foundIn(text: string): string[] {
  const mesh = meshOf({ "a.yaml": text }, { manifestServices: true });
  const { findings } = unpaced(checkMesh(mesh, { assumeServices: false, textOf: () => undefined }));
  return findings.map(({ code, place, expected }) => `${code} ${place.field}: ${expected}`);
}

const route = (name: string, hosts: string[], destination: object, namespace?: string) =>
  routing("VirtualService", name, { hosts, http: [{ route: [{ destination }] }] }, namespace);

Deno.test("a Service whose annotation hides it from the route's namespace is found like a ServiceEntry", () => {
  const text =
    MANIFEST("cart", { annotations: { "networking.istio.io/exportTo": "." } }, [{ name: "http", port: 80 }]) +
    route("front", ["front.test"], { host: "cart.shop.svc.cluster.local" }, "client");
  assert.deepEqual(foundIn(text).filter((one) => one.startsWith("MSH0187")).map((one) => one.split(":")[0]), [
    "MSH0187 spec.http[0].route[0].destination.host",
  ]);
});

Deno.test("a port for datagrams cannot be a request's destination, and is not offered as a destination", () => {
  const cart = MANIFEST("cart", {}, [{ name: "http", port: 80 }, { name: "dns", port: 53, protocol: "UDP" }]);
  const host = "cart.shop.svc.cluster.local";
  const of = (destination: object) =>
    foundIn(cart + route("front", ["front.test"], destination)).filter((one) => /^MSH(?:1101|0112)/.test(one));
  assert.deepEqual(of({ host, port: { number: 53 } }), [
    `MSH1101 spec.http[0].route[0].destination.port.number: 80 of ${host} (proxies do not carry datagrams, as port 53 does)`,
  ]);
  assert.deepEqual(of({ host, port: { number: 80 } }), []);
});

Deno.test("a rule for requests on a port that carries bytes is reported as such, not as hidden behind other rules", () => {
  const cart = MANIFEST("cart", {}, [{ name: "http", port: 80 }, { name: "tcp-db", port: 5432 }]);
  const destination = { host: "cart", port: { number: 80 } };
  const text = cart + routing("VirtualService", "cart", {
    hosts: ["cart"],
    http: [
      { match: [{ uri: { prefix: "/a" } }], route: [{ destination }] },
      { match: [{ port: 5432 }], route: [{ destination }] },
    ],
  });
  assert.deepEqual(foundIn(text).filter((one) => one.startsWith("MSH1036")), [
    "MSH1036 spec.http[1]: an HTTP port of cart.shop.svc.cluster.local (it has 80 HTTP, 5432 TCP)",
  ]);
});

Deno.test("a name with a dot that is not a whole name is answered with the whole name", () => {
  const cart = MANIFEST("cart", {}, [{ name: "http", port: 80 }]);
  const whole = "cart.shop.svc.cluster.local";
  for (const host of ["cart.shop", "cart.shop.svc"]) {
    const rule = routing("DestinationRule", "cart", { host, trafficPolicy: { tls: { mode: "DISABLE" } } }, "client");
    const found = foundIn(cart + route("front", ["front.test"], { host }, "client") + rule);
    assert.deepEqual(
      found.filter((one) => one.includes(`no service has ${host}`) && one.includes(whole)).length,
      2,
      host,
    );
  }
});

Deno.test("hosts of one entry that share its address are a warning, each is served by its name", () => {
  const entry = (hosts: string[]) =>
    routing("ServiceEntry", hosts[0]!.replace(".", "-"), {
      hosts,
      addresses: ["240.0.0.1"],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "10.0.0.1" }],
    });
  const severities = (text: string) =>
    found(text).filter((one) => one.includes("MSH1019")).map((one) => one.split(" ")[0]);
  assert.deepEqual(severities(entry(["one.test", "two.test"])), ["warning"]);
  assert.deepEqual(severities(entry(["one.test"]) + entry(["two.test"])), ["error"]);
});

Deno.test("a rule that names only other ports is not reported for a port that carries bytes", () => {
  const bytes = routing("ServiceEntry", "db", {
    hosts: ["db.test"],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }, { number: 5432, name: "tcp", protocol: "TCP" }],
    endpoints: [{ address: "10.0.0.1", labels: { app: "db" } }],
  });
  const deny = (operation: object, when: object[] = []) =>
    found(
      bytes + policy("AuthorizationPolicy", "deny", {
        selector: { matchLabels: { app: "db" } },
        action: "DENY",
        rules: [{ to: [{ operation: { methods: ["POST"], ...operation } }], ...(when.length > 0 ? { when } : {}) }],
      }),
    ).filter((one) => one.includes("MSH1023")).length;
  assert.deepEqual([deny({}), deny({ ports: ["5432"] })], [1, 1]);
  assert.deepEqual([deny({ ports: ["80"] }), deny({ notPorts: ["5432"] })], [0, 0]);
  assert.equal(deny({}, [{ key: "destination.port", values: ["80"] }]), 0);
});
