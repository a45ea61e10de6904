/** The page of a proxy: resources, treatment of a request, and the sources of policies. */
import assert from "node:assert/strict";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { mergedFields } from "../../lib/web/proxy_policies.ts";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { PATIENCE } from "../patience.ts";

const WORLD = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  addresses: [10.9.0.1]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: way, namespace: x }
spec:
  hosts: [a.example.com]
  http:
    - match: [{ headers: { x-beta: { exact: "yes" } } }]
      directResponse: { status: 418 }
    - route: [{ destination: { host: a.example.com } }]
---
apiVersion: security.mesh.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: mesh-system }
spec: { mtls: { mode: PERMISSIVE } }
---
apiVersion: security.mesh.io/v1
kind: PeerAuthentication
metadata: { name: own, namespace: x }
spec: { mtls: { mode: STRICT } }
`;

/** The text of a part of the proxy's page. */
async function withProxy(
  run: (part: (query: string) => Promise<string>) => Promise<void>,
  options: Parameters<typeof withServer>[2] = {},
): Promise<void> {
  await withServer({ "world.yaml": WORLD }, async ({ ports, xds }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    await run(async (query) => {
      const url = `http://127.0.0.1:${ports.http}/debug/config_dump?proxyID=a.x&${query}`;
      const html = await (await fetch(url, { headers: { accept: "text/html" } })).text();
      return html.replaceAll("<wbr>", "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").replaceAll("&#38;", "&")
        .replaceAll("&#34;", '"');
    });
  }, options);
}

Deno.test("desired, sent and acknowledged stand side by side, and who asked for nothing of a type is not shown with it", async () => {
  await withProxy(async (part) => {
    const text = await part("");
    assert.match(
      text,
      /Type Asks for Should have Was sent Acknowledged State cds all (\d+) (\S+) \1 \2 [\d:]+ [\d:]+ ✓ in sync/,
    );
    assert.doesNotMatch(text, / rds /);
  });
});

Deno.test("resources are found by name and by content, and shown decoded", async () => {
  await withProxy(async (part) => {
    assert.match(await part("view=resources&q=A.EXAMPLE"), /outbound\|80\|\|a\.example\.com .* 1 in all/);
    assert.match(await part("view=resources&type=eds&q=10.0.0.9"), /outbound\|80\|\|a\.example\.com .* 1 in all/);
    assert.match(await part("view=resources&q=nothing-is-so"), /No resource matches the filters\./);
    const one = await part("view=resources&type=cds&name=outbound%7C80%7C%7Ca.example.com");
    assert.match(one, /"@type": "type\.googleapis\.com\/envoy\.config\.cluster\.v3\.Cluster"/);
  });
});

Deno.test("the tree goes from listeners to endpoints, with the objects behind", async () => {
  await withProxy(async (part) => {
    const text = await part("view=tree&q=a.example.com");
    assert.match(
      text,
      /0\.0\.0\.0_80 .*chain .*routes 80 1 virtual host .*a\.example\.com:80 .*VirtualService\/x\/way/,
    );
    assert.match(
      text,
      /answers 418 .*cluster outbound\|80\|\|a\.example\.com EDS, plaintext, 1 endpoint .*10\.0\.0\.9:80 healthy/,
    );
  });
});

