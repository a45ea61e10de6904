/** Ways into networks: existing ways, and ways affected by a change. */
import assert from "node:assert/strict";
import { EntranceIndex } from "../../lib/mesh/entrance_index.ts";
import { entrancesByNetwork, gatewaysByService, networkLookup, writtenEntrances } from "../../lib/mesh/networks.ts";

const WRITTEN = {
  networks: {
    n1: { endpoints: [{ fromRegistry: "c1" }], gateways: [{ registryServiceName: "GW.ns.svc", port: 443 }] },
    n2: {
      endpoints: [{ fromCidr: "10.2.0.0/16" }],
      gateways: [{ address: "gw.example.com", port: 15443 }, { address: "192.0.2.1", port: 15443 }, {
        registryServiceName: "other.ns.svc",
        port: 1,
      }],
    },
  },
};

Deno.test("an address is in the network of its range, else in the cluster's network", () => {
  const lookup = networkLookup(WRITTEN, "c1");
  assert.deepEqual(["10.2.0.1", "10.3.0.1", "name.example"].map(lookup), ["n2", "n1", "n1"]);
  assert.equal(networkLookup(WRITTEN, "c2")("10.3.0.1"), "");
});

Deno.test("a service is a gateway of networks that name the cluster's registry", () => {
  assert.deepEqual([...gatewaysByService(WRITTEN, "c1")], [["gw.ns.svc", [{ network: "n1", port: 443 }]]]);
  assert.deepEqual([...gatewaysByService(WRITTEN, "c2")], []);
});

Deno.test("entrances are unique addresses, in an order that does not depend on their sources", () => {
  const found = [{ network: "n2", address: "192.0.2.1", port: 15443 }, {
    network: "n1",
    address: "2001:DB8:0::1",
    port: 9,
  }];
  const all = [...writtenEntrances(WRITTEN), ...found];
  const addressesOf = (name: string) => name === "gw.example.com" ? ["192.0.2.9", "192.0.2.1"] : [];
  const shown = (list: typeof all, resolve = addressesOf) =>
    [...entrancesByNetwork(list, resolve)].sort().map((
      [name, ways],
    ) => [name, ways.map((e) => `${e.address}:${e.port}`)]);
  const expected = [["n1", ["2001:db8::1:9"]], ["n2", ["192.0.2.1:15443", "192.0.2.9:15443"]]];
  assert.deepEqual(shown(all), expected);
  assert.deepEqual(shown(all.toReversed()), expected);
  assert.deepEqual(shown(all, () => []), [["n1", ["2001:db8::1:9"]], ["n2", ["192.0.2.1:15443"]]]);
});

Deno.test("an entrance of several clusters is a single entrance with all their names", () => {
  const one = { network: "n", address: "192.0.2.1", port: 1 };
  const all = [{ ...one, clusterIds: ["west"] }, one, { ...one, clusterIds: ["east"] }, { ...one, port: 2 }];
  assert.deepEqual([...entrancesByNetwork(all, () => [])], [
    ["n", [{ ...one, clusterIds: ["east", "west"] }, { ...one, port: 2 }]],
  ]);
});

Deno.test("a change concerns only the networks whose entrances changed", () => {
  const index = new EntranceIndex(true);
  const way = (network: string, address: string) => [{ network, address, port: 1 }];
  assert.deepEqual(
    index.update(new Map([["a", way("a", "1.1.1.1")], ["b", way("b", "1.1.1.2")]])),
    new Set(["a", "b"]),
  );
  const a = index.of("a");
  assert.deepEqual(index.update(new Map([["a", way("a", "1.1.1.1")], ["b", way("b", "1.1.1.3")]])), new Set(["b"]));
  assert.equal(index.of("a"), a, "the same array");
  assert.deepEqual(index.update(new Map([["b", way("b", "1.1.1.3")]])), new Set(["a"]));
  assert.deepEqual(index.of("a"), []);
});
