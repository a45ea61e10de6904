/** Managed Gateways in an orchestrator's API get their account, Deployment and Service, and keep them. */
import assert from "node:assert/strict";
import {
  becomes,
  gateway,
  GATEWAYS,
  GROUP,
  isDeployed,
  LISTENER,
  map,
  MAPS,
  newApi,
  PATHS,
  serving,
  writes,
} from "./deployed.ts";
import type { MemoryApi } from "./memory_api.ts";
import type { ApiObject } from "./stored_objects.ts";
import { openLog, withOrch } from "./with_orch.ts";

const ports = (api: MemoryApi) =>
  ((api.get(PATHS.service, "door-mesh", "shop")?.["spec"] as { ports?: { port: number }[] })?.ports ?? [])
    .map(({ port }) => port);

Deno.test("a managed Gateway gets account, Deployment and Service that belong to it; a change of listeners changes the Service alone", async () => {
  const api = newApi();
  api.put(GATEWAYS, gateway());
  await serving(api, async () => {
    await becomes(api, "the deployment", () => isDeployed(api));
    const { uid } = api.get(GATEWAYS, "door", "shop")!.metadata;
    for (const path of [PATHS.account, PATHS.deployment, PATHS.service]) {
      assert.deepEqual(api.get(path, "door-mesh", "shop")!.metadata["ownerReferences"], [
        { apiVersion: `${GROUP}/v1`, kind: "Gateway", name: "door", uid },
      ]);
    }
    assert.deepEqual(ports(api), [15021, 80]);
    const before = writes(api).length;
    assert.equal(before, 3);
    api.edit(GATEWAYS, "door", "shop", { spec: { listeners: [LISTENER, { ...LISTENER, name: "more", port: 8080 }] } });
    await becomes(api, "the port", () => ports(api).includes(8080));
    assert.deepEqual(writes(api).slice(before), ["PATCH /api/v1/namespaces/shop/services/door-mesh"]);
  });
});

Deno.test("a server that starts anew applies nothing", async () => {
  const api = newApi();
  api.put(GATEWAYS, gateway());
  let before = 0;
  await serving(api, async () => {
    await becomes(api, "the deployment", () => isDeployed(api));
    before = writes(api).length;
  });
  await serving(api, async () => {
    api.put(GATEWAYS, gateway({}, { name: "late" }));
    // A later Gateway is looked at after the earlier one.
    await becomes(api, "the late deployment", () => isDeployed(api, "late-mesh"));
  });
  assert.deepEqual(writes(api).slice(before).filter((one) => !one.endsWith("late-mesh")), []);
});

Deno.test("an edited field and a removed object come back", async () => {
  const api = newApi();
  api.put(GATEWAYS, gateway());
  await serving(api, async () => {
    await becomes(api, "the deployment", () => isDeployed(api));
    api.edit(PATHS.service, "door-mesh", "shop", { spec: { type: "NodePort" } });
    const type = () => (api.get(PATHS.service, "door-mesh", "shop")?.["spec"] as { type?: string })?.type;
    await becomes(api, "the type", () => type() === "LoadBalancer");
    api.drop(PATHS.deployment, "door-mesh", "shop");
    await becomes(api, "the Deployment", () => isDeployed(api));
  });
});

