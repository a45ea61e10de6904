/** A second revision beside the first, made by `pilot-discovery manifests`, comes and goes under load. */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { bundlePatched, MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { noneFailed, restarted, SERVES_ON } from "./support/rollouts.ts";
import { deployEcho, startLoad } from "./support/workloads.ts";
import { until } from "./support/waiting.ts";

const test = clusterTests();

/** What the program in the server's image prints. */
async function manifests(cluster: ClusterHandle, ...flags: readonly string[]): Promise<string> {
  const exec = ["--namespace", MESH_NAMESPACE, "exec", "deployment/meshd", "--container=discovery", "--"];
  return await cluster.kubectl([...exec, "/usr/local/bin/pilot-discovery", "manifests", ...flags]);
}

/** Points a tag at a revision. Resolves when new pods of the namespace get the revision's server. */
async function tagged(cluster: ClusterHandle, tag: string, revision: string, namespace: string): Promise<void> {
  await cluster.apply(await manifests(cluster, "--revision", revision, "--tag", tag, "--only", "tags"));
  await bundlePatched(cluster, `mutatingwebhookconfiguration/mesh-revision-tag-${tag}`);
  const run = ["--namespace", namespace, "run", "probe", "--image=docker.io/local/echo:1", "--dry-run=server"];
  await until(`new pods get a proxy of the revision ${revision}`, async () => {
    const { success, out } = await cluster.tryKubectl([...run, "--output=json"]);
    return success && serversOf(JSON.parse(out)).every((server) => server === serverOf(revision));
  });
}

/** The server that a pod's proxy asks for certificates and configuration. */
function serverOf(revision: string): string {
  return `meshd${revision === "default" ? "" : `-${revision}`}.${MESH_NAMESPACE}.svc:15012`;
}

interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

interface Pod {
  readonly spec: { readonly containers: readonly Container[]; readonly initContainers?: readonly Container[] };
}

/** The authority's address and the discovery address of a pod's proxy. */
function serversOf({ spec: { containers, initContainers = [] } }: Pod): readonly string[] {
  const env = [...containers, ...initContainers].find(({ name }) => name === "mesh-proxy")?.env ?? [];
  const valueOf = (wanted: string) => env.find(({ name }) => name === wanted)?.value ?? "";
  const { discoveryAddress = serverOf("default") } = JSON.parse(valueOf("PROXY_CONFIG") || "{}");
  return [valueOf("CA_ADDR"), discoveryAddress];
}

/** Requires that all pods of an app have a proxy of a revision. */
async function haveServer(cluster: ClusterHandle, namespace: string, app: string, revision: string): Promise<void> {
  const get = ["--namespace", namespace, "get", "pods", `--selector=app=${app}`, "--output=json"];
  const { items } = JSON.parse(await cluster.kubectl(get)) as { items: readonly Pod[] };
  assert.ok(items.length > 0);
  for (const pod of items) assert.deepEqual(serversOf(pod), [serverOf(revision), serverOf(revision)]);
}

test.long("a canary revision is added, tagged, stopped and removed under load", async ({ cluster, namespace }) => {
  const [fixed, moving] = [await namespace(INJECTED), await namespace({ "mesh.io/rev": "prod" })];
  await tagged(cluster, "prod", "default", moving);
  await Promise.all([
    deployEcho(cluster, { namespace: fixed, name: "web", replicas: 2, container: SERVES_ON }),
    deployEcho(cluster, { namespace: moving, name: "web", replicas: 2, container: SERVES_ON }),
  ]);
  await haveServer(cluster, moving, "web", "default");
  const load = await startLoad(cluster, { namespace: fixed, url: `http://web.${moving}/` });
  const canary = await manifests(cluster, "--revision", "canary");
  try {
    await cluster.apply(canary);
    await rolledOut(cluster, MESH_NAMESPACE, "deployment/meshd-canary");
    await bundlePatched(cluster, "mutatingwebhookconfiguration/mesh-sidecar-injector-canary");
    await tagged(cluster, "prod", "canary", moving);
    await restarted(cluster, moving, "deployment/web");
    await haveServer(cluster, moving, "web", "canary");

    await cluster.kubectl(["--namespace", MESH_NAMESPACE, "scale", "deployment/meshd-canary", "--replicas=0"]);
    await until("no canary serves", async () => {
      const path = "{.subsets[*].addresses[*].ip}";
      const get = ["--namespace", MESH_NAMESPACE, "get", "endpoints", "meshd-canary", `--output=jsonpath=${path}`];
      return (await cluster.kubectl(get)).trim() === "";
    });
    await restarted(cluster, fixed, "deployment/web");
    await haveServer(cluster, fixed, "web", "default");

    await tagged(cluster, "prod", "default", moving);
    await restarted(cluster, moving, "deployment/web");
    await haveServer(cluster, moving, "web", "default");
  } finally {
    await cluster.kubectl(["delete", "--ignore-not-found", "-f", "-"], canary);
    await cluster.kubectl(
      ["delete", "--ignore-not-found", "-f", "-"],
      await manifests(cluster, "--revision", "default", "--tag", "prod", "--only", "tags"),
    );
  }
  await noneFailed(cluster, { namespace: moving, app: "web" }, load, { namespace: fixed, pod: "load" });
});
