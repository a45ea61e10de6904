/** Explanations of connections of workloads in ambient mode. */
import assert from "node:assert/strict";
import { FAR, policy, service, SHOP, STRICT, WAYPOINT, WEST } from "./ambient_shop.ts";
import { explained, type WaySettings } from "./way.ts";

const BEHIND = service("behind", "10.96.0.4", "istio.io/use-waypoint: gate").replace("app: behind", "app: cart");

const wayOf = (to: string, from = "shop/web", ...more: string[]) => wayIn({}, to, from, ...more);

async function wayIn(settings: WaySettings, to: string, from: string, ...more: string[]) {
  const text = [...SHOP, ...more].join("---");
  const { end, notes, hops } = await explained(text, from, { to }, { PILOT_ENABLE_AMBIENT: true, ...settings });
  assert.deepEqual(hops, []);
  return { end: end.text, kind: end.kind, notes };
}

const SEES = "a tunnel sees connections only: methods, paths and headers make no difference there";

Deno.test("the tunnel leads to the workloads of a service, in a tunnel where one is, and passes other addresses on", async () => {
  const taken = "the tunnel of its node takes connections of shop/web";
  assert.deepEqual(await wayOf("http://cart/admin"), {
    ...{ kind: "forwarded", end: "forwarded 10.0.0.2:8080 in a tunnel (1 of 1 endpoints)" },
    notes: [`${taken}: service shop/cart.shop.svc.cluster.local`, SEES],
  });
  assert.deepEqual(
    (await wayOf("tcp://outside:80")).end,
    "forwarded 10.0.0.3:8080 without a tunnel (1 of 1 endpoints)",
  );
  assert.deepEqual(await wayOf("tcp://192.0.2.9:443"), {
    ...{ kind: "forwarded", end: "forwarded 192.0.2.9:443, as it was dialled" },
    notes: [`${taken}, and passes this one on unchanged: no service and no workload has the address`],
  });
  const closed = await wayOf("tcp://cart:81");
  assert.deepEqual([closed.kind, closed.end], [
    "closed",
    "connection closed: the tunnel refuses it: the service has no such port",
  ]);
});

Deno.test("a DENY policy about requests closes all connections at the tunnel; without an accepting policy the asked ones are named", async () => {
  const deny = policy(
    "admin",
    "{ selector: { matchLabels: { app: cart } }, action: DENY, rules: [{ to: [{ operation: { paths: [/admin] } }] }] }",
  );
  assert.equal(
    (await wayOf("http://cart/", "shop/web", deny)).end,
    "connection closed: policy shop/admin refuses it at the tunnel of shop/cart",
  );
  const allow = policy(
    "clients",
    "{ rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/other] } }] }] }",
  );
  assert.equal(
    (await wayOf("http://cart/", "shop/web", allow)).end,
    "connection closed: no ALLOW policy accepts it at the tunnel of shop/cart (shop/clients)",
  );
});

Deno.test("a client without a proxy and without a tunnel is refused where mutual TLS is required", async () => {
  assert.equal(
    (await wayOf("tcp://10.0.0.2:8080", "shop/outside", STRICT)).end,
    "connection closed: policy mesh-system/istio_converted_static_strict refuses it at the tunnel of shop/cart",
  );
  assert.equal((await wayOf("tcp://10.0.0.2:8080", "shop/web", STRICT)).kind, "forwarded");
});

Deno.test("behind a waypoint an allow-list of clients refuses the waypoint, and a missing waypoint of a policy closes", async () => {
  const allow = policy(
    "clients",
    "{ selector: { matchLabels: { app: cart } }, rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/web] } }] }] }",
  );
  const open = await wayOf("http://behind/", "shop/web", WAYPOINT, BEHIND);
  assert.deepEqual([open.kind, open.end], [
    "forwarded",
    "forwarded 10.0.0.9:15008 to waypoint 10.96.0.9, which decides what becomes of it",
  ]);
  assert.equal(
    (await wayOf("http://behind/", "shop/web", WAYPOINT, BEHIND, allow)).end,
    "connection closed: behind waypoint 10.96.0.9, whose identity counts there, " +
      "no ALLOW policy accepts it at the tunnel of shop/cart (shop/clients)",
  );
  const needed = policy(
    "needed",
    '{ targetRefs: [{ group: "", kind: Service, name: behind }], action: DENY, rules: [{}] }',
  );
  const missing = await wayOf("http://behind/", "shop/web", BEHIND, needed);
  assert.equal(
    missing.end,
    "connection closed: the tunnel refuses it: nothing has the name or the address of the waypoint",
  );
  assert.equal((await wayOf("http://behind/", "shop/web", BEHIND)).kind, "forwarded", "no policy needs the waypoint");
});

