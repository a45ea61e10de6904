import assert from "node:assert/strict";
import { encode } from "../../../lib/pb/codec.ts";
import { any } from "../../../lib/pb/codec.ts";
import { CLUSTER, LISTENER, ROUTE } from "../../../lib/xds/protocol/types.ts";
import { encodeResource } from "../../../lib/resource/encoded.ts";
import { Knowledge, look } from "./load/knowledge.ts";
import { scanResponse } from "./load/response.ts";
import { functionTimes } from "./profile.ts";
import { editCost } from "./result.ts";
import { parseUsage } from "./usage.ts";

Deno.test("usage is read from /proc for a program of any name", () => {
  const stat = "77 (a (b) c) S 1 1 1 0 -1 4194304 9 0 0 0 150 25 0 0 20 0 9 0 1 1 1\n";
  const used = parseUsage(`${stat}Name:\ta\nVmHWM:\t  4096 kB\nVmRSS:\t  2048 kB\n`);
  assert.deepEqual(used, { cpu: 1.75, resident: 2, peak: 4 });
  assert.throws(() => parseUsage("77 (a) S 1\n"), /no cpu/);
});

const cluster = (name: string, type: number, service_name?: string) =>
  encode("envoy.config.cluster.v3.Cluster", {
    name,
    type,
    eds_cluster_config: { eds_config: { ads: {} }, ...service_name !== undefined && { service_name } },
  });

const listener = encode("envoy.config.listener.v3.Listener", {
  name: "l",
  filter_chains: [{
    filters: [
      {
        name: "other",
        typed_config: any("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "x" }),
      },
      {
        name: "http",
        typed_config: any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
          stat_prefix: "x",
          rds: { route_config_name: "http.80", config_source: { ads: {} } },
        }),
      },
    ],
  }],
});

Deno.test("a simulated proxy finds what resources refer to, as Envoy does", () => {
  assert.deepEqual(look(CLUSTER, cluster("a", 3)), { refers: ["a"], vhds: false });
  assert.deepEqual(look(CLUSTER, cluster("a", 3, "b")), { refers: ["b"], vhds: false });
  assert.deepEqual(look(CLUSTER, cluster("a", 0)), { refers: [], vhds: false });
  assert.deepEqual(look(LISTENER, listener), { refers: ["http.80"], vhds: false });
  const routes = (more: object) => encode("envoy.config.route.v3.RouteConfiguration", { name: "r", ...more });
  assert.equal(look(ROUTE, routes({ vhds: { config_source: { ads: {} } } })).vhds, true);
  assert.equal(look(ROUTE, routes({})).vhds, false);
});

Deno.test("a response is read as the codec wrote it, and a content that came before is the same object", () => {
  const encoded = encodeResource(CLUSTER, "a", cluster("a", 3));
  const bytes = encode("envoy.service.discovery.v3.DeltaDiscoveryResponse", {
    type_url: CLUSTER,
    nonce: "n1",
    resources: [{
      name: "a",
      version: encoded.version,
      resource: any("envoy.config.cluster.v3.Cluster", { name: "a", type: 3 }),
    }],
    removed_resources: ["b"],
  });
  const { typeUrl, nonce, resources, removed } = scanResponse(bytes);
  assert.deepEqual([typeUrl, nonce, resources.length, removed], [CLUSTER, "n1", 1, 1]);
  const knowledge = new Knowledge();
  const known = knowledge.read(typeUrl, resources[0]!);
  assert.deepEqual([known.name, known.refers], ["a", ["a"]]);
  assert.equal(knowledge.read(typeUrl, resources[0]!.slice()), known);
});

Deno.test("a profile counts a function's own time once, and waiting not at all", () => {
  const frame = (functionName: string) => ({ functionName, url: "", lineNumber: 0 });
  const times = functionTimes({
    nodes: [
      { id: 1, callFrame: frame("(root)"), children: [2, 4] },
      { id: 2, callFrame: frame("outer"), children: [3] },
      { id: 3, callFrame: frame("inner"), children: [5] },
      { id: 4, callFrame: frame("(idle)") },
      { id: 5, callFrame: frame("outer") },
    ],
    samples: [2, 3, 4, 5],
    timeDeltas: [1000, 2000, 9000, 4000],
  });
  assert.deepEqual(times, [{ name: "outer", self: 5, total: 7 }, { name: "inner", self: 2, total: 6 }]);
});

Deno.test("the cost of an edit is the cost of the middle half, and the most expensive edit is a separate figure", () => {
  const { usual, dearest } = editCost([0.05, 0.31, 0.06, 0.07, 0.01]);
  assert.equal(usual.toFixed(3), "0.060");
  assert.equal(dearest, 0.31);
  assert.equal(editCost([0.01, 0.09, 0.02, 0.03, 0.02, 0.03, 0.5, 0.01, 0.02, 0.02]).usual.toFixed(4), "0.0233");
  assert.deepEqual(editCost([0.2]), { usual: 0.2, dearest: 0.2 });
});