Deno.test("objects of others under the same names stay as they are, and the log says so", async () => {
  const api = newApi();
  const theirs: ApiObject = {
    metadata: { name: "door-mesh", namespace: "shop" },
    spec: { selector: { app: "theirs" }, ports: [{ port: 1 }] },
  };
  api.put(PATHS.service, theirs);
  api.put(GATEWAYS, gateway());
  const { log, line } = openLog();
  await serving(api, async () => {
    await becomes(api, "the Deployment", () => api.get(PATHS.deployment, "door-mesh", "shop") !== undefined);
    assert.match(
      await line(/somebody else's/),
      /Service door-mesh: it exists already and lacks the label gateway.mesh.io\/managed/,
    );
    assert.deepEqual(api.get(PATHS.service, "door-mesh", "shop")!["spec"], theirs["spec"]);
    api.drop(PATHS.service, "door-mesh", "shop");
    api.edit(GATEWAYS, "door", "shop", { metadata: { labels: { a: "b" } } });
    await becomes(api, "the Service", () => ports(api).includes(80));
  }, { log });
});

Deno.test("overlays of the class and of the Gateway shape the objects; an autoscaler goes with its overlay", async () => {
  const api = newApi();
  const ofClass = { "gateway.mesh.io/defaults-for-class": "mesh" };
  api.put(MAPS, map("defaults", { deployment: "spec: { minReadySeconds: 7 }" }, "mesh-system", ofClass));
  api.put(MAPS, map("options", { horizontalPodAutoscaler: "spec: { maxReplicas: 4 }" }));
  const parametersRef = { group: "", kind: "ConfigMap", name: "options" };
  api.put(GATEWAYS, gateway({ infrastructure: { parametersRef } }));
  const spec = (path: string) => api.get(path, "door-mesh", "shop")?.["spec"] as Readonly<Record<string, unknown>>;
  await serving(api, async () => {
    await becomes(api, "the autoscaler", () => spec(PATHS.autoscaler)?.["maxReplicas"] === 4);
    assert.equal(spec(PATHS.deployment)["minReadySeconds"], 7);
    api.put(MAPS, map("options", { podDisruptionBudget: "spec: { minAvailable: 1 }" }));
    await becomes(api, "the budget", () => spec(PATHS.budget)?.["minAvailable"] === 1);
    await becomes(api, "the end of the autoscaler", () => spec(PATHS.autoscaler) === undefined);
    api.put(MAPS, map("defaults", { deployment: "spec: { minReadySeconds: 8 }" }, "mesh-system", ofClass));
    await becomes(api, "the new default", () => spec(PATHS.deployment)["minReadySeconds"] === 8);
  });
});

Deno.test("parameters that do not exist are said once, and nothing is deployed until they do", async () => {
  const api = newApi();
  const parametersRef = { group: "", kind: "ConfigMap", name: "options" };
  api.put(GATEWAYS, gateway({ infrastructure: { parametersRef } }));
  const { log, line } = openLog();
  await serving(api, async () => {
    assert.match(await line(/a Gateway is not deployed/), /ConfigMap options, expected one that exists/);
    assert.deepEqual(writes(api), []);
    api.put(MAPS, map("options", {}));
    await becomes(api, "the deployment", () => isDeployed(api));
  }, { log });
});

Deno.test("parameters with a mistake are a condition of the Gateway, and end with the mistake", async () => {
  const api = newApi();
  const parametersRef = { group: "", kind: "ConfigMap", name: "options" };
  api.put(MAPS, map("options", { deployments: "spec: {}" }));
  api.put(GATEWAYS, gateway({ infrastructure: { parametersRef } }, { generation: 1 }));
  const accepted = () => {
    const { conditions = [] } = (api.get(GATEWAYS, "door", "shop")?.["status"] ?? {}) as {
      readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
    };
    return conditions.find(({ type }) => type === "Accepted");
  };
  await serving(api, async () => {
    await becomes(api, "the condition", () => accepted()?.reason === "InvalidParameters");
    assert.match(
      accepted()!.message,
      /ConfigMap options: got entry "deployments", expected serviceAccount, deployment, service/,
    );
    assert.deepEqual(writes(api), []);
    api.put(MAPS, map("options", { deployment: "spec: {}" }));
    await becomes(api, "the other condition", () => accepted()?.reason === "Accepted");
    await becomes(api, "the deployment", () => isDeployed(api));
  });
});

Deno.test("a Gateway of another revision, of another class or with a host name is not deployed; a tag leads to its revision", async () => {
  const api = newApi();
  api.put("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
    metadata: { name: "mesh-revision-tag-prod", labels: { "mesh.io/rev": "blue", "mesh.io/tag": "prod" } },
  });
  api.put(GATEWAYS, gateway({}, { name: "canary", labels: { "mesh.io/rev": "canary" } }));
  api.put(GATEWAYS, gateway({}, { name: "unlabelled" }));
  api.put(GATEWAYS, gateway({ gatewayClassName: "other" }, { name: "other", labels: { "mesh.io/rev": "blue" } }));
  api.put(
    GATEWAYS,
    gateway({ addresses: [{ type: "Hostname", value: "edge" }] }, {
      ...{ name: "manual", labels: { "mesh.io/rev": "blue" } },
    }),
  );
  api.put(GATEWAYS, gateway({}, { name: "tagged", labels: { "mesh.io/rev": "prod" } }));
  await serving(api, async () => {
    await becomes(api, "the deployment", () => isDeployed(api, "tagged-mesh"));
    assert.deepEqual(writes(api).filter((one) => !one.endsWith("/tagged-mesh")), []);
  }, { settings: { REVISION: "blue" } });
});