Deno.test("connections to the address of a pod go by the pod's own waypoint, if the waypoint is for workloads", async () => {
  const own = `
apiVersion: v1
kind: Pod
metadata:
  name: own
  namespace: shop
  labels: { istio.io/use-waypoint: gate }
  annotations: { ambient.istio.io/redirection: enabled }
spec: { containers: [] }
status: { podIP: 10.0.0.7 }
`;
  const direct = await wayOf("http://10.0.0.7:8080/", "shop/web", WAYPOINT, own);
  assert.equal(direct.end, "forwarded 10.0.0.7:8080 in a tunnel (1 of 1 endpoints)", "it is for services");
  const forAll = WAYPOINT.replace("namespace: shop }", "namespace: shop, labels: { istio.io/waypoint-for: all } }");
  assert.notEqual(forAll, WAYPOINT);
  const { end, notes } = await wayOf("http://10.0.0.7:8080/", "shop/web", forAll, own);
  assert.equal(end, "forwarded 10.0.0.9:15008 to waypoint 10.96.0.9, which decides what becomes of it");
  assert.match(notes[0]!, /workload 10\.0\.0\.7, by waypoint 10\.96\.0\.9$/);
});

Deno.test("a policy of the namespace holds at the waypoint for the client itself, if policies are layered", async () => {
  const foe = policy(
    "foe",
    "{ action: DENY, rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/web] } }] }] }",
  );
  const ask = (layered: boolean, ...more: string[]) =>
    wayIn(
      { ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: layered },
      ...["http://behind/", "shop/web", WAYPOINT, BEHIND, ...more] as const,
    );
  assert.equal((await ask(false, foe)).kind, "forwarded");
  assert.equal((await ask(true)).kind, "forwarded");
  assert.equal(
    (await ask(true, foe)).end,
    "connection closed: policy shop/foe refuses it at waypoint 10.96.0.9",
  );
  const workloads = policy(
    "workloads",
    '{ action: DENY, rules: [{ to: [{ operation: { ports: ["9000"] } }], when: [{ key: destination.ip, values: [10.0.0.2] }] }] }',
  );
  assert.equal((await ask(true, workloads)).kind, "forwarded", "another port");
  const addresses = policy("addresses", "{ rules: [{ when: [{ key: destination.ip, values: [0.0.0.0/0] }] }] }");
  assert.equal(
    (await ask(true, addresses)).end,
    "connection closed: no ALLOW policy accepts it at waypoint 10.96.0.9 (shop/addresses)",
    "a waypoint cannot compare addresses of services",
  );
});

/** A pod with a sidecar, and its Service. @param labels Beside the label of the application. */
const withSidecar = (labels: string) => `
apiVersion: v1
kind: Pod
metadata:
  name: side
  namespace: shop
  labels: { app: side, security.mesh.io/tlsMode: mesh${labels} }
  annotations: { sidecar.mesh.io/status: "{}" }
spec: { serviceAccountName: side, containers: [{ name: main, image: main }, { name: mesh-proxy, image: proxy }] }
status: { phase: Running, podIP: 10.0.0.7, podIPs: [{ ip: 10.0.0.7 }], conditions: [{ type: Ready, status: "True" }] }
---${service("side", "10.96.0.7")}`;
const TAKES_TUNNELS = ", networking.mesh.io/tunnel: http";

