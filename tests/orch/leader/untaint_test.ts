/** Nodes lose the plugin's taint when the plugin's pod is ready there, and no other taint. */
import assert from "node:assert/strict";
import { untaintNodes } from "../../../lib/discovery/duties/untaint.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { openExchange } from "../../../lib/orch/client/exchange.ts";
import { DutyRunner } from "../../../lib/orch/leader/duty_runner.ts";
import { withServer } from "../../discovery/running.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const OURS = { key: "cni.mesh.io/not-ready", effect: "NoSchedule" };
const THEIRS = { key: "cni.istio.io/not-ready", effect: "NoSchedule" };
const OTHER = { key: "gpu", value: "yes", effect: "NoExecute" };

const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

/** Taints without the taints of the API: the API taints each new node as not ready. */
async function taintsOf({ objects }: ApiServer, name: string): Promise<string[]> {
  const spec = (await objects.get(node(name)))?.["spec"] as { taints?: readonly { key: string }[] } | undefined;
  return (spec?.taints ?? []).map(({ key }) => key).filter((key) => !key.startsWith("node.kubernetes.io/"));
}

/** Makes the plugin's pod of a node, not ready yet. @returns makes the pod ready, or not */
async function plugin(
  { objects }: ApiServer,
  namespace: string,
  nodeName: string,
  app = "mesh-cni-node",
): Promise<(ready: boolean) => Promise<unknown>> {
  const id = { apiVersion: "v1", kind: "Pod", metadata: { namespace, name: `cni-${nodeName}` } };
  const spec = { nodeName, containers: [{ name: "install-cni", image: "none" }] };
  await objects.create({ ...id, metadata: { ...id.metadata, labels: { "k8s-app": app } }, spec });
  return (ready) =>
    objects.patch(id, { status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } }, "status");
}

/** Does the duty; ends when disposed. */
function keep(client: ApiClient, namespace: string, locks: string): AsyncDisposable {
  const log = silentLog().scope("untaint");
  const options = { namespace: locks, elect: true, identity: crypto.randomUUID(), key: "", log };
  const runner = new DutyRunner(client, [untaintNodes({ client, namespace, log })], options);
  return { [Symbol.asyncDispose]: () => runner.stop() };
}

test("the taint goes once the plugin's pod is ready, in either spelling and as often as it comes; other taints stay", async ({ server, namespace }) => {
  const { objects } = server;
  await objects.create({ ...node(`a-${namespace}`), spec: { taints: [OTHER, OURS] } });
  await objects.create({ ...node(`b-${namespace}`), spec: { taints: [THEIRS] } });
  await objects.create({ ...node(`c-${namespace}`), spec: { taints: [OURS] } });
  const a = await plugin(server, namespace, `a-${namespace}`);
  const b = await plugin(server, namespace, `b-${namespace}`, "istio-cni-node");
  const c = await plugin(server, namespace, `c-${namespace}`, "something-else");
  await using _ = keep(server.client, namespace, namespace);
  await b(true);
  await until("b", async () => (await taintsOf(server, `b-${namespace}`)).length === 0);
  assert.deepEqual(await taintsOf(server, `a-${namespace}`), [OTHER.key, OURS.key], "its plugin is not ready");
  await c(true);
  await a(true);
  await until("a", async () => String(await taintsOf(server, `a-${namespace}`)) === OTHER.key);
  assert.deepEqual(await taintsOf(server, `c-${namespace}`), [OURS.key], "its pod is another program's");
  await objects.patch(node(`a-${namespace}`), { spec: { taints: [OURS, OTHER] } });
  await until("a again", async () => String(await taintsOf(server, `a-${namespace}`)) === OTHER.key);
});

test("PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS has a server do it, for the plugin in --cniNamespace alone", async ({ server, namespace }) => {
  const name = `d-${namespace}`;
  await server.objects.create({ ...node(name), spec: { taints: [OURS] } });
  const plugins = await server.namespace();
  await (await plugin(server, plugins, name))(true);
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: false };
  const serve = (on: boolean, cniNamespace: string, run: () => Promise<void>) =>
    withServer({}, run, {
      options: { configDir: undefined, orch, systemNamespace: namespace, cniNamespace },
      settings: { PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS: on },
    });
  await serve(false, plugins, async () => assert.deepEqual(await taintsOf(server, name), [OURS.key]));
  // A second node shows that the server does the duty for its own plugin.
  const own = `e-${namespace}`;
  await server.objects.create({ ...node(own), spec: { taints: [OURS] } });
  await (await plugin(server, namespace, own))(true);
  await serve(true, namespace, () => until("its own", async () => (await taintsOf(server, own)).length === 0));
  assert.deepEqual(await taintsOf(server, name), [OURS.key], "its plugin is of another namespace");
  await serve(true, plugins, () => until("the other", async () => (await taintsOf(server, name)).length === 0));
});

