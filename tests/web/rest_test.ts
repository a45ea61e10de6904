/** Pages for people with mostly JSON: lists to choose from, policies, caches. */
import assert from "node:assert/strict";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";

const many = Array.from({ length: 800 }, (_, i) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: s${i}, namespace: x }
spec:
  hosts: [s${i}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`).join("---\n");

const policies = ["DENY", "ALLOW"].map((action) =>
  `apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: p-${action.toLowerCase()}, namespace: ${action === "DENY" ? "mesh-system" : "y"} }
spec: { action: ${action}, selector: { matchLabels: { app: cart } }, rules: [{}] }
`
).join("---\n");

async function page(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/debug/${path}`, { headers: { accept: "text/html" } });
  return await response.text();
}

Deno.test("pages about one proxy begin with a choice of the proxy; long pages are shown up to their limit", async () => {
  await withServer({ "many.yaml": many }, async ({ ports }) => {
    assert.match(await page(ports.http, "sidecarz"), /No proxy is connected\./);
    using _proxy = await TestProxy.attach(ports.grpc);
    for (const path of ["ecdsz", "edsz", "ndsz", "sidecarz"]) {
      const body = await page(ports.http, path);
      assert.match(body, new RegExp(`<a href="/debug/${path}\\?proxyID=[^"]*a\\.x[^"]*">a\\.x</a>`), path);
      assert.doesNotMatch(await page(ports.http, `${path}?q=nobody`), /a\.x</);
    }
    const long = await page(ports.http, "edsz?proxyID=a.x");
    assert.match(long, /The first 200000 characters; the command below gets the whole text\./);
    const text = /<pre>([^]*)<\/pre>/.exec(long)![1]!.replaceAll("&#34;", '"');
    assert.equal(text.length, 200_000);
    assert.match(text, /^\{\n {2}"configs": \[\n/);
  });
});

Deno.test("policies are listed with effect and workloads, and filtered; caches are listed with their sizes; all pages have links", async () => {
  await withServer({ "policies.yaml": policies }, async ({ ports }) => {
    const names = async (query: string) =>
      [...(await page(ports.http, `authorizationz${query}`)).matchAll(/object=AuthorizationPolicy[^"]*">([^<]*)</g)]
        .map(([, name]) => name);
    assert.deepEqual(await names(""), ["p-deny", "p-allow"]);
    assert.deepEqual(await names("?action=ALLOW"), ["p-allow"]);
    assert.deepEqual(await names("?namespace=mesh-system"), ["p-deny"]);
    assert.deepEqual(await names("?q=nothing"), []);
    const all = await page(ports.http, "authorizationz");
    assert.match(all, /app=cart of all namespaces[^]*app=cart of its namespace/);
    using _proxy = await TestProxy.attach(ports.grpc);
    assert.deepEqual(await names("?proxyID=a.x"), []);
    assert.match(await page(ports.http, "authorizationz?proxyID=nobody"), /Not connected here/);
    assert.match(
      await page(ports.http, "cachez"),
      /envoy\.config\.cluster\.v3\.Cluster<[^]*>\d+ B<[^]*curl -X POST/,
    );
    assert.match(await page(ports.http, "list"), /<a href="\/debug\/pushcontext">pushcontext<\/a>/);
  });
});
