/** The kubelet's probes of applications under STRICT. The kubelet has no certificate. */
import assert from "node:assert/strict";
import { until } from "./support/waiting.ts";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import { ROLLOUT } from "./support/mesh.ts";
import { applyObjects, ECHO_IMAGE, strictPolicy } from "./support/workloads.ts";
import type { ClusterHandle } from "./support/handle.ts";

const test = clusterTests();

/** A pod as its probes see the pod. */
interface Probed {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly containerStatuses?: readonly ContainerState[];
    readonly initContainerStatuses?: readonly ContainerState[];
  };
}

interface ContainerState {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
}

const PROBES: Readonly<Record<string, object>> = {
  http: { httpGet: { path: "/ready", port: 8080 } },
  tcp: { tcpSocket: { port: 9000 } },
  grpc: { grpc: { port: 9001 } },
  exec: { exec: { command: ["true"] } },
};

const FAILING_PROBES: Readonly<Record<string, object>> = {
  http: { httpGet: { path: "/?status=500", port: 8080 } },
  tcp: { tcpSocket: { port: 9009 } },
  grpc: { grpc: { port: 9001, service: "another" } },
  exec: { exec: { command: ["false"] } },
};

test("under STRICT, probes of each kind see the application through the agent", async ({ cluster, namespace }) => {
  const inside = await namespace(INJECTED);
  const native = { "sidecar.mesh.io/nativeSidecar": "true" };
  await applyObjects(cluster, [
    strictPolicy(inside),
    probedPod(inside, "beside", { "sidecar.mesh.io/nativeSidecar": "false" }, []),
    probedPod(inside, "native", native, [companion()]),
    probedPod(inside, "unchanged", { ...native, "sidecar.mesh.io/rewriteAppHTTPProbers": "false" }, [], ["app"]),
  ]);
  for (const name of ["beside", "native"]) {
    await cluster.kubectl(["--namespace", inside, "wait", "--for=condition=Initialized", `pod/${name}`, ROLLOUT]);
  }
  const good = [...Object.keys(PROBES).map((kind) => `${kind}-good`), "app", "mesh-proxy", "startup-good"];
  await until("the good probes succeed", async () => {
    const [beside, nativePod] = [await states(cluster, inside, "beside"), await states(cluster, inside, "native")];
    return good.every((name) => beside.get(name)?.ready && nativePod.get(name)?.ready) &&
      nativePod.get("companion")?.ready === true && nativePod.get("companion")?.started === true;
  });
  for (const pod of ["beside", "native"]) {
    const found = await states(cluster, inside, pod);
    for (const kind of Object.keys(PROBES)) {
      assert.equal(found.get(`${kind}-bad`)?.ready, false, `${pod}: the failing probe ${kind}`);
    }
    assert.equal(found.get("app")?.restartCount, 0, `${pod}: the liveness probe succeeds`);
  }
  const unchanged = async () => (await states(cluster, inside, "unchanged")).get("app");
  await until("the kubelet knows the third pod", async () => await unchanged() !== undefined);
  assert.equal((await unchanged())?.ready, false, "a probe that the agent does not make is refused");
  console.log(`probes: ${good.length * 2 + 1} containers ready, ${Object.keys(PROBES).length * 2} not, as written`);
});

test("a probe that nobody could answer before the proxy stays, and kubectl prints a warning", async (given) => {
  const { cluster, namespace } = given;
  const inside = await namespace(INJECTED);
  const pod = probedPod(inside, "beside", { "sidecar.mesh.io/nativeSidecar": "false" }, [companion()]);
  const { success, err } = await cluster.tryKubectl(["apply", "--dry-run=server", "-f", "-"], JSON.stringify(pod));
  assert.ok(success, err);
  assert.match(err, /container companion: startupProbe stays unchanged, because the proxy starts later/);
  assert.match(err, /container companion: livenessProbe stays unchanged, because the proxy starts later/);
});

/**
 * A pod with a container for each probe. The container `app` serves all ports; the other containers only have probes,
 * which reach `app` because the containers of a pod share their network.
 */
function probedPod(
  namespace: string,
  name: string,
  annotations: Readonly<Record<string, string>>,
  initContainers: readonly object[],
  only?: readonly string[],
): object {
  const often = { periodSeconds: 2, timeoutSeconds: 5 };
  const idle = { image: ECHO_IMAGE, imagePullPolicy: "IfNotPresent", command: ["sleep", "infinity"] };
  const containers = [
    {
      ...{ name: "app", image: ECHO_IMAGE, imagePullPolicy: "IfNotPresent", args: ["serve"] },
      // A proxy beside the application starts last. Until then the agent answers no probe.
      startupProbe: { ...PROBES["http"], ...often, failureThreshold: 300 },
      livenessProbe: { ...PROBES["http"], ...often, failureThreshold: 10 },
      readinessProbe: { ...PROBES["http"], ...often },
    },
    { ...idle, name: "startup-good", startupProbe: { ...PROBES["grpc"], ...often, failureThreshold: 120 } },
    ...Object.entries(PROBES).map(([kind, probe]) => (
      { ...idle, name: `${kind}-good`, readinessProbe: { ...probe, ...often } }
    )),
    ...Object.entries(FAILING_PROBES).map(([kind, probe]) => (
      { ...idle, name: `${kind}-bad`, readinessProbe: { ...probe, ...often } }
    )),
  ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, annotations },
    spec: { containers: containers.filter(({ name }) => only?.includes(name) ?? true), initContainers },
  };
}

/** A native sidecar of the application, with probes of its own port. */
function companion(): object {
  const probe = { httpGet: { path: "/ready", port: 8090 }, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 120 };
  return {
    ...{ name: "companion", image: ECHO_IMAGE, imagePullPolicy: "IfNotPresent", restartPolicy: "Always" },
    args: ["serve", "--http", "8090", "--tcp", "9090", "--grpc", "9091"],
    ...{ startupProbe: probe, livenessProbe: probe, readinessProbe: probe },
  };
}

async function states(cluster: ClusterHandle, namespace: string, name: string): Promise<Map<string, ContainerState>> {
  const found = await cluster.objects.get({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace } });
  const { status } = found as unknown as Probed;
  const all = [...status.initContainerStatuses ?? [], ...status.containerStatuses ?? []];
  return new Map(all.map((state) => [state.name, state]));
}
