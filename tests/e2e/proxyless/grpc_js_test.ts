/** An application with gRPC for Node, without a proxy: subsets, shares, faults and timeouts apply to calls. */
import assert from "node:assert/strict";
import { echoServer, startClient } from "../../agent/support/grpc_process.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../../../lib/xds/protocol/types.ts";
import { type SyncRow, TestMesh } from "../support/mesh.ts";
import { echoRules, echoService, TARGET, writeBootstrap } from "./world.ts";
import { until } from "../../patience.ts";

const as = (user: string, method = "Say") => JSON.stringify({ method, metadata: { user }, text: "" });

Deno.test("calls of gRPC for Node go to the subset, by the shares, into the fault and to the end of their time that rules say, and follow an edit", async () => {
  await using v1 = await echoServer("v1");
  await using v2 = await echoServer("v2");
  const files = {
    "service.yaml": echoService({ v1: v1.port, v2: v2.port }),
    "rules.yaml": echoRules({ v1: 30, v2: 70 }),
  };
  await using mesh = await TestMesh.start({ files });
  const bootstrap = await writeBootstrap(mesh.folder, `127.0.0.1:${mesh.server.ports.grpc}`);
  await using client = startClient(bootstrap, TARGET);
  assert.equal(await client.call(as("tester")), "answer v2");
  const counts = { v1: 0, v2: 0 };
  for (let i = 0; i < 200; i++) {
    const [, version] = (await client.call(as("anyone"))).split(" ");
    counts[version === "v1" ? "v1" : "v2"]++;
  }
  // The expectation is 60 of 200. Less than 25 or more than 95 happens once in ten million runs.
  assert.ok(counts.v1 > 25 && counts.v1 < 95, JSON.stringify(counts));
  assert.match(await client.call(as("unlucky")), /^error 15 DATA_LOSS/);
  assert.match(await client.call(as("answered")), /^error 7 PERMISSION_DENIED/);
  const before = performance.now();
  assert.match(await client.call(as("anyone", "Wait")), /^error 4 DEADLINE_EXCEEDED/);
  assert.ok(performance.now() - before < 10_000, "the rule's timeout ends it, not the client's 20 s");

  await mesh.write("rules.yaml", echoRules({ v1: 0, v2: 100 }));
  let row = 0;
  await until("all calls go to v2", async () => {
    row = await client.call(as("anyone")) === "answer v2" ? row + 1 : 0;
    return row > 30;
  });
  const [state, ...others] = await mesh.page<SyncRow[]>("syncz");
  assert.deepEqual(others, []);
  const watches = Object.entries(state!.resources);
  assert.deepEqual(watches.flatMap(([type, { lastError }]) => lastError === undefined ? [] : [type, lastError]), []);
  assert.deepEqual(watches.map(([type]) => type).sort(), [CLUSTER, ENDPOINTS, LISTENER, ROUTE]);
});
