/** Explanations tell of requests ended by the fault of a rule. */
import assert from "node:assert/strict";
import { explained } from "./way.ts";

const object = (kind: string, name: string, spec: object) =>
  `---\n${
    JSON.stringify({ apiVersion: "networking.mesh.io/v1", kind, metadata: { namespace: "shop", name }, spec })
  }\n`;
const MESH = object("WorkloadEntry", "app", { address: "10.0.0.9", labels: { app: "client" } }) +
  object("ServiceEntry", "cart", {
    hosts: ["cart.test"],
    addresses: ["10.97.0.1"],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    endpoints: [{ address: "10.0.0.1" }],
  });

/** The explanation of a request under a rule's fault. */
async function endOf(abort: object): Promise<string> {
  const rules = object("VirtualService", "cart", {
    hosts: ["cart.test"],
    http: [{ fault: { abort }, route: [{ destination: { host: "cart.test" } }] }],
  });
  return JSON.stringify(await explained(MESH + rules, "shop/app", { to: "http://cart.test/" }));
}

Deno.test("a fault for all requests is their end, with its status", async () => {
  const text = await endOf({ httpStatus: 418, percentage: { value: 100 } });
  assert.match(text, /"status":418/);
  assert.match(text, /the fault of the rule ends the request/);
  assert.match(await endOf({ grpcStatus: "UNAVAILABLE", percentage: { value: 100 } }), /"status":503/);
});

Deno.test("a fault for some requests is reported with its share, and the other requests go on", async () => {
  const text = await endOf({ httpStatus: 418, percentage: { value: 25 } });
  assert.match(text, /25 % answered 418 by the fault/);
  assert.doesNotMatch(text, /the fault of the rule ends the request/);
  assert.doesNotMatch(await endOf({ httpStatus: 418 }), /by the fault/, "Envoy ends none without a percentage");
});