Deno.test("behind the tunnel the sidecar of the workload decides: under STRICT it takes tunnels if it listens for them, and its policies compare requests of the client's own identity", async () => {
  const wayBehind = async (path: string, labels: string, ...more: string[]) => {
    const text = [...SHOP, withSidecar(labels), ...more].join("---");
    const { end, hops } = await explained(text, "shop/web", { to: `http://side${path}` }, {
      PILOT_ENABLE_AMBIENT: true,
    });
    assert.deepEqual(hops.map(({ proxy, direction }) => `${proxy.name} ${direction}`), ["side inbound"]);
    return end.text;
  };
  assert.equal(await wayBehind("/", ""), "forwarded 10.0.0.7:8080 without a tunnel (1 of 1 endpoints)");
  assert.match(await wayBehind("/", "", STRICT), /^connection closed: no filter chain matches/);
  const taken = "forwarded 10.0.0.7:8080 in a tunnel (1 of 1 endpoints)";
  assert.equal(await wayBehind("/", TAKES_TUNNELS, STRICT), taken);
  const readers = policy(
    "readers",
    "{ selector: { matchLabels: { app: side } }, rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/web] } }], to: [{ operation: { paths: [/read] } }] }] }",
  );
  assert.equal(await wayBehind("/read", TAKES_TUNNELS, STRICT, readers), taken);
  assert.match(
    await wayBehind("/write", TAKES_TUNNELS, STRICT, readers),
    /^answered 403: .*AuthorizationPolicy shop\/readers/,
  );
});

Deno.test("while a workload has pods of both modes, a policy with the label of injection in its selector is for the sidecars alone", async () => {
  const both = withSidecar(TAKES_TUNNELS).replace("name: side\n", "name: cart-old\n").replaceAll(
    "app: side",
    "app: cart",
  );
  const readers = (selector: string) =>
    policy(
      "readers",
      `{ selector: { matchLabels: { ${selector} } }, rules: [{ to: [{ operation: { paths: [/read] } }] }] }`,
    );
  const end = async (to: string, selector: string) => {
    const text = [...SHOP, both, readers(selector)].join("---");
    return (await explained(text, "shop/web", { to }, { PILOT_ENABLE_AMBIENT: true })).end.text;
  };
  const [ambient, sidecar] = ["http://10.0.0.2:8080/write", "http://10.0.0.7:8080/write"];
  assert.match(await end(ambient, "app: cart"), /^connection closed: no ALLOW policy accepts it/);
  const marked = "app: cart, security.mesh.io/tlsMode: mesh";
  assert.match(await end(ambient, marked), /^forwarded 10\.0\.0\.2:8080/);
  for (const selector of ["app: cart", marked]) {
    assert.match(await end(sidecar, selector), /^answered 403: .*AuthorizationPolicy shop\/readers/, selector);
  }
});

Deno.test("a sidecar goes past the waypoint of a service: a policy of the waypoint does not stop it, a policy for the waypoint's identity at the tunnel does", async () => {
  const behind = service("behind", "10.96.0.4", "istio.io/use-waypoint: gate").replace("app: behind", "app: cart");
  const slice = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: behind-1, namespace: shop, labels: { kubernetes.io/service-name: behind } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints: [{ addresses: [10.0.0.2], conditions: { ready: true } }]
`;
  const denied = policy(
    "denied",
    '{ targetRefs: [{ group: "", kind: Service, name: behind }], action: DENY, rules: [{}] }',
  );
  const end = async (...more: string[]) => {
    const text = [...SHOP, withSidecar(TAKES_TUNNELS), WAYPOINT, behind, slice, denied, ...more].join("---");
    const settings = { PILOT_ENABLE_AMBIENT: true };
    return (await explained(text, "shop/side", { to: "http://behind/" }, settings, { manifestServices: true })).end
      .text;
  };
  assert.match(await end(), /^forwarded 10\.0\.0\.2:8080/);
  const byWaypoint = policy(
    "by-waypoint",
    "{ selector: { matchLabels: { app: cart } }, rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/gate] } }] }] }",
  );
  assert.match(await end(byWaypoint), /no ALLOW policy accepts it at the tunnel of shop\/cart \(shop\/by-waypoint\)/);
});

Deno.test("the tunnel reaches another network by its gateway, with several networks switched on, and otherwise refuses", async () => {
  const end = async (isOn: boolean, ...more: string[]) => {
    const text = [...SHOP, FAR, ...more].join("---");
    const settings = { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: isOn };
    return (await explained(text, "shop/web", { to: "tcp://db.example:80" }, settings)).end.text;
  };
  assert.equal(
    await end(true, WEST()),
    "forwarded 192.0.2.9:15008 in a tunnel within a tunnel, to db.example:80 by the gateway into network west " +
      "(1 of 1 endpoints)",
  );
  const refused = "connection closed: the tunnel refuses it: no gateway into the network of the endpoint is known";
  assert.equal(await end(true), refused);
  assert.equal(await end(false, WEST()), refused);
});