test("a pod that is being deleted, or was ready before the node was made, does not count; a pod that becomes ready later does", async ({ server, namespace }) => {
  const { objects } = server;
  const name = `f-${namespace}`;
  const old = { apiVersion: "v1", kind: "Pod", metadata: { namespace, name: `cni-${name}` } };
  const ready = await plugin(server, namespace, name);
  await objects.patch(old, { metadata: { finalizers: ["test.mesh.io/kept"] } });
  const readyAt = (time: string) =>
    objects.patch(
      old,
      { status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: time }] } },
      "status",
    );
  await readyAt("2020-01-01T00:00:00Z");
  // Times of the API are whole seconds.
  const second = Math.floor(Date.now() / 1000);
  await until("the next second", () => Date.now() / 1000 >= second + 1);
  await objects.create({ ...node(name), spec: { taints: [OURS] } });
  // A second node shows how far the duty has come.
  const sign = async (which: string) => {
    const other = `${which}-${namespace}`;
    await objects.create({ ...node(other), spec: { taints: [OURS] } });
    await (await plugin(server, namespace, other))(true);
    await until(other, async () => (await taintsOf(server, other)).length === 0);
  };
  await using _ = keep(server.client, namespace, namespace);
  await sign("g");
  assert.deepEqual(await taintsOf(server, name), [OURS.key], "it was ready on an earlier node of that name");
  await readyAt(new Date().toISOString().replace(/\.\d+/, ""));
  await until("that it is ready here", async () => (await taintsOf(server, name)).length === 0);
  await objects.delete(old);
  await objects.patch(node(name), { spec: { taints: [OURS] } });
  await ready(true);
  await sign("h");
  assert.deepEqual(await taintsOf(server, name), [OURS.key], "it is being deleted");
  await objects.patch(old, { metadata: { finalizers: null } });
  await (await plugin(server, namespace, name))(true);
  await until("the new pod's node", async () => (await taintsOf(server, name)).length === 0);
});

test("a taint that comes between reading and writing stays, and the write for a node that was made anew meanwhile is refused", async ({ server, namespace }) => {
  const { objects, access } = server;
  const [raced, anew] = [`i-${namespace}`, `j-${namespace}`];
  for (const name of [raced, anew]) {
    await objects.create({ ...node(name), spec: { taints: [OURS] } });
    await (await plugin(server, namespace, name))(true);
  }
  /** Events before the first write of each node. */
  const before = new Map<string, () => Promise<unknown>>([
    [raced, () => objects.patch(node(raced), { spec: { taints: [OURS, OTHER] } })],
    [anew, async () => {
      await objects.delete(node(anew));
      await objects.create({ ...node(anew), spec: { taints: [OURS] } });
    }],
  ]);
  const refusals: string[] = [];
  const open = await openExchange(access);
  const exchange = async (url: string, init: RequestInit) => {
    const name = new URL(url).pathname.split("/").at(-1)!;
    if (init.method === "PATCH") {
      const first = before.get(name);
      before.delete(name);
      await first?.();
    }
    const response = await open.exchange(url, init);
    if (init.method === "PATCH" && !response.ok) refusals.push(`${name}: ${response.status}`);
    return response;
  };
  const client = new ApiClient({ access: { current: () => access, refused: () => {} }, exchange });
  await using _ = keep(client, namespace, namespace);
  await until("both", async () => String(await taintsOf(server, raced)) === OTHER.key && before.size === 0);
  await until("two refusals", () => refusals.length >= 2);
  assert.deepEqual([...new Set(refusals)].sort(), [`${raced}: 422`, `${anew}: 422`]);
  open.close();
});

test("the account of the manifests may do it; with one verb less it is refused", async ({ server }) => {
  const LOCK = "mesh-node-untaint";
  const needs = ({ resource, name }: Right) => resource === "nodes" || name === LOCK;
  await everyRightIsNeeded(server, ["pilot-discovery"], needs, async (as) => {
    const namespace = await server.namespace();
    const name = `n-${namespace}`;
    await server.objects.create({ ...node(name), spec: { taints: [OURS] } });
    await (await plugin(server, namespace, name))(true);
    await using _ = keep(as.client, namespace, SYSTEM);
    await as.until("the node", async () => (await taintsOf(server, name)).length === 0);
    if (as.without?.verb === "watch") await as.refused;
  });
});
