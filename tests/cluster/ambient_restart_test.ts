/**
 * What is below pods in ambient mode restarts: a node, with the networks of all its pods, the agent and the tunnel; and
 * the tunnels, one version after the other. No plain packet of a pod leaves, and no request of a ready pod fails.
 */
import assert from "node:assert/strict";
import { AMBIENT, ambientUntilEnd, connections, doctorOf, podsOf, startTunnels } from "./support/ambient.ts";
import { clusterTests } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { networksSettled, pluginCalls } from "./support/node_plugin.ts";
import { countPlainPackets, dials } from "./support/plain_packets.ts";
import { noneFailed, restarted, startedAnew } from "./support/rollouts.ts";
import { until } from "./support/waiting.ts";
import { Waves } from "./support/waves.ts";
import { apart, applyObjects, deployEcho, echoObjects, startLoad, strictPolicy } from "./support/workloads.ts";

const test = clusterTests({ nodes: 2 });

/** Requests after a restart. Fewer would prove little. */
const LEAST_ASKED = 50;

/**
 * Sends requests to an address without end, and prints "200" or "failed" for each. The first request is the first
 * instruction. The address is a Service's: names need the node's own rules, which may come later than a pod.
 */
function asks(address: string): readonly string[] {
  const request = "printf 'GET / HTTP/1.1\\r\\nHost: web\\r\\nConnection: close\\r\\n\\r\\n' >&3";
  const once =
    `exec 3<>/dev/tcp/${address}/80 && ${request} && IFS= read -r -t 10 line <&3 && [[ $line == *" 200 "* ]]`;
  return [
    "bash",
    "-c",
    `while true; do if (${once}) 2>/dev/null; then echo 200; else echo failed; fi; sleep 0.2; done`,
  ];
}

async function addressOf(cluster: ClusterHandle, namespace: string, service: string): Promise<string> {
  return await cluster.kubectl(["--namespace", namespace, "get", "service", service, "-o=jsonpath={.spec.clusterIP}"]);
}

/** Requires that all requests of an app succeeded since the start of its container. @returns how many there were */
async function noneOfFailed(cluster: ClusterHandle, namespace: string, app: string): Promise<number> {
  const logs = ["--namespace", namespace, "logs", `--selector=app=${app}`, "--tail=-1"];
  let lines: readonly string[] = [];
  await until(`${LEAST_ASKED} requests of ${app}`, async () => {
    lines = (await cluster.kubectl(logs)).trim().split("\n");
    return lines.length >= LEAST_ASKED;
  });
  const failed = lines.flatMap((line, i) => line === "200" ? [] : [i + 1]);
  assert.deepEqual(failed, [], `requests of ${app} that failed, of ${lines.length}`);
  return lines.length;
}

