/** `/debug/sidecarz`: the view of a proxy, without and with a Sidecar. */
import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";
import { ROUTER, TestProxy } from "./proxy.ts";

const entry = (name: string, namespace: string) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`;

const rule = `apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: a, namespace: x }
spec: { host: a.example.com, trafficPolicy: { tls: { mode: SIMPLE } } }
`;

const sidecar = `apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: narrow, namespace: x }
spec:
  outboundTrafficPolicy: { mode: REGISTRY_ONLY }
  egress:
    - { port: { number: 9080, protocol: HTTP, name: http }, hosts: ["./a.example.com"] }
    - { hosts: ["x/*"] }
`;

Deno.test("the page has the services and rules of the proxy's namespace, then of its Sidecar; a gateway has no Sidecar", async () => {
  const files = { "a.yaml": entry("a", "x"), "b.yaml": entry("b", "y"), "rule.yaml": rule };
  await withServer(files, async ({ ports, pipeline, xds }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    using _gateway = await TestProxy.attach(ports.grpc, ROUTER);
    const ask = async (id: string) => JSON.parse((await page(ports.http, `/debug/sidecarz?proxyID=${id}`)).body);
    const hosts = (services: readonly { hostname: string }[]) => services.map(({ hostname }) => hostname).sort();
    const wide = await ask("a.x");
    assert.deepEqual([wide.name, wide.namespace, wide.sidecar], ["default-sidecar", "x", undefined]);
    assert.deepEqual(hosts(wide.services), ["a.example.com", "b.example.com"]);
    assert.deepEqual(wide.servicesByHostname, { "a.example.com": "x", "b.example.com": "y" });
    assert.deepEqual(wide.egressListenerServices.map((list: string[]) => list.sort()), [
      ["a.example.com", "b.example.com"],
    ]);
    assert.equal(wide.outboundTrafficPolicy.mode, "ALLOW_ANY");
    assert.deepEqual(Object.keys(wide.destinationRules), ["a.example.com"]);
    assert.deepEqual(wide.destinationRules["a.example.com"][0].causes, ["DestinationRule/x/a"]);
    assert.equal(wide.version, String(xds.ledger.latest));

    const pushed = Promise.withResolvers<void>();
    pipeline.onPush(() => pushed.resolve());
    await Deno.writeTextFile(`${folder}/sidecar.yaml`, sidecar);
    await pushed.promise;
    const narrow = await ask("a.x");
    assert.deepEqual([narrow.name, narrow.namespace, narrow.sidecar.egress.length], ["narrow", "x", 2]);
    assert.deepEqual(hosts(narrow.services), ["a.example.com"]);
    assert.deepEqual(narrow.egressListenerServices, [["a.example.com"], ["a.example.com"]]);
    assert.equal(narrow.outboundTrafficPolicy.mode, "REGISTRY_ONLY");
    assert.equal((await ask("door.x")).name, "default-sidecar");
    assert.deepEqual(hosts((await ask("door.x")).services), ["a.example.com", "b.example.com"]);
    const missing = await page(ports.http, "/debug/sidecarz");
    assert.deepEqual([missing.status, /proxyID is missing/.test(missing.body)], [400, true]);
    assert.equal((await page(ports.http, "/debug/sidecarz?proxyID=nobody")).status, 404);
  });
});
