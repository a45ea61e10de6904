/** Services of a folder have no address, because a server gives it; those that are told apart by it do not collide. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { readFact } from "../../../lib/config/facts/read.ts";
import type { Fact } from "../../../lib/config/facts/types.ts";
import type { Origin } from "../../../lib/finding/origin.ts";
import { standInAddress } from "../../../lib/registry/orch/stand_in.ts";
import { convertService } from "../../../lib/registry/orch/service.ts";
import { isIp } from "../../../lib/registry/address.ts";

const FILE: Origin = { from: "file", source: "", file: "a.yaml", line: 1, within: "" };
const API: Origin = { from: "api", source: "cluster-1", uid: "7c0f" };

function addresses(spec: object, origin: Origin = FILE, name = "db"): readonly string[] {
  const tree = { metadata: { name, namespace: "shop" }, spec };
  const { fact } = readFact("Service", tree, origin, { digestKey: new Uint8Array(32) });
  const options = { domain: "cluster.local", trustDomain: () => "cluster.local", stickyLabels: [] };
  return convertService(fact as Fact<"Service">, undefined, options as never).service.addresses;
}

const tcp = { ports: [{ port: 3306 }] };

const CASES: readonly (readonly [string, object, Origin, boolean])[] = [
  ["a port of TCP", tcp, FILE, true],
  ["a port that says no protocol", { ports: [{ port: 9000 }] }, FILE, true],
  ["one such port beside others", { ports: [{ name: "http", port: 80 }, { name: "redis", port: 6379 }] }, FILE, true],
  ["ports of HTTP alone: names tell them apart", { ports: [{ name: "http", port: 80 }] }, FILE, false],
  ["a port of TLS: names tell it apart", { ports: [{ name: "tls", port: 443 }] }, FILE, false],
  ["a headless service", { ...tcp, clusterIP: "None" }, FILE, false],
  ["an external name", { ...tcp, type: "ExternalName", externalName: "a.test" }, FILE, false],
  ["an object of an API, which has given no address", tcp, API, false],
];

for (const [what, spec, origin, has] of CASES) {
  Deno.test(`${what}: ${has ? "an address stands in" : "no address stands in"}`, () => {
    assert.deepEqual(addresses(spec, origin), has ? [standInAddress("shop/db")] : []);
  });
}

Deno.test("an address that is written is kept", () => {
  assert.deepEqual(addresses({ ...tcp, clusterIP: "10.0.0.7" }), ["10.0.0.7"]);
});

Deno.test("the address follows from the name, is an address of reserved networks, and is another one for another name", () => {
  assert.equal(standInAddress("shop/db"), standInAddress("shop/db"));
  const names = Array.from({ length: 1000 }, (_, i) => `shop/db-${i}`);
  assert.equal(new Set(names.map(standInAddress)).size, names.length);
  fc.assert(fc.property(fc.string(), (id) => {
    const address = standInAddress(id);
    const [first = 0, second = 0, , last = 0] = address.split(".").map(Number);
    assert.ok(isIp(address) && first >= 241 && first <= 254 && last > 0 && last < 255, `${address} ${second}`);
  }));
});
