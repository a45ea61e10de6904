/** Parts reaching no proxy, as a running server tells: on pages, and about an object. */
import assert from "node:assert/strict";
import { z } from "zod";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "../debug/proxy.ts";

const MESH = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: x }
spec: { hosts: [cart.example.com], ports: [{ number: 8000, name: http, protocol: HTTP }], resolution: STATIC,
  endpoints: [{ address: 10.0.0.9 }] }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: front, namespace: x }
spec: { hosts: [front.test], http: [{ route: [{ destination: { host: cart.example.com } }] }] }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: cart, namespace: x }
spec:
  hosts: [cart.example.com]
  http:
    - { match: [{ port: 9 }], route: [{ destination: { host: cart.example.com } }] }
    - { route: [{ destination: { host: cart.example.com } }] }
`;

const FINDINGS = z.array(z.object({ name: z.string(), place: z.object({ field: z.string(), line: z.number() }) }));
const LIVE = z.object({
  everywhere: z.boolean(),
  why: z.array(z.string()),
  lost: z.array(z.object({ name: z.string() })),
});

const NAME = "reaches-no-proxy";

async function problems(port: number): Promise<string[]> {
  const found = FINDINGS.parse(JSON.parse((await page(port, "/debug/problemz")).body));
  return found.filter(({ name }) => name === NAME).map(({ place: { field, line } }) => `${line} ${field}`);
}

Deno.test("the server reports parts that reach no connected proxy, and live reports the object", async () => {
  await withServer({ "mesh.yaml": MESH }, async ({ ports }) => {
    assert.deepEqual(await problems(ports.http), [], "without proxies nothing is known");
    using _proxy = await TestProxy.attach(ports.grpc);
    assert.deepEqual(await problems(ports.http), ["18 spec.http[0]", "7 "]);
    for (
      const [name, text] of [["front", /some service with HTTP port 80/], [
        "cart",
        /a port of cart\.example\.com/,
      ]] as const
    ) {
      const body = (await page(ports.http, `/debug/live?object=VirtualService/x/${name}&wait=90s`)).body;
      const { everywhere, why, lost } = LIVE.parse(JSON.parse(body));
      assert.equal(everywhere, false);
      assert.deepEqual(lost.map((one) => one.name), [NAME]);
      assert.match(why.join("\n"), text);
    }
  });
});

const peer = (name: string, mode: string) =>
  `apiVersion: security.mesh.io/v1
kind: PeerAuthentication
metadata: { name: ${name}, namespace: x }
spec: { mtls: { mode: ${mode} } }
`;

Deno.test("a policy that node tunnels may enforce is not reported where the server serves tunnels", async () => {
  // One policy of a namespace decides at proxies.
  const files = { "mesh.yaml": `${peer("first", "STRICT")}---\n${peer("second", "PERMISSIVE")}` };
  for (const PILOT_ENABLE_AMBIENT of [false, true]) {
    await withServer(files, async ({ ports }) => {
      using _proxy = await TestProxy.attach(ports.grpc);
      assert.equal((await problems(ports.http)).length, PILOT_ENABLE_AMBIENT ? 0 : 1);
    }, { settings: { PILOT_ENABLE_AMBIENT } });
  }
});
