/** The first call of an application, made by its first instruction. */
import assert from "node:assert/strict";
import { until } from "./support/waiting.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { exitCodes, type ObservedPod, podOf } from "./support/pods.ts";
import { applyObjects, deployEcho, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

/** Pods of each kind, which start at the same time. */
const PODS = 6;

const held = (hold: boolean) => ({
  "sidecar.mesh.io/nativeSidecar": "false",
  "proxy.mesh.io/config": JSON.stringify({ holdApplicationUntilProxyStarts: hold }),
});

const KINDS = {
  native: { "sidecar.mesh.io/nativeSidecar": "true" },
  held: held(true),
  unheld: held(false),
} as const;

/** A call by the shell, which starts in a few milliseconds. Prints the status line, or nothing. */
function call(host: string): readonly string[] {
  const request = `printf 'GET / HTTP/1.1\\r\\nhost: ${host}\\r\\nconnection: close\\r\\n\\r\\n' >&3`;
  return ["bash", "-c", `exec 3<>/dev/tcp/${host}/80 && ${request} && timeout 20 head -1 <&3`];
}

test.long("a first call succeeds with a native sidecar and with a held application, and is never plain text", async (given) => {
  const { cluster, namespace } = given;
  const name = await namespace(INJECTED);
  await applyObjects(cluster, [strictPolicy(name)]);
  await deployEcho(cluster, { namespace: name, name: "web", replicas: 2 });
  const pods = Object.entries(KINDS).flatMap(([kind, annotations]) =>
    Array.from({ length: PODS }, (_, i) => ({ kind, pod: `${kind}-${i}`, annotations }))
  );
  const container = { command: call(`web.${name}`) };
  await applyObjects(
    cluster,
    pods.map(({ pod, annotations }) => podOf(name, pod, { args: [], annotations, container })),
  );
  await until("all applications have ended", async () => {
    const all = await cluster.objects.list({ apiVersion: "v1", kind: "Pod" }, name) as unknown as ObservedPod[];
    const ended = new Set(all.filter((pod) => exitCodes(pod).app !== undefined).map(({ metadata }) => metadata.name));
    return pods.every(({ pod }) => ended.has(pod));
  });
  const results: Record<string, string[]> = {};
  for (const { kind, pod } of pods) {
    const line = await cluster.kubectl(["--namespace", name, "logs", pod, "--container=app"]);
    (results[kind] ??= []).push(line.trim().split("\n").at(-1)!);
  }
  console.log(JSON.stringify(results));
  for (const kind of ["native", "held"]) {
    assert.deepEqual(new Set(results[kind]), new Set(["HTTP/1.1 200 OK"]), `first calls with ${kind}`);
  }
  for (const line of results["unheld"]!) {
    assert.match(line, /^HTTP\/1\.1 200 OK$|Connection refused|Name or service not known|Connection reset|^$/);
  }
});
