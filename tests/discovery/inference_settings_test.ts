/** ENABLE_GATEWAY_API_INFERENCE_EXTENSION: routes to InferencePools, with and without the setting. */
import assert from "node:assert/strict";
import { wayOf } from "../offline/way.ts";
import { edgeGateway, httpRoute } from "../gateway_api/folder_world.ts";
import { pickerEntry, pool, poolWorkload, toPool, WITH_POOLS } from "../gateway_api/inference_world.ts";

Deno.test("ENABLE_GATEWAY_API_INFERENCE_EXTENSION: routes lead to InferencePools; without it they answer 500", async () => {
  const text = edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]) +
    pool("models", "models", [8000], "picker") +
    poolWorkload("models") + pickerEntry("picker") + httpRoute("web", [{ backendRefs: [toPool("models")] }]) + `
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: shop }
spec: { address: 10.0.0.9, labels: { gateway.networking.k8s.io/gateway-name: edge } }
`;
  const door = "router~10.0.0.9~door.shop~shop.svc.cluster.local";
  const at = async (settings: object) => (await wayOf(text, door, "http://x/", settings)).split(" > ")[1];
  assert.deepEqual([await at(WITH_POOLS), await at({})], ["127.0.0.1:8000", "500"]);
});
