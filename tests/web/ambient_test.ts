/** The pages of ambient mode for people: links from other pages, and the chains of a waypoint by service. */
import assert from "node:assert/strict";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { TestProxy } from "../debug/proxy.ts";
import { page, withServer } from "../discovery/running.ts";

const entry = (name: string, address: string) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop, labels: { istio.io/use-waypoint: gate } }
spec:
  hosts: [${name}.test]
  addresses: [${address}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }, { number: 81, name: tcp, protocol: TCP }]
  endpoints: [{ address: 10.1.0.1 }]
`;
const WORLD = [
  `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: istio-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
`,
  entry("web", "10.96.0.1"),
  entry("pay", "10.96.0.2"),
  `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: deny, namespace: shop }
spec: { action: DENY, rules: [{ to: [{ operation: { ports: ["81"] } }] }] }
`,
].join("---");

const ID = "waypoint~10.0.0.9~gate-1.shop~shop.svc.cluster.local";
const text = (stringValue: string) => ({ stringValue });
const WAYPOINT = {
  id: ID,
  metadata: {
    fields: {
      PROXY_CONFIG: text("{}"),
      LABELS: { structValue: { fields: { "gateway.networking.k8s.io/gateway-name": text("gate") } } },
    },
  },
};

async function htmlOf(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/debug/${path}`, { headers: { accept: "text/html" } });
  return await response.text();
}

const shown = (html: string) => html.replaceAll("<wbr>", "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

Deno.test("a waypoint has its chains by service, and pages of objects and services lead to the pages of ambient mode", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc, WAYPOINT);
    const tree = (more = "") => htmlOf(ports.http, `config_dump?proxyID=${encodeURIComponent(ID)}&view=tree${more}`);
    assert.match(shown(await tree()), /service pay\.test 2 filter chains .*service web\.test 2 filter chains/);
    const [first] = /service <b>[^<]*<\/b>/.exec(await tree("&q=web.test")) ?? [];
    assert.equal(first, "service <b>web.test</b>");

    const links = {
      "live?object=ApiGateway/shop/gate": "/debug/ambient_services?waypoint=shop%2Fgate",
      "live?object=AuthorizationPolicy/shop/deny": "/debug/ambient_pods?policy=shop%2Fdeny",
      "live?object=ServiceEntry/shop/web": "/debug/ambient_services?namespace=shop",
      "endpointShardz?service=shop/web.test": "/debug/ambient_services?q=shop%2Fweb.test",
    };
    for (const [from, to] of Object.entries(links)) {
      assert.ok((await htmlOf(ports.http, from)).includes(`href="${to}"`), from);
      assert.equal((await page(ports.http, to.slice(0, to.indexOf("?")))).status, 200);
    }
    const services = shown(await htmlOf(ports.http, "ambient_services?waypoint=shop/gate"));
    assert.match(services, /shop\/pay\.test .*shop\/web\.test /);
    assert.match(services, /Gateway shop\/gate has no address in its status/);
  }, { settings: { PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true, XDS_AUTH: false } }));

const named = (name: string, kind: string, target: string, group = "gateway.networking.k8s.io") => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: shop }
spec: { targetRefs: [{ group: "${group}", kind: ${kind}, name: ${target} }], rules: [{}] }
`;
const SELECTED = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: by-label, namespace: shop }
spec: { selector: { matchLabels: { gateway.networking.k8s.io/gateway-name: gate } }, rules: [{}] }
---
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: { name: of-namespace, namespace: shop }
spec: { accessLogging: [{ disabled: true }] }
---
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: { name: of-pod, namespace: shop }
spec: { concurrency: 2 }
`;
const AT_GATE = [
  ...[named("at-gate", "Gateway", "gate"), named("at-web", "ServiceEntry", "web", "networking.istio.io")],
  named("elsewhere", "Gateway", "other"),
];

for (
  const [isLayered, names] of [
    [false, ["at-gate", "at-web"]],
    [true, ["at-gate", "at-web", "by-label", "deny"]],
  ] as const
) {
  Deno.test(`the pages about a waypoint show the policies that hold in it, ${isLayered ? "and" : "not"} those without targets`, () =>
    withServer({ "world.yaml": [WORLD, SELECTED, ...AT_GATE].join("---") }, async ({ ports }) => {
      using _proxy = await TestProxy.attach(ports.grpc, WAYPOINT);
      const id = encodeURIComponent(ID);
      const html = shown(await htmlOf(ports.http, `config_dump?proxyID=${id}&view=policies`));
      const of = (kind: string) =>
        [...html.matchAll(new RegExp(`${kind}/shop/([a-z-]+)`, "g"))].map(([, name]) => name);
      assert.deepEqual([...new Set(of("AuthorizationPolicy"))].sort(), names);
      assert.match(
        html,
        /A waypoint: .* Gateway shop\/gate, GatewayClass [^ ]*\/istio-waypoint, ServiceEntry shop\/pay, /,
      );
      assert.ok(of("Telemetry").includes("of-namespace"));
      assert.ok(of("ProxyConfig").includes("of-pod"));
      const { authorization_policies: { namespace_to_policies } } = JSON.parse(
        (await page(ports.http, `/debug/authorizationz?proxyID=${id}`)).body,
      );
      assert.deepEqual(namespace_to_policies.shop.map(({ name }: { readonly name: string }) => name).sort(), names);
    }, {
      settings: {
        ...{ PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true, XDS_AUTH: false },
        ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: isLayered,
      },
    }));
}

Deno.test("a server without tunnels has no links to the pages of ambient mode", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    assert.doesNotMatch(await htmlOf(ports.http, "live?object=ServiceEntry/shop/web"), /ambient_/);
  }));

Deno.test("a pod of the list leads to its description, at a server that describes pods", async () => {
  const pod = `
apiVersion: v1
kind: Pod
metadata: { name: cart, namespace: shop }
spec: { nodeName: n1, containers: [] }
status: { phase: Running, podIP: 10.1.0.1, podIPs: [{ ip: 10.1.0.1 }] }
`;
  const listed = async (explainer?: ReturnType<typeof serverExplainer>) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    await withServer({ "world.yaml": [WORLD, pod].join("---") }, async ({ ports }) => {
      const list = await htmlOf(ports.http, "ambient_pods");
      resolve(list);
      if (explainer === undefined) return;
      const [, link = ""] = /href="\/debug\/(describe[^"]*)"/.exec(list) ?? [];
      assert.match(shown(await htmlOf(ports.http, link)), /Pod shop\/cart .*Ambient /);
    }, {
      settings: { PILOT_ENABLE_AMBIENT: true, XDS_AUTH: false },
      options: explainer === undefined ? {} : { explainer },
    });
    return await promise;
  };
  assert.match(await listed(serverExplainer("cluster.local")), /href="\/debug\/describe\?pod=shop%2Fcart"/);
  const without = await listed();
  assert.ok(without.includes("shop%2Fcart") && !without.includes("/debug/describe"));
});
