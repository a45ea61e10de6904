import assert from "node:assert/strict";
import { nodeCluster, nodeLocality } from "../../../lib/agent/node/agent_node.ts";
import { parseDownwardFile } from "../../../lib/agent/node/downward_file.ts";
import { bootstrapOfCase } from "../bootstrap/cases.ts";
import { nodeMetadata } from "../../../lib/agent/node/node_metadata.ts";

Deno.test("files of the orchestrator are read with Go's quotes; a line that is not finished is left out", () => {
  const text = 'app="cart"\nnote="two\\nlines \\"quoted\\" \\u00e9"\nempty=""\nbroken="no end\nno equals\n';
  assert.deepEqual(parseDownwardFile(text), { app: "cart", note: 'two\nlines "quoted" é', empty: "" });
});

Deno.test("a workload's cluster is its own name, else its service, else its workload", () => {
  const cluster = (
    proxy: Parameters<typeof nodeCluster>[0]["proxy"],
    labels: Record<string, string>,
    flag = "mesh-proxy",
    workload = "",
  ) => nodeCluster({ proxy, flag, labels, workload, namespace: "shop" });
  assert.equal(cluster({ serviceCluster: "mesh-proxy" }, { app: "cart" }), "cart.shop");
  assert.equal(cluster({ serviceCluster: "mesh-proxy" }, {}, "mesh-proxy", "cart-v1"), "cart-v1.shop");
  assert.equal(cluster({ serviceCluster: "mesh-proxy" }, {}), "mesh-proxy.shop");
  assert.equal(cluster({ serviceCluster: "mine" }, { app: "cart" }), "mine");
  assert.equal(cluster({ serviceCluster: "mine" }, { app: "cart" }, "by-flag"), "by-flag");
  const canonical = { app: "cart", "service.istio.io/canonical-name": "basket" };
  assert.equal(cluster({ tracingServiceName: "CANONICAL_NAME_ONLY" }, canonical), "basket");
  assert.equal(cluster({ tracingServiceName: "CANONICAL_NAME_AND_NAMESPACE" }, { app: "cart" }), "cart.shop");
  assert.equal(cluster({ tracingServiceName: "APP_LABEL_AND_NAMESPACE" }, canonical), "cart.shop");
});

Deno.test("dots in the label of the locality are slashes, unless it has slashes", () => {
  assert.deepEqual(nodeLocality({ "mesh-locality": "eu.west.a.b" }), { region: "eu", zone: "west", sub_zone: "a/b" });
  assert.deepEqual(nodeLocality({ "istio-locality": "eu-1.5/west" }), { region: "eu-1.5", zone: "west" });
  assert.deepEqual(nodeLocality({ app: "cart" }), {});
});

Deno.test("a locality label of a workload wins over its cloud's locality", () => {
  const cloud = { metadata: {}, locality: { region: "europe-west1" } };
  const locality = (labels: Record<string, string>) => {
    const { node } = bootstrapOfCase({ cloud, labels }).config as { node: { locality: unknown } };
    return node.locality;
  };
  assert.deepEqual(locality({}), { region: "europe-west1" });
  assert.deepEqual(locality({ "istio-locality": "eu.west" }), { region: "eu", zone: "west" });
});

Deno.test("a server learns of an agent that leaves Wasm modules to the proxy", () => {
  const reported = (converts: boolean) => {
    const settings = { MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION: converts };
    const { node } = bootstrapOfCase({ settings }).config as { node: { metadata: Record<string, unknown> } };
    return node.metadata.WASM_REMOTE_LOAD_CONVERSION;
  };
  assert.deepEqual([reported(true), reported(false)], [undefined, "false"]);
});

Deno.test("a variable with malformed JSON is reported, and the other variables apply", () => {
  const { metadata, problems } = nodeMetadata({
    variables: {
      MESH_METAJSON_A: "[1]",
      MESH_METAJSON_B: "{",
      MESH_METAJSON_C: '{"K":"v"}',
      MESH_META_X: "y",
      PATH: "/",
    },
    ...{ labels: {}, annotations: {}, addresses: ["10.0.0.1"], name: "n", namespace: "ns", serviceAccount: "" },
    ...{ version: "1", proxyConfig: {}, defaults: { X: "default", Z: "default" } },
  });
  assert.deepEqual(problems.map(({ variable }) => variable), ["MESH_METAJSON_A", "MESH_METAJSON_B"]);
  assert.equal(metadata.K, "v");
  assert.equal(metadata.X, "y");
  assert.equal(metadata.Z, "default");
  assert(!("PATH" in metadata) && !("SERVICE_ACCOUNT" in metadata));
});
