/** InferencePools of an API: read when the setting is on and the definition is there, and told about by their status. */
import assert from "node:assert/strict";
import { MemoryApi } from "./memory_api.ts";
import { openLog, withOrch } from "./with_orch.ts";

const GATEWAY_API = "gateway.networking.k8s.io";
const INFERENCE = "inference.networking.k8s.io";
const ON = { ENABLE_GATEWAY_API_INFERENCE_EXTENSION: true };

/** An API with Gateway `shop/edge`, whose HTTPRoute leads to pool `shop/models`. */
function inferenceApi(): MemoryApi {
  const api = new MemoryApi();
  api.define("gateways", GATEWAY_API, "Gateway", ["v1"]);
  api.define("httproutes", GATEWAY_API, "HTTPRoute", ["v1"]);
  const put = (group: string, plural: string, name: string, spec: object) =>
    api.put(`/apis/${group}/v1/${plural}`, { metadata: { name, namespace: "shop", generation: 1 }, spec });
  put(GATEWAY_API, "gateways", "edge", {
    gatewayClassName: "mesh",
    listeners: [{ name: "http", port: 80, protocol: "HTTP" }],
  });
  put(GATEWAY_API, "httproutes", "web", {
    parentRefs: [{ name: "edge" }],
    rules: [{ backendRefs: [{ group: INFERENCE, kind: "InferencePool", name: "models" }] }],
  });
  return api;
}

function putPool(api: MemoryApi): void {
  api.put(`/apis/${INFERENCE}/v1/inferencepools`, {
    metadata: { name: "models", namespace: "shop", generation: 1 },
    spec: {
      selector: { matchLabels: { app: "models" } },
      targetPorts: [{ number: 8000 }],
      endpointPickerRef: { name: "picker", port: { number: 9002 } },
    },
  });
}

/** Each entry of the status: `edge Accepted True, ResolvedRefs True`. */
function entries(api: MemoryApi): string[] | undefined {
  const { parents } = api.get(`/apis/${INFERENCE}/v1/inferencepools`, "models", "shop")?.["status"] as {
    parents?: { parentRef: { name: string }; conditions: { type: string; status: string }[] }[];
  } ?? {};
  return parents?.map(({ parentRef: { name }, conditions }) =>
    `${name} ${conditions.map(({ type, status }) => `${type} ${status}`).join(", ")}`
  );
}

Deno.test("the status of a pool follows its definition, its endpoint picker and its routes", async () => {
  const api = inferenceApi();
  await withOrch(api, async () => {
    api.define("inferencepools", INFERENCE, "InferencePool", ["v1"]);
    putPool(api);
    await api.becomes(() => `${entries(api)}` === "edge Accepted True, ResolvedRefs False");
    const spec = { clusterIP: "10.0.0.9", ports: [{ port: 9002 }] };
    api.put("/api/v1/services", { metadata: { name: "picker", namespace: "shop" }, spec });
    await api.becomes(() => `${entries(api)}` === "edge Accepted True, ResolvedRefs True");
    api.drop(`/apis/${GATEWAY_API}/v1/httproutes`, "web", "shop");
    await api.becomes(() => entries(api)?.length === 0);
  }, { namespace: "mesh-system", settings: ON });
});

Deno.test("without the setting no pool is read; with the setting a missing definition is named", async () => {
  const kinds = async (settings: object) => {
    const { log, line } = openLog();
    const found = line(/definitions of the kinds/);
    await withOrch(inferenceApi(), async () => void await found, { namespace: "mesh-system", settings, log });
    return await found;
  };
  assert.match(await kinds(ON), /InferencePool/);
  assert.doesNotMatch(await kinds({}), /InferencePool/);
});
