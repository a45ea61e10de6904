/** What hides an object from gateways that only entries tell of, and the names that are guessed. */
import assert from "node:assert/strict";
import { findingsIn } from "./support/analyzed.ts";

function object(kind: string, place: string, spec: string): string {
  const [namespace, name] = place.split("/");
  return `---\napiVersion: networking.mesh.io/v1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: ${spec}\n`;
}

const DOOR = object(
  "Gateway",
  "edge/door",
  `{ selector: { app: door }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }`,
);
const CART = object(
  "ServiceEntry",
  "shop/cart",
  `{ hosts: [cart.test], location: MESH_INTERNAL, resolution: STATIC, exportTo: ["."], ports: [{ number: 80, name: http, protocol: HTTP }], endpoints: [{ address: 10.0.0.1 }] }`,
);
const route = (gateway: string, more = "") =>
  object(
    "VirtualService",
    "shop/cart",
    `{ hosts: [front.test], gateways: [${gateway}], ${more} http: [{ route: [{ destination: { host: cart.test } }] }] }`,
  );
const ENTRY = object("WorkloadEntry", "edge/door", "{ address: 10.0.0.9, labels: { app: door } }");
const ENDPOINT = object(
  "ServiceEntry",
  "edge/door",
  `{ hosts: [door.test], location: MESH_INTERNAL, resolution: STATIC, ports: [{ number: 80, name: http, protocol: HTTP }], endpoints: [{ address: 10.0.0.9, labels: { app: door } }] }`,
);

function found(text: string): string[] {
  return findingsIn({ "mesh.yaml": text }).map(({ name, message }) => `${name}: ${message}`);
}

for (const [what, workload] of [["a WorkloadEntry", ENTRY], ["an endpoint of a ServiceEntry", ENDPOINT]] as const) {
  Deno.test(`a gateway whose workload is ${what}: a destination that is not exported to it is found, and a route`, () => {
    const [hidden] = found(DOOR + CART + workload + route("edge/door")).filter((one) => one.startsWith("hidden-by"));
    assert.match(hidden ?? "", /exported to the workloads of Gateway edge\/door in edge \(cart\.test is to shop\)/);
    const routes = found(DOOR + CART + workload + route("edge/door", `exportTo: ["."],`));
    assert.ok(routes.some((one) => one.startsWith("route-hidden-from-gateway")), routes.join("\n"));
  });
}

Deno.test("a gateway that is nearly one of another namespace is guessed", () => {
  const guess = (name: string) => found(DOOR + route(name)).find((one) => one.startsWith("unknown-gateway")) ?? "";
  assert.match(guess("egde/door"), /such as edge\/door/);
  assert.match(guess("shop/door"), /such as edge\/door/);
});
