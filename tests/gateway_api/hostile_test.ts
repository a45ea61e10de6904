/** Legal objects of one namespace's user that take nothing from anybody else, and open nothing. */
import assert from "node:assert/strict";
import { wayOf } from "../offline/way.ts";
import { backendService, document, edgeGateway, httpRoute, ruleTo } from "./folder_world.ts";

const DOOR = "router~10.0.0.9~door.shop~shop.svc.cluster.local";

/** A workload that serves Gateway `shop/edge`, and two services. */
const AROUND = document({
  apiVersion: "networking.mesh.io/v1",
  kind: "WorkloadEntry",
  metadata: { name: "door", namespace: "shop" },
  spec: { address: "10.0.0.9", labels: { "gateway.networking.k8s.io/gateway-name": "edge" } },
}) + backendService("a", 9001) + backendService("b", 9002);

/** Where a request at the door goes: an endpoint, or a status. */
async function at(text: string, to: string): Promise<string> {
  return (await wayOf(AROUND + text, DOOR, to)).split(" > ")[1]!;
}

const HTTP = { name: "http", port: 80, protocol: "HTTP" };

Deno.test("a host whose first label is `any` takes nothing from the wildcard, and the reverse", async () => {
  const text = edgeGateway([HTTP]) +
    httpRoute("wide", [ruleTo("a")], { hostnames: ["*.example.com"] }) +
    httpRoute("narrow", [ruleTo("b")], { hostnames: ["any.example.com"] }) +
    httpRoute("all", [ruleTo("a")]) +
    httpRoute("single", [ruleTo("b")], { hostnames: ["any"] });
  const urls = ["http://x.example.com/", "http://any.example.com/", "http://other.org/", "http://any/"];
  const ends = await Promise.all(urls.map((url) => at(text, url)));
  assert.deepEqual(ends, ["127.0.0.1:9001", "127.0.0.1:9002", "127.0.0.1:9001", "127.0.0.1:9002"]);
});

Deno.test("a host that begins like another listener's name takes nothing from that listener", async () => {
  const text = edgeGateway([HTTP, { ...HTTP, name: "http-shop", port: 8080 }]) +
    httpRoute("one", [ruleTo("a")], { hostnames: ["x.example.com"], sectionName: "http-shop" }) +
    httpRoute("two", [ruleTo("b")], { hostnames: ["shop-x.example.com"], sectionName: "http" });
  const urls = ["http://x.example.com:8080/", "http://shop-x.example.com/"];
  const ends = await Promise.all(urls.map((url) => at(text, url)));
  assert.deepEqual(ends, ["127.0.0.1:9001", "127.0.0.1:9002"]);
});

Deno.test("a session whose name would break headers is an error of its rule", async () => {
  const matches = [{ path: { value: "/bad" } }];
  for (const type of ["Cookie", "Header"]) {
    for (const sessionName of ["a\r\nset-cookie: b", "a\0b", "a b", "a;b", "a=b"]) {
      const bad = ruleTo("b", { matches, sessionPersistence: { type, sessionName } });
      const good = ruleTo("a", { sessionPersistence: { type, sessionName: "Good-1" } });
      const text = edgeGateway([HTTP]) + httpRoute("r", [bad, good]);
      assert.deepEqual([await at(text, "http://x/bad"), await at(text, "http://x/")], ["500", "127.0.0.1:9001"]);
    }
  }
});

Deno.test("a new path that the proxy would refuse is an error of its rule", async () => {
  const filter = (path: string) => ({
    filters: [{ type: "URLRewrite", urlRewrite: { path: { type: "ReplaceFullPath", replaceFullPath: path } } }],
  });
  const matches = [{ path: { value: "/bad" } }];
  for (const path of ["/a\nb", "/a\0b", "/a\rb"]) {
    const text = edgeGateway([HTTP]) + httpRoute("r", [ruleTo("b", { matches, ...filter(path) }), ruleTo("a")]);
    assert.deepEqual([await at(text, "http://x/bad"), await at(text, "http://x/")], ["500", "127.0.0.1:9001"]);
  }
});
