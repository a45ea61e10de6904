import assert from "node:assert/strict";
import { page, withServer } from "./running.ts";

const entry = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;

Deno.test("a server is ready, shows its services and metrics, and stops cleanly", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports }) => {
    assert.equal((await page(ports.http, "/ready")).status, 200);
    const services = JSON.parse((await page(ports.http, "/debug/registryz")).body);
    assert.deepEqual(services.map((s: { hostname: string }) => s.hostname), ["a.example.com"]);
    assert.match((await page(ports.monitoring, "/metrics")).body, /^pilot_services 1$/m);
    assert.match((await page(ports.monitoring, "/version")).body, /^\S+-\S+-\S+\n$/);
    assert.equal((await page(ports.http, "/debug/nothing")).status, 404);
    assert.equal((await page(ports.http, "/debug/config_dump")).status, 400);
    assert.equal((await page(ports.http, "/debug/config_dump?proxyID=nobody")).status, 404);
  });
});

Deno.test("a broken object is named with file, line, field and expectation, and the others are served", async () => {
  const broken = `---\n${entry.replace("name: a", "name: b").replace("number: 80", "number: 800000")}`;
  await withServer({ "a.yaml": entry + broken }, async ({ ports }) => {
    const [problem] = JSON.parse((await page(ports.http, "/debug/problemz")).body);
    assert.equal(problem.place.origin.file, "a.yaml");
    assert.equal(problem.place.line, 15);
    assert.equal(problem.place.field, "spec.ports[0].number");
    assert.equal(problem.value, "800000");
    assert.match(await page(ports.monitoring, "/metrics").then((p) => p.body), /pilot_total_rejected_configs\{.*} 1/);
    assert.equal(JSON.parse((await page(ports.http, "/debug/registryz")).body).length, 1);
  });
});

Deno.test("an edit is pushed, and its object names that push", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports, pipeline }, folder) => {
    const pushed = new Promise<readonly string[]>((resolve) =>
      pipeline.onPush((push) => resolve(push.objects.map(({ key }) => key)))
    );
    await Deno.writeTextFile(`${folder}/a.yaml`, entry.replace("10.0.0.1", "10.0.0.2"));
    assert.deepEqual(await pushed, ["ServiceEntry/x/a"]);
    const live = JSON.parse((await page(ports.http, "/debug/live?object=ServiceEntry/x/a")).body);
    assert.deepEqual([live.object, live.push, live.total], ["ServiceEntry/x/a", pipeline.pushes, 0]);
    assert.equal((await page(ports.http, "/debug/live?object=ServiceEntry/x/none")).status, 404);
  });
});

Deno.test("gRPC and pages share one port if gRPC has no separate port", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports }) => {
    assert.equal(ports.grpc, ports.http);
    assert.equal((await page(ports.http, "/ready")).status, 200);
  }, { options: { grpc: undefined } });
});
