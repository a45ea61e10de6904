/** Explanations name the existing objects hidden from the client. */
import assert from "node:assert/strict";
import { explained } from "./way.ts";

function object(kind: string, place: string, spec: string): string {
  const [namespace, name] = place.split("/");
  return `---\napiVersion: networking.mesh.io/v1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: ${spec}\n`;
}

const CLIENT = object("WorkloadEntry", "web/app", "{ address: 10.0.0.9, labels: { app: client } }");
const entry = (more = "") =>
  object(
    "ServiceEntry",
    "shop/cart",
    `{ hosts: [cart.test], location: MESH_INTERNAL, resolution: STATIC, ${more} addresses: [10.97.0.1], ports: [{ number: 80, name: http, protocol: HTTP }], endpoints: [{ address: 10.0.0.1 }] }`,
  );
const route = (more = "", host = "cart.test") =>
  object(
    "VirtualService",
    "shop/rules",
    `{ hosts: [${host}], ${more} http: [{ route: [{ destination: { host: cart.test } }] }] }`,
  );
const rule = (more: string) => object("DestinationRule", "shop/tls", `{ host: cart.test, ${more} }`);
const sidecar = (hosts: string) => object("Sidecar", "web/narrow", `{ egress: [{ hosts: [${hosts}] }] }`);
const OWN = 'exportTo: ["."],';

async function notes(yaml: string, to = "http://cart.test/", from = "web/app"): Promise<string> {
  return (await explained(CLIENT + yaml, from, { to })).notes.filter((one) => /\/shop\//.test(one)).join("\n");
}

const EXPORTED = "and is exported only to shop, so namespace web does not see it";

Deno.test("a host that is exported to another namespace, or that the client's Sidecar leaves out, is named with its object", async () => {
  assert.equal(await notes(entry()), "");
  assert.equal(await notes(entry(OWN)), `ServiceEntry/shop/cart has the host cart.test ${EXPORTED}`);
  assert.equal(
    await notes(entry('exportTo: ["~"],')),
    "ServiceEntry/shop/cart has the host cart.test and is exported to nobody, so namespace web does not see it",
  );
  assert.equal(
    await notes(entry() + sidecar('"./*"')),
    "ServiceEntry/shop/cart has the host cart.test, and Sidecar/web/narrow of the client does not import it",
  );
  assert.equal(await notes(entry() + sidecar('"shop/*"')), "");
});

Deno.test("a VirtualService and a DestinationRule that the client does not see are named", async () => {
  assert.equal(await notes(entry() + route() + rule("trafficPolicy: { tls: { mode: DISABLE } }")), "");
  assert.equal(await notes(entry() + route(OWN)), `VirtualService/shop/rules has rules for cart.test ${EXPORTED}`);
  assert.equal(
    await notes(entry() + rule(`${OWN} trafficPolicy: { tls: { mode: DISABLE } }`)),
    `DestinationRule/shop/tls is about cart.test ${EXPORTED}`,
  );
  assert.equal(
    await notes(entry() + route("", "front.test") + sidecar('"shop/cart.test"'), "http://front.test/"),
    "VirtualService/shop/rules has rules for front.test, and Sidecar/web/narrow of the client does not import it",
  );
});

Deno.test("a destination that the client does not see is named, and answers 503 to clients of the route's own namespace too", async () => {
  const seen = entry().replace("shop", "web").replaceAll("cart", "seen").replace("10.97.0.1", "10.97.0.2");
  const world = seen + entry(OWN) + route("", "front.test");
  assert.equal(await notes(world, "http://front.test/"), `ServiceEntry/shop/cart has the host cart.test ${EXPORTED}`);
  const elsewhere = seen + entry('exportTo: ["prod"],').replace("namespace: shop", "namespace: prod") +
    route("", "front.test");
  const client = CLIENT.replace("namespace: web", "namespace: shop");
  const { end } = await explained(client + elsewhere, "shop/app", { to: "http://front.test/" });
  assert.match(end.text, /^answered 503/);
});

Deno.test("a route that is not exported to the gateway's namespace is noted", async () => {
  const door = object(
    "Gateway",
    "edge/door",
    `{ selector: { app: door }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }`,
  ) + object("WorkloadEntry", "edge/door", "{ address: 10.0.0.4, labels: { app: door } }");
  const said = await notes(
    door + entry() + route(`${OWN} gateways: [edge/door],`),
    "http://cart.test/",
    "router~10.0.0.4~door.edge~edge.svc.cluster.local",
  );
  assert.equal(
    said,
    "VirtualService/shop/rules has rules for cart.test and is exported only to shop, so namespace edge does not see it",
  );
});

Deno.test("a destination that an imported route brings is not called left out", async () => {
  const front = object(
    "ServiceEntry",
    "shop/front",
    "{ hosts: [front.test], location: MESH_INTERNAL, resolution: STATIC, addresses: [10.97.0.2], ports: [{ number: 80, name: http, protocol: HTTP }], endpoints: [{ address: 10.0.0.2 }] }",
  );
  const text = entry() + front + sidecar('"shop/front.test"');
  assert.equal(await notes(text + route("", "front.test"), "http://front.test/"), "");
  assert.match(await notes(text), /cart\.test, and Sidecar\/web\/narrow of the client does not import it/);
});
