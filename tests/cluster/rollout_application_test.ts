/** A load of 100 requests a second goes on, without a failed request, while pods and their proxies are replaced. */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { configureInjector, type InjectedPod, patchInjector } from "./support/injector.ts";
import { MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { noneFailed, restarted, SERVES_ON } from "./support/rollouts.ts";
import { deployEcho, startLoad } from "./support/workloads.ts";
import { until } from "./support/waiting.ts";

const test = clusterTests();

test.long("a rollout of an application fails no request", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 3, container: SERVES_ON });
  const load = await startLoad(cluster, { namespace: name, url: `http://web.${name}/` });
  await restarted(cluster, name, "deployment/web");
  await noneFailed(cluster, { namespace: name, app: "web" }, load);
});

/**
 * Envoy's words about a request that a server had accepted: the server closed the connection without an answer. Only the
 * server can prevent this, by serving on for some seconds. The server may have acted on the request, so no proxy sends
 * the request again.
 */
const BROKEN_BY_SERVER = /^status 503: .*reset reason: connection termination/;

test.long("a rollout of servers that close at SIGTERM fails only requests that a server had accepted", async (given) => {
  const { cluster, namespace } = given;
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 3 });
  const load = await startLoad(cluster, { namespace: name, url: `http://web.${name}/` });
  await restarted(cluster, name, "deployment/web");
  const { sent, failed, failures } = await load.end();
  console.log(`sent ${sent}, failed ${failed}`);
  assert.ok(failed < sent / 100);
  for (const { error } of failures) assert.match(error, BROKEN_BY_SERVER);
});

/** Steps of a HorizontalPodAutoscaler without policies of its own: in 15 s at most 4 more pods, or twice as many. */
const AUTOSCALED = [5, 10, 20];

test.long("scaling from 1 to 20 pods and back fails no request", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", container: SERVES_ON });
  const load = await startLoad(cluster, { namespace: name, url: `http://web.${name}/` });
  const scale = ["--namespace", name, "scale", "deployment/web"];
  for (const replicas of AUTOSCALED) {
    await cluster.kubectl([...scale, `--replicas=${replicas}`]);
    await rolledOut(cluster, name, "deployment/web");
  }
  await cluster.kubectl([...scale, "--replicas=1"]);
  await until("one pod is left", async () => {
    const pods = await cluster.kubectl(["--namespace", name, "get", "pods", "--selector=app=web", "--output=name"]);
    return pods.trim().split("\n").length === 1;
  });
  await noneFailed(cluster, { namespace: name, app: "web" }, load);
});

/** Makes a second name of the proxy's image on each node, which new pods get. @returns the reversal */
async function newProxyVersion(cluster: Parameters<typeof rolledOut>[0], tag: string): Promise<() => Promise<void>> {
  const image = "docker.io/mesh/proxy";
  const map = ["--namespace", MESH_NAMESPACE, "get", "configmap", "mesh-sidecar-injector"];
  const before = await cluster.kubectl([...map, "--output=jsonpath={.data.values}"]);
  const old = /tag: "?([^"\n]+)"?/.exec(before)![1]!;
  for (const node of cluster.nodes) {
    await cluster.onNode(node, `ctr -n k8s.io images tag --force ${image}:${old} ${image}:${tag}`);
  }
  const isNew = ({ spec: { containers, initContainers = [] } }: InjectedPod) =>
    [...containers, ...initContainers].some((container) => container.image === `${image}:${tag}`);
  await configureInjector(cluster, { values: before.replace(/tag: .*/, `tag: "${tag}"`) }, isNew);
  return () => patchInjector(cluster, { values: before });
}

test.long("a rollout of a new version of the proxy fails no request", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 3, container: SERVES_ON });
  const images = async () => {
    const path = `{.items[*].spec['containers','initContainers'][?(@.name=="mesh-proxy")].image}`;
    const pods = ["--namespace", name, "get", "pods", "--selector=app=web", `--output=jsonpath=${path}`];
    return new Set((await cluster.kubectl(pods)).trim().split(" "));
  };
  const load = await startLoad(cluster, { namespace: name, url: `http://web.${name}/` });
  const back = await newProxyVersion(cluster, "next");
  try {
    await restarted(cluster, name, "deployment/web");
    assert.deepEqual(await images(), new Set(["docker.io/mesh/proxy:next"]));
    await noneFailed(cluster, { namespace: name, app: "web" }, load);
  } finally {
    await back();
  }
});
