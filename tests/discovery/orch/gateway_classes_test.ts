/** The built-in GatewayClasses in an orchestrator's API: made when they are missing, and otherwise left alone. */
import assert from "node:assert/strict";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { until } from "../../patience.ts";
import { MemoryApi } from "./memory_api.ts";
import { until as becomes, withOrch } from "./with_orch.ts";

const GROUP = "gateway.networking.k8s.io";
const CLASSES = `/apis/${GROUP}/v1/gatewayclasses`;

const specOf = (api: MemoryApi, name: string) => api.get(CLASSES, name)?.["spec"];
/** The writes of classes, without those of their status, which another part of the server writes at its own time. */
const writes = (api: MemoryApi) =>
  api.writes.filter((one) => one.includes("gatewayclasses") && !one.includes("/status"));

Deno.test("missing classes are made when their definition appears; a removed class comes back", async () => {
  const api = new MemoryApi();
  await withOrch(api, async (server) => {
    api.define("gatewayclasses", GROUP, "GatewayClass", ["v1"]);
    await becomes(server, () => server.store.list("GatewayClass").length === 2);
    assert.deepEqual(specOf(api, "mesh"), {
      controllerName: "mesh.io/gateway-controller",
      description: "The default class of the mesh",
    });
    assert.equal(
      (specOf(api, "mesh-remote") as { controllerName: string }).controllerName,
      "mesh.io/unmanaged-gateway",
    );
    api.drop(CLASSES, "mesh");
    await until("the class", () => writes(api).length === 3 && specOf(api, "mesh") !== undefined);
  });
});

Deno.test("a class that exists is never written, whatever its owner made of it", async () => {
  const api = new MemoryApi();
  api.define("gatewayclasses", GROUP, "GatewayClass", ["v1"]);
  const spec = { controllerName: "mesh.io/gateway-controller", description: "ours, edited" };
  api.put(CLASSES, { metadata: { name: "mesh" }, spec });
  await withOrch(api, async (server) => {
    await becomes(server, () => server.store.get("GatewayClass", "", "mesh-remote") !== undefined);
    api.edit(CLASSES, "mesh", "", { spec: { description: "edited again" } });
    api.drop(CLASSES, "mesh-remote");
    // The other class is a sign that the server has looked.
    await until("the other class", () => specOf(api, "mesh-remote") !== undefined);
    assert.deepEqual(specOf(api, "mesh"), { ...spec, description: "edited again" });
  });
  assert.deepEqual(writes(api), [`POST ${CLASSES}`, `POST ${CLASSES}`]);
});

Deno.test("names come from PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME and PILOT_GATEWAY_API_CONTROLLER_NAME; a refusal is tried again", async () => {
  const api = new MemoryApi();
  api.define("gatewayclasses", GROUP, "GatewayClass", ["v1"]);
  api.refusals.set(`POST ${CLASSES}`, 500);
  await withOrch(api, async () => {
    await until("a refusal", () => writes(api).length > 0);
    api.refusals.clear();
    await until("the class", () => specOf(api, "edge") !== undefined);
    assert.equal((specOf(api, "edge") as { controllerName: string }).controllerName, "example.com/gateways");
    assert.equal(specOf(api, "mesh"), undefined);
  }, {
    settings: {
      PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME: "edge",
      PILOT_GATEWAY_API_CONTROLLER_NAME: "example.com/gateways",
    },
  });
});

Deno.test("PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER=false makes no class", async () => {
  const api = new MemoryApi();
  api.define("gatewayclasses", GROUP, "GatewayClass", ["v1"]);
  await withOrch(api, async () => {
    // With the switch, the server asks for the definition of classes before it asks for locks.
    await until("a lock", () => api.asked.some((one) => one.includes("mesh-gateway-deployment-default")));
    assert.deepEqual(api.asked.filter((one) => decodeURIComponent(one).includes("metadata.name=gatewayclasses")), []);
  }, { settings: { PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER: false } });
  assert.deepEqual(writes(api), []);
});

Deno.test("PILOT_ENABLE_AMBIENT_WAYPOINTS: the class of waypoints is made with the setting alone", async () => {
  const controllers = async (waypoints: boolean) => {
    const api = new MemoryApi();
    api.define("gatewayclasses", GROUP, "GatewayClass", ["v1"]);
    // The class that is made last is a sign that the server has made the others.
    await withOrch(api, async () => await until("the classes", () => writes(api).length === (waypoints ? 3 : 2)), {
      settings: { PILOT_ENABLE_AMBIENT_WAYPOINTS: waypoints },
    });
    return (specOf(api, "mesh-waypoint") as { readonly controllerName?: string } | undefined)?.controllerName;
  };
  assert.deepEqual([await controllers(true), await controllers(false)], ["mesh.io/mesh-controller", undefined]);
});

Deno.test("AMBIENT_ENABLE_MULTI_NETWORK: the class of gateways between networks is made with ambient mode alone", async () => {
  const controllers = async (settings: Partial<SettingsOf<"pilot-discovery">>, classes: number) => {
    const api = new MemoryApi();
    api.define("gatewayclasses", GROUP, "GatewayClass", ["v1"]);
    await withOrch(api, async () => await until("the classes", () => writes(api).length === classes), { settings });
    return (specOf(api, "mesh-east-west") as { readonly controllerName?: string } | undefined)?.controllerName;
  };
  const on = { AMBIENT_ENABLE_MULTI_NETWORK: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true };
  assert.equal(await controllers({ ...on, PILOT_ENABLE_AMBIENT: true }, 4), "mesh.io/eastwest-controller");
  assert.equal(await controllers(on, 3), undefined);
});
