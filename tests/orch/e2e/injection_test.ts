/** Pods get their proxy when a real API server creates them; pods that opted out get none. */
import assert from "node:assert/strict";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { page, withServer } from "../../discovery/running.ts";
import { type Container, containersOf, create, type Labels, proxyOf, serve } from "../support/injecting.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();

test("labels of namespaces and pods, in both spellings, decide who gets a proxy; the URL says cluster and network", async ({ server, namespace }) => {
  await serve(server, namespace, async () => {
    const cases: readonly (readonly [proxy: boolean, ofNamespace: Labels, ofPod: Labels])[] = [
      [true, { "mesh-injection": "enabled" }, {}],
      [true, { "istio-injection": "enabled" }, {}],
      [true, { "mesh.io/rev": "default" }, {}],
      [true, { "istio.io/rev": "default" }, {}],
      [true, {}, { "sidecar.mesh.io/inject": "true" }],
      [true, {}, { "sidecar.istio.io/inject": "true" }],
      [true, {}, { "istio.io/rev": "default" }],
      [false, {}, {}],
      [false, { "mesh-injection": "disabled" }, { "sidecar.mesh.io/inject": "true" }],
      [false, { "mesh-injection": "enabled" }, { "sidecar.mesh.io/inject": "false" }],
      [false, { "istio-injection": "enabled" }, { "sidecar.istio.io/inject": "false" }],
      [false, { "mesh.io/rev": "canary" }, {}],
    ];
    for (const [proxy, ofNamespace, labels] of cases) {
      const of = await server.namespace(ofNamespace);
      const pod = await create(server, of, { labels });
      assert.equal(proxyOf(pod) !== undefined, proxy, JSON.stringify([ofNamespace, labels]));
      if (proxy) assert.ok(containersOf(pod).some(({ name }) => name === "mesh-init"));
    }
    const env = proxyOf(await create(server, await server.namespace({ "mesh-injection": "enabled" })))?.env ?? [];
    const valueOf = (key: string) => env.find(({ name }) => name === key)?.value;
    assert.deepEqual([valueOf("MESH_META_CLUSTER_ID"), valueOf("MESH_META_NETWORK")], ["c7", "n7"]);
  });
});

test("a pod that cannot have its proxy is refused with all reasons; a dry run changes nothing", async ({ server, namespace }) => {
  await serve(server, namespace, async ({ kernel }) => {
    const of = await server.namespace({ "mesh-injection": "enabled" });
    const annotations = { "status.sidecar.istio.io/port": "many", "sidecar.istio.io/interceptionMode": "SOMEHOW" };
    await assert.rejects(create(server, of, { annotations }), (error) => {
      assert.ok(error instanceof ApiError);
      assert.match(error.message, /denied the request: .*port.*many/s);
      assert.match(error.message, /SOMEHOW/);
      return true;
    });
    const dry = await create(server, of, {}, "?dryRun=All");
    assert.ok(proxyOf(dry));
    assert.deepEqual(await server.objects.list({ apiVersion: "v1", kind: "Pod" }, of), []);
    const page = (await kernel.metrics.scrape()).body;
    assert.match(page, /sidecar_injection_failure_total 1/);
    assert.match(page, /sidecar_injection_success_total [1-9]/);
    assert.match(page, /sidecar_injection_time_seconds_count [2-9]/);
  });
});

test("a config map of the injector is taken when it comes, its mistakes change nothing, and it is on the page", async ({ server, namespace }) => {
  await serve(server, namespace, async ({ discovery, lines }) => {
    const of = await server.namespace({ "mesh-injection": "enabled" });
    const read = async () => JSON.parse((await page(discovery.ports.http, "/debug/inject")).body);
    assert.equal((await read()).place, "built in");
    const map = {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "istio-sidecar-injector" } },
      data: { config: "policy: disabled\n", values: "{}" },
    };
    await server.objects.create(map);
    await until(
      "the config map",
      async () => (await read()).place === `config map ${namespace}/istio-sidecar-injector`,
    );
    assert.equal(proxyOf(await create(server, of)), undefined);
    assert.ok(proxyOf(await create(server, of, { labels: { "sidecar.mesh.io/inject": "true" } })));
    await server.objects.patch(map, { data: { config: "policy: perhaps\ntemplates: 5\n" } });
    await until("the mistakes", async () => (await read()).problems.length === 2);
    assert.equal((await read()).config.policy, "disabled");
    assert.match(JSON.stringify(lines), /config: policy: got \\"perhaps\\", expected enabled or disabled/);
    await server.objects.delete(map);
    await until("the loss", async () => /the text is gone/.test(String((await read()).problems)));
    assert.equal((await read()).config.policy, "disabled");
    await server.objects.create({ ...map, data: { config: "policy: enabled" } });
    await until("the next one", async () => (await read()).config.policy === "enabled");
  });
});

