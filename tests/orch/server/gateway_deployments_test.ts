/**
 * Managed Gateways on a real API server: deployed with the rights of the manifests, kept as rendered, and not written
 * again by a server that starts anew.
 */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { keepGatewayClasses } from "../../../lib/discovery/gateways/classes.ts";
import { gatewayDeployments } from "../../../lib/discovery/gateways/deployments.ts";
import { DeployedGateways } from "../../../lib/discovery/gateways/states.ts";
import { OrchObjects } from "../../../lib/discovery/sources/orchestrator.ts";
import { GatewayApiVerdicts } from "../../../lib/gateway_api/groups/verdicts.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { settingsOf } from "../../injection/support.ts";
import { until } from "../../patience.ts";
import { defineGateways } from "../support/open_definition.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { ObjectId, StoredObject } from "../support/server/objects.ts";
import { everyRightIsNeeded, type Right } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();
const API = "gateway.networking.k8s.io/v1";
const CLASSES = {
  controllerName: "mesh.io/gateway-controller",
  defaultClass: "mesh",
  remote: true,
  waypoints: true,
  eastWest: true,
};

/** Follows the server's objects, and deploys the Gateways of a namespace while `run` runs. */
async function deploying(
  { client }: ApiServer,
  namespace: string,
  run: () => Promise<unknown>,
  { as = client, states = new DeployedGateways() }: {
    readonly as?: ApiClient;
    readonly states?: DeployedGateways;
  } = {},
): Promise<void> {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const log = silentLog().scope("orch");
  const [store, facts] = [new ConfigStore(), new FactStore()];
  const target = {
    ...{ objects: (name: string, rank: number) => store.addSource(name, rank), facts: facts.addSource("c", 0) },
    ...{ digestKey: new Uint8Array(32), onFindings: () => {} },
  };
  const scope = { namespace, kinds: true, services: false, gatewayApi: "stable" } as const;
  const objects = new OrchObjects(client, "c", scope, target, kernel);
  await objects.start();
  const stop = new AbortController();
  const settings = settingsOf({});
  const running = gatewayDeployments({
    ...{ client: as, store, facts, verdicts: new GatewayApiVerdicts(), systemNamespace: "mesh-system", namespace, log },
    ...{ settings: () => settings, onSettings: () => () => {}, classes: CLASSES, allowsManual: true },
    ...{ revision: "", rollPause: 0, states },
  }).run(stop.signal);
  try {
    await run();
  } finally {
    stop.abort();
    await running;
    await objects.stop();
    await kernel.stopper.stop();
  }
}

const gateway = (namespace: string, name = "door", spec: object = {}) => ({
  ...{ apiVersion: API, kind: "Gateway", metadata: { namespace, name } },
  spec: { gatewayClassName: "mesh", listeners: [{ name: "http", port: 80, protocol: "HTTP" }], ...spec },
});

const parametersRef = { group: "", kind: "ConfigMap", name: "options" };

const options = (namespace: string, data: Readonly<Record<string, string>>) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "options" }, data },
});

/** Overlays that ask for all kinds of objects, with values that an API server writes in its own form. */
const EVERYTHING = {
  deployment: `
    spec:
      template:
        spec:
          terminationGracePeriodSeconds: 5
          containers:
            - name: mesh-proxy
              resources: { limits: { cpu: 1500m, memory: 1024Mi }, requests: { cpu: 1000m } }
              ports: [{ containerPort: 8443, name: https }]`,
  service: "spec: { externalTrafficPolicy: Local }",
  horizontalPodAutoscaler: "spec: { maxReplicas: 3, minReplicas: 1 }",
  podDisruptionBudget: "spec: { minAvailable: 1 }",
};

/** The deployed objects of a Gateway. */
const deployed = (namespace: string, name = "door-mesh") => {
  const of = (apiVersion: string, kind: string): ObjectId => ({ apiVersion, kind, metadata: { namespace, name } });
  return {
    ...{ account: of("v1", "ServiceAccount"), deployment: of("apps/v1", "Deployment"), service: of("v1", "Service") },
    autoscaler: of("autoscaling/v2", "HorizontalPodAutoscaler"),
    budget: of("policy/v1", "PodDisruptionBudget"),
  };
};

async function versions({ objects }: ApiServer, ids: readonly ObjectId[]): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (const id of ids) found.push((await objects.get(id))?.metadata.resourceVersion);
  return found;
}

const ports = (service: StoredObject | undefined) =>
  ((service?.["spec"] as { readonly ports?: readonly { readonly port: number }[] })?.ports ?? []).map(({ port }) =>
    port
  );

