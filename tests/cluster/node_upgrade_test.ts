/**
 * The plugin is upgraded while pods start: each pod has its rules, or does not start. At every moment the plugin's
 * files on the node are whole.
 */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { hearsOutsiders, listen, noneEscaped, registryOnly } from "./support/escapes.ts";
import { ROLLOUT } from "./support/mesh.ts";
import { doctor, pluginCalls, pluginUntilEnd, upgradeAgent } from "./support/node_plugin.ts";
import { applyObjects, deployEcho, ECHO_IMAGE, served, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

/** Least and largest number of pods that are created during an upgrade. */
const [LEAST, MOST] = [8, 15];

/** Folder of the watch's files on the node. */
const SEEN = "/tmp/upgrade-seen";

/** Calls the plugin and keeps every state of its files, until the file `stop` is there. */
const WATCH = `rm -rf ${SEEN}; mkdir -p ${SEEN}/chain; cd /opt/cni/bin
while [ ! -e ${SEEN}/stop ]; do
  echo '{"cniVersion":"0.4.0"}' | CNI_COMMAND=VERSION ./mesh-cni >/dev/null 2>>${SEEN}/errors || echo failed >>${SEEN}/errors
  echo called >>${SEEN}/calls
  find mesh-cni mesh-cni.files -name compiled -prune -o -type f ! -name '.*' -printf '%p %s\\n' >>${SEEN}/files
  for chain in /etc/cni/net.d/*.conflist; do
    cp "$chain" ${SEEN}/now && mv ${SEEN}/now ${SEEN}/chain/$(sha256sum <${SEEN}/now | cut -c1-16)
  done
  sleep 0.2
done`;

/**
 * A pod that the plugin redirects, with a placeholder instead of a proxy: nothing listens at the port of redirection,
 * and the pod costs little.
 */
function lightPod(namespace: string, name: string, dials: Record<string, unknown>): Record<string, unknown> {
  const placeholder = {
    ...{ name: "mesh-proxy", image: ECHO_IMAGE, imagePullPolicy: "IfNotPresent" },
    ...{ command: ["sleep"], args: ["1000000"], securityContext: { runAsUser: 1337 } },
  };
  const metadata = { name, namespace, labels: { app: "light" }, annotations: { "sidecar.mesh.io/status": "{}" } };
  const containers = [...dials["containers"] as unknown[], placeholder];
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { ...dials, containers, terminationGracePeriodSeconds: 0 } };
}

test.long("pods that start during an upgrade of the plugin have their rules, and no file is seen half-written", async ({ cluster, namespace }) => {
  const [name, light, outside] = [await namespace(INJECTED), await namespace(), await namespace()];
  await applyObjects(cluster, [registryOnly(name), strictPolicy(name)]);
  await using listener = await listen(cluster, 7704);
  await using _plugin = await pluginUntilEnd(cluster);
  await Promise.all([
    hearsOutsiders(cluster, listener, outside),
    deployEcho(cluster, { namespace: name, name: "web" }),
  ]);
  const [deployment] = listener.dialling({ namespace: light, name: "light" });
  const { spec: { template: { spec } } } = deployment as { spec: { template: { spec: Record<string, unknown> } } };
  const watching = cluster.onNode("node1", WATCH);
  try {
    for (const version of [1, 2]) {
      let done = false;
      const upgraded = upgradeAgent(cluster, version).finally(() => (done = true));
      let started = 0;
      for (; started < LEAST || started < MOST && !done; started++) {
        await applyObjects(cluster, [lightPod(light, `light-${version}-${started}`, spec)]);
      }
      await upgraded;
      await cluster.kubectl(["--namespace", light, "wait", "--for=condition=Ready", "pods", "--all", ROLLOUT]);
      const joins = `joins${version}`;
      await deployEcho(cluster, { namespace: name, name: joins });
      await served(cluster, { namespace: name, workload: `deployment/${joins}` }, `http://web.${name}/`);
      console.log(`upgrade ${version}: ${started} pods started`);
    }
  } finally {
    await cluster.onNode("node1", `touch ${SEEN}/stop`);
    await watching;
  }
  await noneEscaped(listener);
  const adds = (await pluginCalls(cluster)).filter(({ command, pod }) =>
    command === "ADD" && pod.startsWith(`${light}/`)
  );
  const redirected = adds.filter(({ outcome }) => outcome.startsWith("redirected"));
  const times = redirected.map(({ took }) => took).sort((a, b) => a - b);
  console.log(`ADD: ${adds.length} calls, ${redirected.length} redirected, median ${times[times.length >> 1]} ms`);
  assert.deepEqual(redirected.filter(({ code }) => code !== 0), []);
  assert.deepEqual((await doctor(cluster)).filter(({ severity }) => severity === "problem"), []);

  const seen = async (command: string) => await cluster.onNode("node1", `cd ${SEEN} && ${command}`);
  assert.equal(await seen("cat errors"), "", "each call of the plugin succeeded");
  const states = (await seen("sort files | uniq")).trim().split("\n");
  const paths = [...new Set(states.map((line) => line.split(" ")[0]!))];
  assert.equal(states.length, paths.length, `each file has one size: ${states.join("\n")}`);
  assert.equal(paths.filter((path) => path.endsWith("/plugin.js")).length, 3, paths.join("\n"));
  const chains = (await seen("for chain in chain/*; do tr -d '\\n' <$chain; echo; done")).trim().split("\n");
  for (const chain of chains) {
    assert.deepEqual(JSON.parse(chain).plugins.map(({ type }: { type: string }) => type).at(-1), "mesh-cni", chain);
  }
  console.log(`${(await seen("wc -l <calls")).trim()} calls of VERSION, ${chains.length} states of the configuration`);
});
