/** Nodes lose the plugin's taint when its pod is ready there, and nothing else. */
import assert from "node:assert/strict";
import { untaintNodes } from "../../../lib/discovery/orch/untaint.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { DutyRunner } from "../../../lib/orch/leader/duty_runner.ts";
import { withServer } from "../../discovery/running.ts";
import { until } from "../../e2e/support/mesh.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { accountClient, manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import type { RoleRule } from "../support/server/users.ts";

const test = apiServerTests();
const SYSTEM = "mesh-system";
const OURS = { key: "cni.mesh.io/not-ready", effect: "NoSchedule" };
const THEIRS = { key: "cni.istio.io/not-ready", effect: "NoSchedule" };
const OTHER = { key: "gpu", value: "yes", effect: "NoExecute" };

const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

/** Taints but for the API's own: each node that is made here is not ready for it. */
async function taintsOf({ objects }: ApiServer, name: string): Promise<string[]> {
  const spec = (await objects.get(node(name)))?.["spec"] as { taints?: readonly { key: string }[] } | undefined;
  return (spec?.taints ?? []).map(({ key }) => key).filter((key) => !key.startsWith("node.kubernetes.io/"));
}

/** Makes the plugin's pod of a node, not ready yet; the function makes it ready, or not. */
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
  // A second node shows that the server does the duty, for a plugin elsewhere.
  const own = `e-${namespace}`;
  await server.objects.create({ ...node(own), spec: { taints: [OURS] } });
  await (await plugin(server, namespace, own))(true);
  await serve(true, namespace, () => until("its own", async () => (await taintsOf(server, own)).length === 0));
  assert.deepEqual(await taintsOf(server, name), [OURS.key], "its plugin is of another namespace");
  await serve(true, plugins, () => until("the other", async () => (await taintsOf(server, name)).length === 0));
});

test("the account of the manifests may do it; with one verb less it is refused", async ({ server }) => {
  for (const manifest of manifests("pilot-discovery")) await server.objects.apply(manifest);
  const rules = (kind: "ClusterRole" | "Role") =>
    manifests("pilot-discovery").find((object) => object.kind === kind)?.["rules"] as readonly RoleRule[];
  for (const [index, without] of [undefined, "list", "watch", "patch"].entries()) {
    const account = `untaint-${index}`;
    await server.users.account(SYSTEM, account);
    const subject = { kind: "ServiceAccount", name: account, namespace: SYSTEM } as const;
    const less = rules("ClusterRole").filter(({ resources = [] }) => resources.includes("nodes"))
      .map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== without) }))
      .filter(({ verbs }) => verbs.length > 0);
    await server.users.grant(subject, account, less);
    // Locks are made by the right to create config maps, which another test holds.
    const locks = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "update"] };
    await server.users.grant(subject, account, [locks], SYSTEM);
    await server.users.granted(SYSTEM, account, { verb: "get", resource: "configmaps" });
    const namespace = await server.namespace();
    const name = `n-${namespace}`;
    await server.objects.create({ ...node(name), spec: { taints: [OURS] } });
    await (await plugin(server, namespace, name))(true);
    using as = await accountClient(server, SYSTEM, account);
    let refused: string | undefined;
    void as.refused.then((what) => refused = what.split(" ")[0]);
    await using _ = keep(as.client, namespace, SYSTEM);
    if (without === undefined) await until("the node", async () => (await taintsOf(server, name)).length === 0);
    else await until(`a refusal without ${without}`, () => refused !== undefined);
    const expected = { list: "GET", watch: "GET", patch: "PATCH" }[without ?? ""];
    assert.equal(refused, expected, `without ${without}`);
  }
});
