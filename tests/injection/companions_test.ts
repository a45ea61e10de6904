/** Init containers of the application that keep running count as containers of the application. */
import assert from "node:assert/strict";
import { inject, injected } from "./support.ts";

const http = (port: number) => ({ httpGet: { path: "/up", port } });
const probes = {
  ...{ startupProbe: http(9000), livenessProbe: http(9000), readinessProbe: http(9000) },
  lifecycle: { postStart: http(9000), preStop: { tcpSocket: { port: 9000 } } },
};
const pod = (annotations: Record<string, string> = {}) => ({
  metadata: { name: "p", annotations },
  spec: {
    initContainers: [
      { name: "migrate", image: "m" },
      { name: "logs", image: "l", restartPolicy: "Always", ports: [{ containerPort: 9000 }], ...probes },
    ],
    containers: [{ name: "app", image: "a", ports: [{ containerPort: 80 }] }],
  },
});
const native = { "sidecar.istio.io/nativeSidecar": "true" };

Deno.test("behind a proxy that is an init container, probes and hooks of a companion go to the agent", () => {
  const { spec } = injected({ pod: pod(native) });
  const names = spec.initContainers!.map(({ name }) => name);
  assert(names.indexOf("mesh-proxy") < names.indexOf("logs"));
  const logs = spec.initContainers!.find(({ name }) => name === "logs")!;
  assert.deepEqual(
    [logs.startupProbe, logs.livenessProbe, logs.readinessProbe, logs.lifecycle?.postStart, logs.lifecycle?.preStop]
      .map((one) => [one?.httpGet?.path, one?.httpGet?.port]),
    [
      ["/app-health/logs/startupz", 15020],
      ["/app-health/logs/livez", 15020],
      ["/app-health/logs/readyz", 15020],
      ["/app-lifecycle/logs/poststartz", 15020],
      ["/app-lifecycle/logs/prestopz", 15020],
    ],
  );
  const proxy = spec.initContainers!.find(({ name }) => name === "mesh-proxy")!;
  const probers = JSON.parse(proxy.env!.find(({ name }) => name === "MESH_ORCH_APP_PROBERS")!.value!);
  assert.deepEqual(probers["/app-health/logs/startupz"], { httpGet: { path: "/up", port: 9000 } });
});

Deno.test("before a proxy that starts later, nothing but readiness waits for its agent, and the author is warned", () => {
  const result = inject({ pod: pod() });
  assert(result.kind === "injected");
  const logs = result.pod.spec.initContainers!.find(({ name }) => name === "logs")!;
  assert.deepEqual(logs.startupProbe, probes.startupProbe);
  assert.deepEqual(logs.livenessProbe, probes.livenessProbe);
  assert.deepEqual(logs.lifecycle, probes.lifecycle);
  assert.equal(logs.readinessProbe?.httpGet?.path, "/app-health/logs/readyz");
  assert.deepEqual(result.warnings.map((one) => one.split(" stays")[0]), [
    ...["livenessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"].map((where) =>
      `container logs: ${where}`
    ),
  ]);
});

Deno.test("the proxy knows the names and ports of companions, behind those of the other containers", () => {
  const proxy = injected({ pod: pod() }).spec.containers.find(({ name }) => name === "mesh-proxy")!;
  const text = (name: string) => proxy.env!.find((one) => one.name === name)?.value;
  assert.equal(text("MESH_META_APP_CONTAINERS"), "app,logs");
  assert.equal(text("MESH_META_POD_PORTS"), '[{"containerPort":80},{"containerPort":9000}]');
});

Deno.test("injecting a pod with companions twice is injecting it once", () => {
  for (const annotations of [{}, native]) {
    const once = injected({ pod: pod(annotations) });
    assert.deepEqual(injected({ pod: once }), once);
  }
});

Deno.test("a warning names each container with the proxy's user, whose calls bypass the proxy", () => {
  const user = (runAsUser: number) => ({ securityContext: { runAsUser } });
  const containers = [{ name: "app", image: "a" }, { name: "other", image: "o", ...user(1000) }];
  const warnings = (spec: object) => {
    const result = inject({ pod: { metadata: { name: "p" }, spec: { containers, ...spec } } });
    assert(result.kind === "injected");
    return result.warnings.map((one) => one.split(":")[0]);
  };
  assert.deepEqual(warnings(user(1337)), ["container app"]);
  assert.deepEqual(warnings({ containers: [containers[0], { ...containers[1], ...user(1337) }] }), ["container other"]);
  assert.deepEqual(warnings(user(2000)), []);
});