test.long("a node reboots: its pods come back into the mesh, no plain packet leaves, no request of a ready pod fails", async ({ cluster, namespace }) => {
  const [stays, reboots] = cluster.nodes as [string, string];
  const [inside, outside] = [await namespace(AMBIENT), await namespace()];
  await using _agent = await ambientUntilEnd(cluster);
  await using _tunnels = await startTunnels(cluster);
  await applyObjects(cluster, [strictPolicy(inside)]);
  const on = (name: string, nodeName: string, command?: readonly string[]) => ({
    ...{ namespace: inside, name, pod: { nodeName, terminationGracePeriodSeconds: 1 } },
    ...command === undefined ? {} : { args: [], container: { command } },
  });
  await Promise.all([deployEcho(cluster, on("stays", stays)), deployEcho(cluster, on("reboots", reboots))]);
  const [near, far] = [await addressOf(cluster, inside, "stays"), await addressOf(cluster, inside, "reboots")];
  await using packets = await countPlainPackets(cluster, outside, near, { nodeName: stays });
  await packets.alsoAfterReboot(reboots);
  // The caller goes on to ask while the other end has no network, at first, and then another network.
  await applyObjects(cluster, [on("caller", stays, dials(far)), on("asker", reboots, asks(near))].flatMap(echoObjects));
  for (const app of ["caller", "asker"]) await rolledOut(cluster, inside, `deployment/${app}`);
  console.log(`before the reboot: ${await noneOfFailed(cluster, inside, "asker")} requests, none failed`);
  const [before] = await podsOf(cluster, inside, "reboots");
  await packets.noneEscaped();

  const started = performance.now();
  await cluster.reboot(reboots);
  for (const app of ["reboots", "asker"]) await startedAnew(cluster, inside, app);
  console.log(`ready ${((performance.now() - started) / 1000).toFixed(0)} s after the reboot`);
  const load = await startLoad(cluster, {
    ...{ namespace: inside, url: `http://${far}/`, rate: 50, fresh: true, pod: { nodeName: stays } },
  });
  const [asker] = await podsOf(cluster, inside, "asker");
  console.log(`after the reboot: ${await noneOfFailed(cluster, inside, "asker")} requests, none failed`);
  await load.reached(500);
  await noneFailed(cluster, { namespace: inside, app: "reboots" }, load);
  await packets.noneEscaped();
  const own = (await connections(cluster)).filter(({ uid, way }) => uid === asker!.uid && way === "out");
  assert.deepEqual([...new Set(own.map(({ by, refused }) => refused ?? by))], ["hbone"]);
  for (const app of ["reboots", "asker"]) {
    const [pod] = await podsOf(cluster, inside, app);
    assert.equal(pod?.redirection, "enabled");
    const { success, out } = await doctorOf(cluster, `${inside}/${pod.name}`);
    assert.ok(success, out);
  }
  const [after] = await podsOf(cluster, inside, "reboots");
  console.log(`${before!.uid === after!.uid ? "the same" : "another"} pod, ${before!.address} then ${after!.address}`);
  const refused = (await pluginCalls(cluster, reboots)).filter(({ command, code }) => command === "ADD" && code !== 0);
  console.log(
    `${refused.length} calls of ADD were refused: ${[...new Set(refused.map((call) => call.outcome))].join("; ")}`,
  );
  console.log(`${await packets.neverAnswered()} packets of the outsider, none answered; 0 plain packets escaped`);
  await cluster.kubectl(["--namespace", inside, "delete", "deployments", "--all"]);
  await networksSettled(cluster);
});

test.long("the tunnels are replaced one version after the other: no plain packet leaves, no request fails", async ({ cluster, namespace }) => {
  const [inside, outside] = [await namespace(AMBIENT), await namespace()];
  await using _agent = await ambientUntilEnd(cluster);
  await using _tunnels = await startTunnels(cluster);
  await applyObjects(cluster, [strictPolicy(inside)]);
  await deployEcho(cluster, { namespace: inside, name: "web", replicas: 2, pod: apart("web") });
  const host = `web.${inside}.svc.cluster.local`;
  await using packets = await countPlainPackets(cluster, outside, host);
  const loads = await Promise.all(cluster.nodes.map(async (nodeName) => {
    const options = { namespace: inside, url: `http://${host}/`, rate: 50, fresh: true, pod: { nodeName } };
    return [`load-${nodeName}`, await startLoad(cluster, { ...options, name: `load-${nodeName}` })] as const;
  }));
  const waves = new Waves(cluster, inside, host);
  for (const round of [1, 2]) {
    const started = performance.now();
    await Promise.all([restarted(cluster, MESH_NAMESPACE, "daemonset/ztunnel"), waves.run(false)]);
    await packets.noneEscaped();
    console.log(`round ${round}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  await waves.run();
  for (const [pod, load] of loads) {
    await noneFailed(cluster, { namespace: inside, app: "web" }, load, { namespace: inside, pod });
  }
  console.log(`${await packets.neverAnswered()} packets of the outsider, none answered; 0 plain packets escaped`);
  await cluster.kubectl(["--namespace", inside, "delete", "deployments", "--all"]);
  await networksSettled(cluster);
});
