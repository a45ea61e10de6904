/**
 * Repair by a real kubelet: pods start while injection relies on the plugin and no plugin is there. Their validation
 * keeps the pods from starting. Then the installer comes, and repairs the pods in each of its ways.
 */
import assert from "node:assert/strict";
import { until } from "./support/waiting.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { attempts, hearsOutsiders, listen, noneEscaped, registryOnly } from "./support/escapes.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { rolledOut } from "./support/mesh.ts";
import { injectForPlugin, installPlugin, removePlugin } from "./support/node_plugin.ts";
import { applyObjects, deployEcho, served, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

const APP = "early";

/** The exit code of a validation that finds no redirection. */
const NOT_REDIRECTED = 126;

interface Status {
  readonly name: string;
  readonly restartCount: number;
  readonly state: { readonly terminated?: { readonly exitCode: number }; readonly waiting?: object };
  readonly lastState: { readonly terminated?: { readonly exitCode: number } };
}

interface ObservedPod {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status: {
    readonly initContainerStatuses?: readonly Status[];
    readonly containerStatuses?: readonly Status[];
  };
}

async function podsOf(cluster: ClusterHandle, namespace: string): Promise<readonly ObservedPod[]> {
  const get = ["--namespace", namespace, "get", "pods", `--selector=app=${APP}`, "--output=json"];
  return JSON.parse(await cluster.kubectl(get)).items;
}

/** Uids of the pods that are not ending. */
async function uids(cluster: ClusterHandle, namespace: string): Promise<ReadonlySet<string>> {
  const pods = await podsOf(cluster, namespace);
  return new Set(
    pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.uid),
  );
}

/** True once a pod's validation has failed. No later container has run. */
function isRefused({ status: { initContainerStatuses = [], containerStatuses = [] } }: ObservedPod): boolean {
  const [validation, ...later] = initContainerStatuses;
  const end = validation?.lastState.terminated ?? validation?.state.terminated;
  if (end?.exitCode !== NOT_REDIRECTED) return false;
  assert.equal(validation!.name, "mesh-validation");
  for (const { name, state } of [...later, ...containerStatuses]) assert.ok(state.waiting, `${name} has started`);
  return true;
}

async function hasEvent(cluster: ClusterHandle, namespace: string, reason: string): Promise<boolean> {
  const get = ["--namespace", namespace, "get", "events", `--field-selector=reason=${reason}`, "--output=name"];
  return (await cluster.kubectl(get)).trim() !== "";
}

/** The installer's way to repair, and the proof of the result. */
interface Way {
  readonly variables: Readonly<Record<string, string>>;
  readonly event: string;
  /** Resolves when the pods are repaired, or can be. */
  readonly repaired: (cluster: ClusterHandle, namespace: string, before: ReadonlySet<string>) => Promise<void>;
}

const WAYS: Readonly<Record<string, Way>> = {
  labelled: {
    variables: { REPAIR_DELETE_PODS: "false", REPAIR_LABEL_PODS: "true" },
    event: "LabelBrokenPod",
    repaired: async (cluster, namespace, before) => {
      const label = "cni.mesh.io/uninitialized";
      await until("the pods are labelled", async () => {
        const pods = await podsOf(cluster, namespace);
        assert.ok(pods.every(isRefused), "a labelled pod does not start");
        return pods.every(({ metadata: { labels } }) => labels[label] === "true");
      });
      assert.deepEqual(await uids(cluster, namespace), before);
      await cluster.kubectl(["--namespace", namespace, "delete", "pods", `--selector=${label}=true`, "--wait=false"]);
    },
  },
  deleted: {
    variables: {},
    event: "DeleteBrokenPod",
    repaired: async (cluster, namespace, before) => {
      await until("the pods are replaced", async () => {
        const now = await uids(cluster, namespace);
        return now.size === before.size && [...now].every((uid) => !before.has(uid));
      });
    },
  },
  "redirected in place": {
    variables: { REPAIR_REPAIR_PODS: "true" },
    event: "RepairBrokenPod",
    repaired: async (cluster, namespace, before) => {
      await rolledOut(cluster, namespace, `deployment/${APP}`);
      assert.deepEqual(await uids(cluster, namespace), before);
    },
  },
};

for (const [way, { variables, event, repaired }] of Object.entries(WAYS)) {
  test.long(`pods that started before the plugin bypass no proxy, are ${way}, and then are in the mesh`, async ({ cluster, namespace }) => {
    const [name, outside] = [await namespace(INJECTED), await namespace()];
    await applyObjects(cluster, [registryOnly(name), strictPolicy(name)]);
    await using listener = await listen(cluster, 7702);
    await Promise.all([
      deployEcho(cluster, { namespace: name, name: "web" }),
      hearsOutsiders(cluster, listener, outside),
    ]);
    await using removal = new AsyncDisposableStack();
    removal.defer(() => removePlugin(cluster));
    await injectForPlugin(cluster, true);
    const replicas = 3;
    await applyObjects(cluster, listener.dialling({ namespace: name, name: APP, replicas }));
    await until("the pods do not start", async () => {
      const pods = await podsOf(cluster, name);
      return pods.length === replicas && pods.every(isRefused);
    });
    const before = await uids(cluster, name);
    await installPlugin(cluster, variables);
    await repaired(cluster, name, before);
    await rolledOut(cluster, name, `deployment/${APP}`);
    assert.ok(await hasEvent(cluster, name, event), `no event ${event}`);
    await served(cluster, { namespace: name, workload: `deployment/${APP}` }, `http://web.${name}/`);
    console.log(`${way}: ${replicas} pods, ${await attempts(cluster, name, APP)} attempts, 0 escaped`);
    await noneEscaped(listener);
  });
}