test("a Gateway with overlays of all kinds is deployed, follows changes, and a server that starts anew writes nothing", async ({ server, namespace }) => {
  await defineGateways(server);
  const { objects } = server;
  const ids = deployed(namespace);
  const exist = async (all: readonly ObjectId[]) => (await versions(server, all)).every((one) => one !== undefined);
  await objects.apply(options(namespace, EVERYTHING));
  const { metadata: { uid } } = await objects.create(gateway(namespace, "door", { infrastructure: { parametersRef } }));
  await deploying(server, namespace, async () => {
    await until("all objects", () => exist(Object.values(ids)));
    for (const id of Object.values(ids)) {
      const owners = (await objects.get(id))!.metadata["ownerReferences"] as readonly { readonly uid: string }[];
      assert.deepEqual(owners.map((one) => one.uid), [uid]);
    }
    assert.deepEqual(ports(await objects.get(ids.service)), [15021, 80]);
    const listeners = [{ name: "https", port: 443, protocol: "HTTPS" }];
    await objects.apply(gateway(namespace, "door", { infrastructure: { parametersRef }, listeners }));
    await until("the port", async () => ports(await objects.get(ids.service)).includes(443));
    assert.deepEqual(ports(await objects.get(ids.service)), [15021, 443]);
  });
  const before = await versions(server, Object.values(ids));
  await deploying(server, namespace, async () => {
    await objects.create(gateway(namespace, "late"));
    await until("the later Gateway", () => exist([deployed(namespace, "late-mesh").service]));
  });
  assert.deepEqual(await versions(server, Object.values(ids)), before);
});

test("edits by hand are undone, other managers keep their fields, and a removed object comes back", async ({ server, namespace }) => {
  await defineGateways(server);
  const { objects } = server;
  const { service, deployment } = deployed(namespace);
  await objects.create(gateway(namespace));
  await deploying(server, namespace, async () => {
    await until("the Deployment", async () => await objects.get(deployment) !== undefined);
    await until("the Service", async () => await objects.get(service) !== undefined);
    await objects.patch(deployment, { spec: { replicas: 4, template: { spec: { serviceAccountName: "other" } } } });
    const spec = async () =>
      (await objects.get(deployment))?.["spec"] as {
        readonly replicas: number;
        readonly template: { readonly spec: { readonly serviceAccountName: string } };
      };
    await until("the account", async () => (await spec()).template.spec.serviceAccountName === "door-mesh");
    assert.equal((await spec()).replicas, 4);
    await objects.delete(service);
    await until("the Service again", async () => await objects.get(service) !== undefined);
  });
});

test("an object of somebody else stays as it is, and the others are made; when it goes, the Gateway gets its own", async ({ server, namespace }) => {
  await defineGateways(server);
  const { objects } = server;
  const { service, deployment } = deployed(namespace);
  const theirs = { ...service, spec: { selector: { app: "theirs" }, ports: [{ port: 1 }] } };
  const { metadata: { resourceVersion } } = await objects.create(theirs);
  await objects.create(gateway(namespace));
  // Only the time until the server looks again is short.
  const after: Clock["after"] = (ms, fire) => systemClock.after(ms === 5 * 60_000 ? 50 : ms, fire);
  const quick = new ApiClient({
    ...{ access: { current: () => server.access, refused: () => {} }, clock: { ...systemClock, after } },
  });
  await deploying(server, namespace, async () => {
    await until("the Deployment", async () => await objects.get(deployment) !== undefined);
    await objects.create(gateway(namespace, "late"));
    const late = deployed(namespace, "late-mesh").service;
    await until("the later Gateway", async () => await objects.get(late) !== undefined);
    assert.deepEqual(await versions(server, [service]), [resourceVersion]);
    await objects.delete(service);
    await until("the Gateway's own Service", async () => ports(await objects.get(service)).includes(80));
  }, { as: quick });
});

test("an account that a Gateway names by annotation may be another Gateway's", async ({ server, namespace }) => {
  await defineGateways(server);
  const { objects } = server;
  const { account } = deployed(namespace);
  const states = new DeployedGateways();
  await objects.create(gateway(namespace));
  await deploying(server, namespace, async () => {
    await until("the account", async () => await objects.get(account) !== undefined);
    const before = await versions(server, [account]);
    const other = gateway(namespace, "other");
    const annotations = { "gateway.mesh.io/service-account": "door-mesh" };
    await objects.create({ ...other, metadata: { ...other.metadata, annotations } });
    await until(
      "the other Gateway",
      () => states.all().some(({ gateway, state }) => gateway === `${namespace}/other` && state === "applied"),
    );
    assert.deepEqual(await versions(server, [account]), before);
  }, { states });
});

