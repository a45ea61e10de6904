/** Where connections of sidecars go when TCPRoutes and TLSRoutes are attached to a Service. */
import assert from "node:assert/strict";
import { wayOf } from "../offline/way.ts";
import { api, document } from "./folder_world.ts";

/** A service of namespace shop with one endpoint, ports of bytes, TLS and HTTP, and an address of its own. */
function service(name: string, last: number, namespace = "shop"): string {
  return document({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace },
    spec: {
      hosts: [`${name}.${namespace}.svc.cluster.local`],
      addresses: [`10.96.0.${last}`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [
        { number: 3306, name: "tcp-db", protocol: "TCP" },
        { number: 3307, name: "tcp-more", protocol: "TCP" },
        { number: 443, name: "tls", protocol: "TLS" },
        { number: 80, name: "http", protocol: "HTTP" },
      ],
      endpoints: [{ address: `10.0.0.${last}` }],
    },
  });
}

const SERVICES = service("a", 1) + service("b", 2) + service("c", 3);

function route(kind: string, name: string, to: string, more: object = {}, parent: object = {}, metadata = {}): string {
  const parentRefs = [{ group: "", kind: "Service", name: "a", ...parent }];
  const rules = [{ backendRefs: [{ name: to, port: kind === "TLSRoute" ? 443 : 3306 }] }];
  return api(kind, name, { parentRefs, ...more, rules }, metadata);
}

const CLIENT = "sidecar~10.0.0.7~client.shop~shop.svc.cluster.local";

/** The end of a connection. */
async function end(routes: string, to: string, from = CLIENT): Promise<string> {
  return (await wayOf(SERVICES + routes, from, to)).split(" > ")[1]!;
}

Deno.test("a TCPRoute at a Service takes connections to all its ports without HTTP", async () => {
  const routes = route("TCPRoute", "r", "b");
  assert.deepEqual(
    [
      await end(routes, "tcp://a.shop:3306"),
      await end(routes, "tcp://a.shop:3307"),
      await end(routes, "tls://a.shop:443"),
      await end(routes, "http://a.shop/"),
      await end(routes, "tcp://b.shop:3306"),
    ],
    ["10.0.0.2:3306", "10.0.0.2:3306", "10.0.0.2:3306", "10.0.0.1:80", "10.0.0.2:3306"],
  );
});

Deno.test("a TCPRoute at one port of a Service goes before a TCPRoute at all ports", async () => {
  const routes = route("TCPRoute", "all", "b") + route("TCPRoute", "one", "c", {}, { port: 3307 });
  assert.deepEqual(
    [await end(routes, "tcp://a.shop:3306"), await end(routes, "tcp://a.shop:3307")],
    ["10.0.0.2:3306", "10.0.0.3:3306"],
  );
  const alone = route("TCPRoute", "one", "c", {}, { port: 3307 });
  assert.deepEqual(
    [await end(alone, "tcp://a.shop:3306"), await end(alone, "tcp://a.shop:3307")],
    ["10.0.0.1:3306", "10.0.0.3:3306"],
  );
});

Deno.test("TLSRoutes at a Service take connections by server name; the oldest route has a name, other names are closed", async () => {
  const at = (seconds: number) => ({ creationTimestamp: `2026-01-01T00:00:0${seconds}Z` });
  const routes = route("TLSRoute", "young", "c", { hostnames: ["a.shop", "c.example.com"] }, {}, at(2)) +
    route("TLSRoute", "old", "b", { hostnames: ["a.shop"] }, {}, at(1));
  assert.equal(await end(routes, "tls://a.shop:443"), "10.0.0.2:443");
  assert.doesNotMatch(
    await end(route("TLSRoute", "r", "b", { hostnames: ["other.example.com"] }), "tls://a.shop:443"),
    /10\.0/,
  );
});

Deno.test("a TCPRoute of another namespace counts for clients of that namespace", async () => {
  const routes = route("TCPRoute", "producer", "b") + service("d", 4, "pay") + api(
    "TCPRoute",
    "consumer",
    {
      parentRefs: [{ group: "", kind: "Service", name: "a", namespace: "shop" }],
      rules: [{ backendRefs: [{ name: "d", port: 3306 }] }],
    },
    { namespace: "pay" },
  );
  const consumer = "sidecar~10.0.0.8~client.pay~pay.svc.cluster.local";
  assert.deepEqual(
    [await end(routes, "tcp://a.shop:3306"), await end(routes, "tcp://a.shop:3306", consumer)],
    ["10.0.0.2:3306", "10.0.0.4:3306"],
  );
});

Deno.test("connections to a backend that does not exist are closed", async () => {
  assert.doesNotMatch(await end(route("TCPRoute", "r", "gone"), "tcp://a.shop:3306"), /10\.0/);
});