Deno.test("a request is followed from the URL alone; headers decide; an impossible request shows the reason", async () => {
  await withProxy(async (part) => {
    const url = encodeURIComponent("http://a.example.com/v1?x=1");
    const forwarded = await part(`view=request&url=${url}`);
    assert.match(forwarded, /dialled: 10\.9\.0\.1:80, of a\.example\.com/);
    assert.match(forwarded, /route #1 ← VirtualService\/x\/way .*✓ forwarded to outbound\|80\|\|a\.example\.com/);
    assert.match(
      await part(`view=request&url=${url}&headers=${encodeURIComponent("X-Beta: yes\nX-Beta: no")}`),
      /answered 418/,
    );
    assert.match(
      await part("view=request&url=a.example.com"),
      /URL: got "a\.example\.com", expected a URL such as http:/,
    );
    assert.match(
      await part(`view=request&url=${url}&headers=nocolon`),
      /Headers: got "nocolon", expected "name: value"/,
    );
    assert.match(
      await part(`view=request&url=${url}&address=nowhere`),
      /Dialled address: got "nowhere", expected ip:port/,
    );
    assert.match(await part(`view=request&url=http://unknown.test`), /no service has the host unknown\.test/);
  });
});

Deno.test("a client's request is followed over both proxies, with the line of each rule; one to the proxy itself as it arrives", async () => {
  await withProxy(async (part) => {
    const url = encodeURIComponent("http://a.example.com/v1?x=1");
    const way = await part(`view=request&url=${url}`);
    assert.match(way, /dialled: 10\.9\.0\.1:80 no proxy is known at 10\.0\.0\.9/);
    assert.match(way, /sidecar x\/a listener 0\.0\.0\.0_80/);
    assert.match(way, /rule 1 — no: header x-beta missing ← VirtualService\/x\/way \S+world\.yaml:\d+/);
    assert.match(way, /✓ forwarded 10\.0\.0\.9:80 \(1 of 1 healthy\)/);
    assert.match(await part(`view=request&url=${url}&headers=${encodeURIComponent("X-Beta: yes")}`), /✗ answered 418/);
    assert.match(await part("view=request&url=nothing"), /✗ got destination "nothing", expected a URL/);
    assert.match(await part(`view=request&url=${url}&direction=inbound`), /✓ forwarded to |✗ connection closed/);
  }, { options: { explainer: serverExplainer("cluster.local") } });
});

Deno.test("policies for the workload are merged, each field with its object", async () => {
  await withProxy(async (part) => {
    const text = await part("view=policies");
    assert.match(
      text,
      /PeerAuthentication .*root namespace PeerAuthentication\/mesh-system\/all namespace PeerAuthentication\/x\/own/,
    );
    assert.match(text, /In effect Field Value From mtls\.mode "STRICT" PeerAuthentication\/x\/own/);
  });
});

Deno.test("a field of a nearer object has precedence, others stay, lists are replaced whole", () => {
  const object = (key: string, spec: object) => ({ key, spec: spec as never });
  const merged = mergedFields([
    object("root", { selector: {}, mtls: { mode: "A" }, list: [1, 2], deep: { a: { b: 1, c: 2 } } }),
    object("near", { mtls: { mode: "B" }, list: [3], deep: { a: { b: 3 } } }),
  ]);
  assert.deepEqual(merged.map(({ path, value, from }) => `${path}=${value} ${from}`), [
    "deep.a.b=3 near",
    "deep.a.c=2 root",
    "list=[3] near",
    'mtls.mode="B" near',
  ]);
});

Deno.test("the page says why a proxy that is told to ask for its resources gets everything", async () => {
  const metadata = { fields: { ON_DEMAND: { stringValue: "true" } } };
  const grpc = { fields: { ...metadata.fields, GENERATOR: { stringValue: "grpc" } } };
  const id = (type: string) => `${type}~10.0.0.1~a.x~x.svc.cluster.local`;
  const cases = [
    [
      { id: id("sidecar"), metadata },
      /Gets everything on-demand discovery needs the delta protocol, and PILOT_ENABLE_VHDS/,
    ],
    [
      { id: id("router"), metadata },
      /Gets everything on-demand discovery is for sidecars, and this proxy is a gateway/,
    ],
    [{ id: id("sidecar"), metadata: grpc }, /Gets everything .* this proxy is a gRPC library/],
  ] as const;
  for (const [node, says] of cases) {
    await withServer({ "world.yaml": WORLD }, async ({ ports }) => {
      using _proxy = await TestProxy.attach(ports.grpc, node);
      const url = `http://127.0.0.1:${ports.http}/debug/config_dump?proxyID=a.x`;
      const html = await (await fetch(url, { headers: { accept: "text/html" } })).text();
      assert.match(html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " "), says);
    });
  }
});
