/** The status of Ingresses in a real API server: written with the rights of the manifests, followed, and taken back. */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import type { MeshConfig } from "../../../lib/config/mesh/types.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { OrchObjects } from "../../../lib/discovery/sources/orchestrator.ts";
import { ingressStatus } from "../../../lib/discovery/duties/ingress_status.ts";
import { IngressStatuses } from "../../../lib/ingress/status.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import type { ObjectId, StoredObject } from "../support/server/objects.ts";
import { quickClock } from "../support/scripted_api.ts";
import { everyRightIsNeeded, type Right } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const DEFAULTS = defaultMeshConfig({ systemNamespace: "mesh-system" });

const ingress = (namespace: string, className: string) => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { namespace, name: "web", annotations: { "kubernetes.io/ingress.class": className } },
  spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
});

const gateway = (namespace: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace, name: "mesh-ingressgateway" },
  spec: { type: "LoadBalancer", ports: [{ name: "http", port: 80 }] },
});

/** Follows the server's objects and writes while `run` runs. Default of `writer`: the reading client. */
async function writing(
  client: ApiClient,
  namespace: string,
  run: () => Promise<void>,
  { writer = client, mesh = DEFAULTS }: { readonly writer?: ApiClient; readonly mesh?: MeshConfig } = {},
): Promise<void> {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const [store, facts] = [new ConfigStore(), new FactStore()];
  const onFindings = () => {};
  const target = {
    ...{ objects: (name: string, rank: number) => store.addSource(name, rank), facts: facts.addSource("c", 0) },
    ...{ digestKey: new Uint8Array(32), onFindings },
  };
  const objects = new OrchObjects(client, "c", { namespace: "", kinds: false, services: true }, target, kernel);
  if (mesh.ingressService === "") objects.readNodeAddresses();
  await objects.start();
  const statuses = new IngressStatuses({ facts, mesh, namespace, isOurs: () => true });
  const stop = new AbortController();
  const running = ingressStatus({ client: writer, facts, statuses, log: silentLog().scope("orch") }).run(stop.signal);
  try {
    await run();
  } finally {
    stop.abort();
    await running;
    statuses.stop();
    await objects.stop();
    await kernel.stopper.stop();
  }
}

function addresses(object: StoredObject | undefined): string {
  const { loadBalancer } = (object?.["status"] ?? {}) as { readonly loadBalancer?: { readonly ingress?: unknown } };
  return JSON.stringify(loadBalancer?.ingress ?? []);
}

test("the status of an Ingress follows the addresses of the gateway's service, is not written again, and goes when it leaves", async ({ server, namespace }) => {
  const { objects } = server;
  const id: ObjectId = ingress(namespace, "mesh");
  const become = (what: string, expected: readonly object[]) =>
    until(what, async () => addresses(await objects.get(id)) === JSON.stringify(expected));
  const balanced = (...ingress: readonly object[]) =>
    objects.patch(gateway(namespace), { status: { loadBalancer: { ingress } } }, "status");
  await objects.create(gateway(namespace));
  await objects.create(ingress(namespace, "mesh"));
  await writing(server.client, namespace, async () => {
    await balanced({ ip: "203.0.113.9" });
    await become("the address", [{ ip: "203.0.113.9" }]);
    const { metadata } = (await objects.get(id))!;
    await balanced({ ip: "203.0.113.9" }, { hostname: "edge.example.com" });
    await become("the host name beside it", [{ ip: "203.0.113.9" }, { hostname: "edge.example.com" }]);
    const after = (await objects.get(id))!.metadata;
    assert.notEqual(after.resourceVersion, metadata.resourceVersion);
    await objects.patch(id, { metadata: { labels: { edited: "yes" } } });
    await objects.apply(ingress(namespace, "nginx"));
    await become("nothing, as another class serves it", []);
    await objects.apply(ingress(namespace, "mesh"));
    await become("the addresses again", [{ ip: "203.0.113.9" }, { hostname: "edge.example.com" }]);
  });
  const { metadata: { resourceVersion } } = (await objects.get(id))!;
  await writing(server.client, namespace, async () => {
    await balanced({ ip: "203.0.113.9" }, { hostname: "edge.example.com" });
    await objects.create({
      ...ingress(namespace, "mesh"),
      metadata: { ...ingress(namespace, "mesh").metadata, name: "late" },
    });
    await until(
      "the other one",
      async () => addresses(await objects.get({ ...id, metadata: { namespace, name: "late" } })) !== "[]",
    );
  });
  assert.equal((await objects.get(id))!.metadata.resourceVersion, resourceVersion, "nothing was written again");
});