Deno.test("listeners of an accepted ListenerSet get ports of the Service, and lose them with the set", async () => {
  const api = newApi();
  const SETS = `/apis/${GROUP}/v1/listenersets`;
  api.define("listenersets", GROUP, "ListenerSet", ["v1"]);
  api.put(GATEWAYS, gateway({ allowedListeners: { namespaces: { from: "Same" } } }));
  await serving(api, async () => {
    await becomes(api, "the deployment", () => isDeployed(api));
    api.put(SETS, {
      metadata: { name: "more", namespace: "shop" },
      spec: { parentRef: { name: "door" }, listeners: [{ name: "more", port: 9000, protocol: "HTTP" }] },
    });
    await becomes(api, "the port", () => ports(api).includes(9000));
    api.drop(SETS, "more", "shop");
    await becomes(api, "the end of the port", () => !ports(api).includes(9000));
    assert.deepEqual(ports(api), [15021, 80]);
  });
});

Deno.test("a class of our controller under another name is deployed when the class appears", async () => {
  const api = newApi();
  api.put(GATEWAYS, gateway({ gatewayClassName: "edge" }));
  api.put(GATEWAYS, gateway({}, { name: "other" }));
  await serving(api, async () => {
    await becomes(api, "the other Gateway", () => isDeployed(api, "other-mesh"));
    assert.equal(isDeployed(api, "door-edge"), false);
    const spec = { controllerName: "mesh.io/gateway-controller" };
    api.put(`/apis/${GROUP}/v1/gatewayclasses`, { metadata: { name: "edge" }, spec });
    await becomes(api, "the deployment", () => isDeployed(api, "door-edge"));
  });
});

Deno.test("ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT=false deploys a Gateway with a host name too", async () => {
  const api = newApi();
  api.put(GATEWAYS, gateway({ addresses: [{ type: "Hostname", value: "edge" }] }));
  await serving(api, async () => await becomes(api, "the deployment", () => isDeployed(api)), {
    settings: { ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT: false },
  });
});

Deno.test("PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER=false deploys nothing, and reads no Deployments", async () => {
  const api = newApi();
  api.put(GATEWAYS, gateway());
  await serving(api, async () => {
    await becomes(api, "the tags", () => api.asked.some((one) => one.startsWith("list /api/v1/configmaps")));
    assert.deepEqual(api.asked.filter((one) => one.includes(PATHS.deployment)), []);
  }, { settings: { PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER: false } });
  assert.deepEqual(writes(api), []);
});

Deno.test("the lock of deployments belongs to the revision", async () => {
  const api = newApi();
  const LEASES = "/apis/coordination.k8s.io/v1/leases";
  await withOrch(api, async () => {
    await becomes(api, "the lock", () => api.get(LEASES, "mesh-gateway-deployment-blue", "mesh-system") !== undefined);
  }, { settings: { REVISION: "blue" } });
});
