/** Objects hidden from gateways known by entries alone, and guesses of the intended names. */
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

Deno.test("a gateway name close to a gateway of another namespace gets that gateway as a hint", () => {
  const guess = (name: string) => found(DOOR + route(name)).find((one) => one.startsWith("unknown-gateway")) ?? "";
  assert.match(guess("egde/door"), /such as edge\/door/);
  assert.match(guess("shop/door"), /such as edge\/door/);
});

Deno.test("a gateway of which nothing is known: a destination that the route's own namespace does not see is found", () => {
  const hidden = CART.replace("shop/cart", "prod/cart").replace("namespace: shop", "namespace: prod");
  const of = (text: string) => found(text).filter((one) => one.startsWith("hidden-from-own"));
  const [one = "", ...others] = of(DOOR + hidden + route("edge/door"));
  assert.match(
    one,
    /"cart\.test", expected a host that namespace shop sees \(cart\.test of namespace prod is exported to prod\)/,
  );
  assert.deepEqual(others, []);
  assert.deepEqual(of(DOOR + CART + route("edge/door")), [], "of the own namespace");
  assert.deepEqual(of(DOOR + hidden.replace('exportTo: ["."]', 'exportTo: ["*"]') + route("edge/door")), []);
  assert.deepEqual(of(DOOR + hidden + ENTRY + route("edge/door")), [], "the gateway's own finding says more");
});

Deno.test("clients of the route's own namespace that do not see the destination under its own host are found", () => {
  const hidden = CART.replace("namespace: shop", "namespace: prod");
  const rules = (hosts: string) =>
    object(
      "VirtualService",
      "shop/cart",
      `{ hosts: [${hosts}], http: [{ route: [{ destination: { host: cart.test } }] }] }`,
    );
  const names = (text: string) => found(text).map((one) => one.slice(0, one.indexOf(":")));
  assert.deepEqual(names(hidden + rules("cart.test")), ["hidden-from-own-namespace"]);
  assert.deepEqual(names(hidden + rules("front.test")), ["hidden-from-own-namespace"], "a host that no service has");
  const front = CART.replace('exportTo: ["."],', "").replaceAll("cart", "front");
  assert.deepEqual(names(hidden + front + rules("front.test")), ["hidden-by-export"], "one finding for one fact");
});

Deno.test("a host and a delegate are guessed in other namespaces", () => {
  const service = (place: string) => {
    const [namespace, name] = place.split("/");
    return `---\napiVersion: v1\nkind: Service\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: { ports: [{ port: 80, name: http }] }\n`;
  };
  const to = (host: string) =>
    object(
      "VirtualService",
      "web/cart",
      `{ hosts: [front.test], http: [{ route: [{ destination: { host: ${host} } }] }] }`,
    );
  const guess = (text: string) => found(text).find((one) => one.startsWith("unknown-host")) ?? "";
  const all = service("shop/cart") + service("shop/rating") + service("web/front");
  assert.match(guess(all + to("cart")), /did you mean cart\.shop\.svc\.cluster\.local\?/);
  assert.match(guess(all + to("cart.shpo.svc.cluster.local")), /did you mean cart\.shop\.svc\.cluster\.local\?/);
  assert.match(guess(all + to("ratings.shop.svc.cluster.local")), /did you mean rating\.shop\.svc\.cluster\.local\?/);
  assert.doesNotMatch(guess(all + to("billing")), /did you mean/);
  const entry = CART.replace("cart.test", "api.example.com").replace('exportTo: ["."], ', "");
  assert.match(guess(entry + to("api.exmaple.com")), /did you mean api\.example\.com\?/);
  assert.doesNotMatch(
    guess(entry.replace("location", 'exportTo: ["."], location') + to("api.exmaple.com")),
    /did you mean/,
  );
  const delegate = object("VirtualService", "shop/checkout", "{ http: [{ directResponse: { status: 200 } }] }");
  const root = (name: string, namespace: string) =>
    object(
      "VirtualService",
      "web/root",
      `{ hosts: [front.test], http: [{ delegate: { name: ${name}, namespace: ${namespace} } }] }`,
    );
  const unknown = (text: string) => found(text).find((one) => one.startsWith("unknown-delegate")) ?? "";
  assert.match(unknown(delegate + root("checkout", "web")), /such as shop\/checkout/);
  assert.match(unknown(delegate + root("checkout", "shpo")), /such as shop\/checkout/);
  assert.match(unknown(delegate + root("chekout", "shop")), /such as shop\/checkout/);
});