test("a status that another writer changes at the same time ends as it should, and other Ingresses do not wait", async ({ server, namespace }) => {
  const { objects } = server;
  await objects.create(gateway(namespace));
  await objects.patch(gateway(namespace), { status: { loadBalancer: { ingress: [{ ip: "203.0.113.9" }] } } }, "status");
  await objects.create(ingress(namespace, "mesh"));
  const id: ObjectId = ingress(namespace, "mesh");
  await writing(server.client, namespace, async () => {
    for (let i = 0; i < 20; i++) {
      await objects.patch(id, { status: { loadBalancer: { ingress: [{ ip: `192.0.2.${i}` }] } } }, "status");
      await objects.patch(id, { metadata: { labels: { edit: `${i}` } } });
    }
    await until("ours", async () => addresses(await objects.get(id)) === '[{"ip":"203.0.113.9"}]');
  });
});

test("the account of the manifests may write it; with one verb less it is refused", async ({ server, namespace }) => {
  const { objects } = server;
  await objects.create(gateway(namespace));
  await objects.patch(gateway(namespace), { status: { loadBalancer: { ingress: [{ ip: "203.0.113.9" }] } } }, "status");
  const writes = ({ resource, verb }: Right) => resource.startsWith("ingresses") && verb !== "list" && verb !== "watch";
  await everyRightIsNeeded(server, ["pilot-discovery"], writes, async (as) => {
    const metadata = { ...ingress(namespace, "mesh").metadata, name: as.account };
    await objects.create({ ...ingress(namespace, "mesh"), metadata });
    const id = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { namespace, name: as.account } };
    const run = () => as.until("written", async () => addresses(await objects.get(id)) !== "[]");
    await writing(server.client, namespace, run, { writer: as.client });
    await objects.delete(id);
  }, quickClock(10));
});

test("without a service the status has the external addresses of the nodes of the gateway's pods, and follows changes", async ({ server, namespace }) => {
  const { objects, users } = server;
  const nodeName = `node-${namespace}`;
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName } };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name: "door", labels: { mesh: "edge" } },
    spec: {
      nodeName,
      serviceAccountName: "door",
      automountServiceAccountToken: false,
      containers: [{ name: "p", image: "p" }],
    },
  };
  const at = (address: string) =>
    objects.patch(node, {
      status: { addresses: [{ type: "ExternalIP", address }, { type: "InternalIP", address: "10.0.0.1" }] },
    }, "status");
  await users.account(namespace, "door");
  await objects.create(node);
  await at("203.0.113.1");
  await objects.create(pod);
  await objects.create(ingress(namespace, "mesh"));
  const become = (expected: string) =>
    until(expected, async () => addresses(await objects.get(ingress(namespace, "mesh"))) === expected);
  const mesh = { ...DEFAULTS, ingressService: "", ingressSelector: "edge" };
  await writing(server.client, namespace, async () => {
    await objects.patch(pod, { status: { phase: "Running" } }, "status");
    await become('[{"ip":"203.0.113.1"}]');
    await at("203.0.113.2");
    await become('[{"ip":"203.0.113.2"}]');
    await objects.delete(pod);
    await become("[]");
  }, { mesh });
  await objects.delete(node);
});
