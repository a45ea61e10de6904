/** "Send a request": listeners, hosts and ports of the chosen proxy are offered, and the path through it is named. */
import assert from "node:assert/strict";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { PATIENCE } from "../patience.ts";
import { struct } from "../../lib/pb/wellknown.ts";

const entry = (name: string, address: string, port: string) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${name}.example.com]
  addresses: [${address}]
  ports: [${port}]
  resolution: STATIC
  location: MESH_INTERNAL
  endpoints: [{ address: 10.0.0.${name.length}, labels: { app: ${name} } }]
---
`;

const WORLD = `${entry("a", "10.9.0.1", "{ number: 8080, name: http, protocol: HTTP }")}${
  entry("bb", "10.9.0.2", "{ number: 8080, name: http, protocol: HTTP }")
}${entry("ccc", "10.9.0.3", "{ number: 3306, name: tcp, protocol: TCP }")}
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: x }
spec: { selector: { app: door }, servers: [{ port: { number: 8081, name: http, protocol: HTTP }, hosts: ["*"] }] }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: shop, namespace: x }
spec:
  hosts: [shop.example.com]
  gateways: [door]
  http: [{ name: all, route: [{ destination: { host: a.example.com } }] }]
---
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: tried, namespace: x, annotations: { mesh.io/dry-run: "true" } }
spec: { action: DENY, rules: [{ to: [{ operation: { paths: [/tried] } }] }] }
`;

const SIDECAR = { id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local" };
const GATEWAY = {
  id: "router~10.0.0.7~door.x~x.svc.cluster.local",
  metadata: struct({ NAMESPACE: "x", LABELS: { app: "door" } }),
};

type ShowPart = (query: string) => Promise<{ readonly html: string; readonly text: string }>;

async function withProxy(node: { readonly id: string }, run: (part: ShowPart) => Promise<void>): Promise<void> {
  await withServer({ "world.yaml": WORLD }, async ({ ports, xds }) => {
    using _proxy = await TestProxy.attach(ports.grpc, node);
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    await run(async (query) => {
      const id = encodeURIComponent(node.id);
      const url = `http://127.0.0.1:${ports.http}/debug/config_dump?proxyID=${id}&view=request&${query}`;
      const html = await (await fetch(url, { headers: { accept: "text/html" } })).text();
      const text = html.replace(/<wbr>/g, "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
      return { html, text };
    });
  });
}

function optionsOf(html: string, list: RegExp): string[] {
  return [...(list.exec(html)?.[1] ?? "").matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value!);
}

const LISTENERS = /<select id="listener"[^>]*>([^]*?)<\/select>/;
const URLS = /<datalist id="urls">([^]*?)<\/datalist>/;

Deno.test("a sidecar offers its own listeners, and behind a listener the hosts with its port", async () => {
  await withProxy(SIDECAR, async (part) => {
    const { html } = await part("");
    assert.deepEqual(optionsOf(html, LISTENERS), [
      "",
      ...["virtualInbound", "virtualOutbound", "0.0.0.0_8080", "10.9.0.3_3306"],
    ]);
    assert.deepEqual(optionsOf(html, URLS), []);
    assert.deepEqual(optionsOf((await part("listener=0.0.0.0_8080")).html, URLS), [
      "http://a.example.com:8080/",
      "http://bb.example.com:8080/",
    ]);
    assert.deepEqual(optionsOf((await part("listener=10.9.0.3_3306")).html, URLS), ["tcp://10.9.0.3:3306/"]);
    assert.deepEqual(optionsOf((await part("listener=virtualInbound")).html, URLS), ["http://10.0.0.1:8080/"]);
    assert.match((await part("listener=none")).text, /✗ The proxy has no listener none\./);
  });
});

Deno.test("the result names listener, filter chain, route, cluster and endpoint", async () => {
  await withProxy(SIDECAR, async (part) => {
    // The port of the listener is the port of a URL without a port.
    const { text } = await part("listener=0.0.0.0_8080&url=http://bb.example.com/");
    for (
      const row of [
        /Listener 0\.0\.0\.0_8080 wildcard address, from virtualOutbound/,
        /Filter chain \S+ transport raw_buffer/,
        /Route configuration 8080 RDS/,
        /Virtual host bb\.example\.com:8080 domain bb\.example\.com/,
        /Route \S+ /,
        /Cluster outbound\|8080\|\|bb\.example\.com EDS ← ServiceEntry\/x\/bb/,
        /Endpoint 10\.0\.0\.2:8080/,
      ]
    ) assert.match(text, row);
    const tcp = (await part("listener=10.9.0.3_3306&url=tcp://10.9.0.3:3306/")).text;
    assert.match(tcp, /Listener 10\.9\.0\.3_3306 exact address.*Cluster outbound\|3306\|\|ccc\.example\.com/);
    assert.match(tcp, /Endpoint 10\.0\.0\.3:3306/);
    const inbound = (await part("listener=virtualInbound&url=http://10.0.0.1:8080/")).text;
    assert.match(inbound, /Listener virtualInbound .*Cluster inbound\|8080\|\|/);
  });
});

Deno.test("a request that another listener takes is said to miss the chosen one", async () => {
  await withProxy(SIDECAR, async (part) => {
    const { text } = await part("listener=0.0.0.0_8080&url=http://ccc.example.com:3306/");
    assert.match(text, /! The listener 0\.0\.0\.0_8080 does not take this request; 10\.9\.0\.3_3306 does\./);
  });
});

Deno.test("a gateway offers the hosts of its routes, and a request arrives at the listener itself", async () => {
  await withProxy(GATEWAY, async (part) => {
    const listeners = optionsOf((await part("")).html, LISTENERS);
    assert.deepEqual(listeners, ["", "0.0.0.0_8081"]);
    const chosen = await part("listener=0.0.0.0_8081");
    assert.deepEqual(optionsOf(chosen.html, URLS), ["http://shop.example.com:8081/"]);
    const { text } = await part("listener=0.0.0.0_8081&url=http://shop.example.com/");
    assert.match(text, /Listener 0\.0\.0\.0_8081 .*Route all .*Cluster outbound\|8080\|\|a\.example\.com/);
  });
});

Deno.test("a request that a policy on trial would refuse goes on, and the page says so", async () => {
  await withProxy(SIDECAR, async (part) => {
    const trial = /on trial: would refuse: denied by AuthorizationPolicy x\/tried rules\[0\]/;
    const refused = (await part("listener=virtualInbound&url=http://10.0.0.1:8080/tried")).text;
    assert.match(refused, trial);
    assert.match(refused, /forwarded to inbound/);
    assert.doesNotMatch((await part("listener=virtualInbound&url=http://10.0.0.1:8080/")).text, trial);
  });
});
