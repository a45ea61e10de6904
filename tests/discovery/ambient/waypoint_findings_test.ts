/** Findings about waypoints on a running server follow the status of Gateways. */
import assert from "node:assert/strict";
import { until } from "../../patience.ts";
import { withServer } from "../running.ts";

const ENTRY = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: api, namespace: shop, labels: { istio.io/use-waypoint: gate } }
spec: { hosts: [api.example.com], resolution: DNS, ports: [{ number: 443, name: tls, protocol: TLS }] }
`;

const gate = (addresses: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: mesh-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
status: { addresses: [${addresses}] }
`;

Deno.test("the finding goes when the Gateway gets an address, and comes back", async () => {
  await withServer({ "gate.yaml": gate(""), "entry.yaml": ENTRY }, async (server, folder) => {
    const effects = () =>
      [...server.analysis.findings()].filter(({ name }) => name === "waypoint-not-used").map(({ effect }) => effect);
    await until("the finding", () => effects().length === 1);
    assert.match(effects()[0]!, /^Connections go to the workloads directly\./);
    await Deno.writeTextFile(`${folder}/gate.yaml`, gate("{ type: IPAddress, value: 10.96.0.9 }"));
    await until("its end", () => effects().length === 0);
    await Deno.writeTextFile(`${folder}/gate.yaml`, gate(""));
    await until("its return", () => effects().length === 1);
  }, { settings: { PILOT_ENABLE_AMBIENT: true } });
});

Deno.test("a server without ambient mode has no such finding", async () => {
  await withServer({ "gate.yaml": gate(""), "entry.yaml": ENTRY }, async (server) => {
    await until("an analysis", () => !server.analysis.isBehind);
    assert.deepEqual([...server.analysis.findings()].filter(({ name }) => name === "waypoint-not-used"), []);
  });
});
