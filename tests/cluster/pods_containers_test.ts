/** Jobs that end, the order of containers, and pods with users and limits of their own. */
import assert from "node:assert/strict";
import { until } from "./support/waiting.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { ROLLOUT } from "./support/mesh.ts";
import { exitCodes, type ObservedPod, podOf } from "./support/pods.ts";
import { applyObjects, deployEcho, request, served, strictPolicy } from "./support/workloads.ts";
import type { ClusterHandle } from "./support/handle.ts";

const test = clusterTests();

const NATIVE = { "sidecar.mesh.io/nativeSidecar": "true" };
const BESIDE = {
  "sidecar.mesh.io/nativeSidecar": "false",
  "proxy.mesh.io/config": JSON.stringify({ holdApplicationUntilProxyStarts: true }),
};

test("a pod whose application ends is over with the application's result", async ({ cluster, namespace }) => {
  const inside = await namespace(INJECTED);
  await applyObjects(cluster, [strictPolicy(inside)]);
  await deployEcho(cluster, { namespace: inside, name: "web" });
  const url = `http://web.${inside}/`;
  const pod = (name: string, annotations: Readonly<Record<string, string>>, ...args: readonly string[]) => (
    podOf(inside, name, { annotations, args: ["get", url, ...args] })
  );
  await applyObjects(cluster, [
    pod("native-0", NATIVE, "--exit", "0"),
    pod("native-7", NATIVE, "--exit", "7"),
    pod("stays-7", BESIDE, "--exit", "7"),
    pod("quits-0", BESIDE, "--quit"),
    pod("quits-7", BESIDE, "--quit", "--exit", "7"),
  ]);
  const ends = { "native-0": "Succeeded", "native-7": "Failed", "quits-0": "Succeeded", "quits-7": "Failed" };
  for (const [name, phase] of Object.entries(ends)) {
    const reached = `--for=jsonpath={.status.phase}=${phase}`;
    await cluster.kubectl(["--namespace", inside, "wait", reached, `pod/${name}`, ROLLOUT]);
    const { app, proxy } = exitCodes(await observed(cluster, inside, name));
    assert.deepEqual({ app, proxy }, { app: Number(name.at(-1)), proxy: 0 }, name);
  }
  await until("the application without a native sidecar has ended", async () => {
    return exitCodes(await observed(cluster, inside, "stays-7")).app === 7;
  });
  const stays = await observed(cluster, inside, "stays-7");
  assert.equal(stays.status.phase, "Running", "a proxy beside the application goes on");
  assert.equal(exitCodes(stays).proxy, undefined);
  const names = (containers: readonly { name: string }[] = []) => containers.map(({ name }) => name);
  const { spec: native } = await observed(cluster, inside, "native-0");
  assert.deepEqual([names(native.initContainers), names(native.containers)], [["mesh-init", "mesh-proxy"], ["app"]]);
  assert.deepEqual([names(stays.spec.initContainers), names(stays.spec.containers)], [["mesh-init"], [
    "mesh-proxy",
    "app",
  ]]);
});

test("pods with users and limits of their own call and serve under STRICT", async ({ cluster, namespace }) => {
  const inside = await namespace(INJECTED);
  await applyObjects(cluster, [strictPolicy(inside)]);
  const limited = {
    ...{ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true },
    ...{ runAsNonRoot: true, runAsUser: 2000, runAsGroup: 2000, seccompProfile: { type: "RuntimeDefault" } },
  };
  const pod = { securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 3000 } };
  await Promise.all([
    deployEcho(cluster, { namespace: inside, name: "limited", container: { securityContext: limited } }),
    deployEcho(cluster, { namespace: inside, name: "own-user", pod, annotations: NATIVE }),
  ]);
  for (const [from, to] of [["limited", "own-user"], ["own-user", "limited"]]) {
    const client = { namespace: inside, workload: `deployment/${from}` };
    const { body } = await served(cluster, client, `http://${to}.${inside}/`);
    assert.match(body!, /spiffe:\/\/cluster\.local\/ns\//, "by mutual TLS");
  }
});

test("an application with the proxy's user is refused by servers under STRICT, and protected itself", async (given) => {
  const { cluster, namespace } = given;
  const inside = await namespace(INJECTED);
  await applyObjects(cluster, [strictPolicy(inside)]);
  await Promise.all([
    deployEcho(cluster, { namespace: inside, name: "web" }),
    deployEcho(cluster, { namespace: inside, name: "reserved", container: { securityContext: { runAsUser: 1337 } } }),
  ]);
  const ask = (from: string, to: string) =>
    request(cluster, { namespace: inside, workload: `deployment/${from}` }, `http://${to}.${inside}/`);
  await until("its server is in the mesh", async () => (await ask("web", "reserved")).status === 200);
  assert.equal((await ask("reserved", "web")).status, 0, "its own calls are plain text, and are refused");
});

test("a pod in the node's network gets no proxy, is served, and serves", async ({ cluster, namespace }) => {
  const inside = await namespace(INJECTED);
  const pod = { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" };
  const container = {
    args: ["serve", "--http", "28080", "--tcp", "29000", "--grpc", "29001"],
    readinessProbe: { httpGet: { path: "/ready", port: 28080 }, periodSeconds: 1 },
  };
  await Promise.all([
    deployEcho(cluster, { namespace: inside, name: "web" }),
    deployEcho(cluster, { namespace: inside, name: "node", pod, container }),
  ]);
  const ports = [{ name: "http", port: 80, targetPort: 28080 }];
  const [name, spec] = ["node-http", { selector: { app: "node" }, ports }];
  await applyObjects(cluster, [{ apiVersion: "v1", kind: "Service", metadata: { name, namespace: inside }, spec }]);
  const pods = await cluster.kubectl([
    ...["--namespace", inside, "get", "pods", "--selector=app=node"],
    "-o=jsonpath={.items[*].spec.containers[*].name}{.items[*].spec.initContainers[*].name}",
  ]);
  assert.equal(pods, "app");
  const [web, node] = ["web", "node"].map((name) => ({ namespace: inside, workload: `deployment/${name}` }));
  await served(cluster, web!, `http://node-http.${inside}/`);
  await served(cluster, node!, `http://web.${inside}/`);
  await applyObjects(cluster, [strictPolicy(inside)]);
  await until("under STRICT its plain text is refused", async () => {
    return (await request(cluster, node!, `http://web.${inside}/`)).status !== 200;
  });
});

test("PodSecurity restricted refuses the init container that redirects, and names the container", async (given) => {
  const { cluster, namespace } = given;
  const inside = await namespace({ ...INJECTED, "pod-security.kubernetes.io/enforce": "restricted" });
  const securityContext = {
    ...{ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, runAsNonRoot: true },
    seccompProfile: { type: "RuntimeDefault" },
  };
  const refused = podOf(inside, "refused", { args: ["serve"], container: { securityContext } });
  const { success, err } = await cluster.tryKubectl(["apply", "-f", "-"], JSON.stringify(refused));
  assert.equal(success, false);
  assert.match(
    err,
    /violates PodSecurity "restricted:latest".*container "mesh-init" must not include "NET_ADMIN", "NET_RAW"/,
  );
  console.log(`PodSecurity restricted: ${err.trim()}`);
  const outside = podOf(inside, "outside", {
    ...{ args: ["serve"], container: { securityContext }, labels: { "sidecar.mesh.io/inject": "false" } },
  });
  await applyObjects(cluster, [outside]);
});

async function observed(cluster: ClusterHandle, namespace: string, name: string): Promise<ObservedPod> {
  const found = await cluster.objects.get({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace } });
  return found as unknown as ObservedPod;
}