test("pods that were there before their namespace was labelled are listed and logged, until they are made anew", async ({ server, namespace }) => {
  await serve(server, namespace, async ({ discovery, lines }) => {
    const of = await server.namespace();
    const old = await create(server, of);
    const missed = async () => JSON.parse((await page(discovery.ports.http, "/debug/inject")).body).missed;
    const own = async () => (await missed()).filter((one: { namespace: string }) => one.namespace === of);
    const id = { apiVersion: "v1", kind: "Namespace", metadata: { name: of } };
    await server.objects.patch(id, { metadata: { labels: { "mesh-injection": "enabled" } } });
    await until("the pod", async () => (await own()).length === 1);
    assert.deepEqual(await own(), [{ namespace: of, pod: old.metadata.name, owner: "" }]);
    const said = (text: RegExp) => lines.some((line) => line["namespace"] === of && text.test(String(line["msg"])));
    await until("the line", () => Promise.resolve(said(/should have a proxy lack the proxy/)));
    await server.objects.delete({ ...old, metadata: { ...old.metadata, namespace: of } });
    const made = await create(server, of);
    assert.ok(proxyOf(made));
    await until("no pod", async () => (await own()).length === 0);
    await until("its line", () => Promise.resolve(said(/have a proxy$/)));
  });
});

test("with ENABLE_NATIVE_SIDECARS the API takes the proxy as an init container that goes on", async ({ server, namespace }) => {
  const settings = { ENABLE_NATIVE_SIDECARS: true };
  await serve(server, namespace, async () => {
    const pod = await create(server, await server.namespace({ "mesh-injection": "enabled" }));
    const { initContainers } = pod["spec"] as {
      readonly initContainers: readonly (Container & { restartPolicy?: string })[];
    };
    assert.equal(initContainers.find(({ name }) => name === "mesh-proxy")?.restartPolicy, "Always");
  }, settings);
});

test("a server whose configuration has mistakes from the start is not ready, and refuses pods with the mistakes, until the configuration is correct", async ({ server, namespace }) => {
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: false };
  const options = { configDir: undefined, orch, systemNamespace: namespace, webhooks: "" };
  const map = {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "mesh-sidecar-injector" } },
    data: { config: "policy: perhaps", values: "global: { hub: 5 }" },
  };
  await server.objects.create(map);
  await withServer({}, async ({ ports }) => {
    const inject = async () => {
      const object = { metadata: { name: "a" }, spec: { containers: [{ name: "app", image: "a" }] } };
      const resource = { group: "", version: "v1", resource: "pods" };
      const request = { uid: "1", operation: "CREATE", namespace: "shop", resource, object };
      const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
      const headers = { "content-type": "application/json" };
      return (await (await fetch(`http://127.0.0.1:${ports.http}/inject`, { method: "POST", body, headers })).json())
        .response;
    };
    await until("the mistakes", async () => /perhaps/.test((await page(ports.http, "/debug/inject")).body));
    assert.equal((await page(ports.http, "/ready")).status, 503);
    const refused = await inject();
    assert.equal(refused.allowed, false);
    assert.match(
      refused.status.message,
      /no configuration yet; config: policy: got "perhaps".*; values: global\.hub: got 5/,
    );
    await server.objects.patch(map, { data: { config: "policy: enabled", values: "" } });
    await until("readiness", async () => (await page(ports.http, "/ready")).status === 200);
    assert.equal((await inject()).allowed, true);
  }, { options });
});

test("without INJECT_ENABLED nothing is injected, and nothing is patched", async ({ server, namespace }) => {
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: false };
  const options = { configDir: undefined, orch, systemNamespace: namespace, webhooks: "" };
  await withServer({}, async ({ ports }) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`http://127.0.0.1:${ports.http}/inject`, { method: "POST", body: "{}", headers });
    assert.equal(answer.status, 404);
    await answer.body?.cancel();
    assert.match((await page(ports.http, "/debug/inject")).body, /injects nothing: INJECT_ENABLED is false/);
  }, { options, settings: { INJECT_ENABLED: false } });
});