test("the rights of the manifests are enough to deploy a Gateway; without one of them its request is refused", async ({ server }) => {
  await defineGateways(server);
  const { objects } = server;
  const DEPLOYED = ["deployments", "horizontalpodautoscalers", "poddisruptionbudgets"];
  const SHARED = ["services", "serviceaccounts"];
  const needs = ({ resource, verb }: Right) =>
    DEPLOYED.includes(resource) || (SHARED.includes(resource) && !["list", "watch"].includes(verb));
  await everyRightIsNeeded(server, ["pilot-discovery"], needs, async (as) => {
    const namespace = await server.namespace();
    const { deployment, service, autoscaler, budget } = deployed(namespace);
    await objects.apply(options(namespace, EVERYTHING));
    await objects.create(gateway(namespace, "door", { infrastructure: { parametersRef } }));
    await deploying(server, namespace, async () => {
      if (as.without?.verb === "watch") await as.refused;
      for (const id of [deployment, service, autoscaler, budget]) {
        await as.until(id.kind, async () => await objects.get(id) !== undefined);
      }
      await objects.apply(options(namespace, {}));
      for (const id of [autoscaler, budget]) {
        await as.until(`the end of the ${id.kind}`, async () => await objects.get(id) === undefined);
      }
    }, { as: as.client });
  });
});

test("the rights of the manifests are enough to make missing classes; without the right the request is refused", async ({ server }) => {
  await defineGateways(server);
  const mesh = { apiVersion: API, kind: "GatewayClass", metadata: { name: "mesh" } };
  const isThere = async () => await server.objects.get(mesh) !== undefined;
  const needs = ({ resource, verb }: Right) => resource === "gatewayclasses" && verb === "create";
  await everyRightIsNeeded(server, ["pilot-discovery"], needs, async (as) => {
    if (await isThere()) await server.objects.delete(mesh);
    const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
    const log = silentLog().scope("orch");
    keepGatewayClasses({ client: as.client, store: new ConfigStore(), classes: CLASSES, log }, kernel);
    await as.until("the class", isThere);
    await kernel.stopper.stop();
  });
});

test("a waypoint is deployed under the names of its Gateway, settles, and leaves a Service of that name alone", async ({ server, namespace }) => {
  await defineGateways(server);
  const { objects } = server;
  const listeners = [{ name: "mesh", port: 15008, protocol: "HBONE" }];
  const spec = { gatewayClassName: "mesh-waypoint", listeners, infrastructure: { parametersRef } };
  const { service, deployment, account, autoscaler, budget } = deployed(namespace, "way");
  const ids = [service, deployment, account, autoscaler, budget];
  const { horizontalPodAutoscaler, podDisruptionBudget } = EVERYTHING;
  await objects.apply(options(namespace, { horizontalPodAutoscaler, podDisruptionBudget }));
  const cart = deployed(namespace, "cart");
  await objects.create({ ...cart.service, spec: { selector: { app: "cart" }, ports: [{ port: 80 }] } });
  const before = await versions(server, [cart.service]);
  await objects.create(gateway(namespace, "way", spec));
  await objects.create(gateway(namespace, "cart", spec));
  const states = new DeployedGateways();
  const stateOf = (name: string) => states.all().find((one) => one.gateway === `${namespace}/${name}`)?.state;
  await deploying(server, namespace, async () => {
    await until("both Gateways", () => stateOf("way") === "applied" && stateOf("cart") === "foreign");
  }, { states });
  assert.deepEqual(ports(await objects.get(service)), [15021, 15008]);
  assert.equal((await objects.get(service))!.metadata.labels?.["gateway.mesh.io/managed"], "mesh.io-mesh-controller");
  assert.deepEqual(await versions(server, [cart.service]), before);
  const settled = await versions(server, ids);
  await deploying(server, namespace, async () => {
    await until("the state", () => stateOf("way") === "applied" && stateOf("cart") === "foreign");
  }, { states });
  assert.deepEqual(await versions(server, ids), settled, "a server that starts anew writes nothing");
});

test("a gateway between networks is deployed with a balancer and its network, and settles", async ({ server, namespace }) => {
  await defineGateways(server);
  const { objects } = server;
  const listeners = [{ name: "mesh", port: 15008, protocol: "HBONE" }];
  const made = gateway(namespace, "border", { gatewayClassName: "mesh-east-west", listeners });
  await objects.create({ ...made, metadata: { ...made.metadata, labels: { "topology.istio.io/network": "west" } } });
  const { service, deployment, account } = deployed(namespace, "border");
  const states = new DeployedGateways();
  const isApplied = () => states.all().some((one) => one.gateway.endsWith("/border") && one.state === "applied");
  await deploying(server, namespace, () => until("the objects", isApplied), { states });
  const found = (await objects.get(service))!;
  assert.deepEqual(ports(found), [15021, 15008]);
  assert.equal((found["spec"] as { readonly type?: string }).type, "LoadBalancer");
  for (const id of [service, deployment, account]) {
    const { labels = {} } = (await objects.get(id))!.metadata;
    assert.deepEqual(
      [labels["topology.mesh.io/network"], labels["gateway.mesh.io/managed"]],
      ["west", "mesh.io-eastwest-controller"],
    );
  }
  const settled = await versions(server, [service, deployment, account]);
  await deploying(server, namespace, () => until("the state", isApplied), { states });
  assert.deepEqual(await versions(server, [service, deployment, account]), settled);
});
