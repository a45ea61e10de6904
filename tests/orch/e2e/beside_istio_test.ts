/** Beside another injector a pod has exactly one proxy: a real API asks both, in each order. */
import assert from "node:assert/strict";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { until } from "../../patience.ts";
import { containersOf, create, type Running, serve } from "../support/injecting.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { StoredObject } from "../support/server/objects.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { toyInjector } from "../support/toy_injector.ts";

const test = apiServerTests();

const proxiesOf = (pod: StoredObject) =>
  containersOf(pod).map(({ name }) => name).filter((name) => name === "mesh-proxy" || name === "istio-proxy");

/** Resolves when the API asks the other injector. */
async function othersAsked(server: ApiServer): Promise<void> {
  const namespace = await server.namespace({ "istio-injection": "enabled", "mesh-injection": "disabled" });
  await until(
    "the other injector",
    async () => proxiesOf(await create(server, namespace, {}, "?dryRun=All")).join() === "istio-proxy",
  );
}

async function asked({ kernel }: Running): Promise<number> {
  const { body } = await kernel.metrics.scrape();
  return Number(/^sidecar_injection_requests_total (\d+)$/m.exec(body.toString())?.[1] ?? 0);
}

test("after Istio's injector, a pod keeps Istio's proxy; pods of Istio's namespaces do not even wait for this server", async ({ server, namespace }) => {
  await serve(server, namespace, async (running) => {
    await using _other = await toyInjector(server, "istio-sidecar-injector");
    await othersAsked(server);
    const [istios, both, ours] = [
      await server.namespace({ "istio-injection": "enabled" }),
      await server.namespace({ "istio-injection": "enabled", "mesh-injection": "enabled" }),
      await server.namespace({ "mesh-injection": "enabled" }),
    ];
    const before = await asked(running);
    assert.deepEqual(proxiesOf(await create(server, istios)), ["istio-proxy"]);
    assert.equal(await asked(running), before, "the API has not asked this server");
    assert.deepEqual(proxiesOf(await create(server, both)), ["istio-proxy"]);
    assert.equal(await asked(running), before + 1);
    assert.deepEqual(proxiesOf(await create(server, ours)), ["mesh-proxy"]);
    const reasons = running.lines.filter((line) => line["namespace"] === both).map((line) => line["why"]);
    assert.deepEqual(reasons, ["Istio's injector has added its proxy"]);
  });
});

test("before an injector that adds a second proxy, the API refuses the pod by manifests/one-proxy.yaml", async ({ server, namespace }) => {
  await serve(server, namespace, async () => {
    for (const draft of manifests("one-proxy")) await server.objects.apply(draft);
    await using _other = await toyInjector(server, "zz-sidecar-injector");
    await othersAsked(server);
    const both = await server.namespace({ "istio-injection": "enabled", "mesh-injection": "enabled" });
    // The API follows its policies with a delay of some seconds.
    let reason = "";
    await until("the refusal", async () => {
      try {
        await create(server, both, {}, "?dryRun=All");
        return false;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        reason = error.message;
        return true;
      }
    });
    assert.match(reason, /mesh-one-proxy.*two injectors have changed the pod/s);
    const ours = await server.namespace({ "mesh-injection": "enabled" });
    assert.deepEqual(proxiesOf(await create(server, ours)), ["mesh-proxy"]);
    const [app, mesh, istio] = ["app", "mesh-proxy", "istio-proxy"].map((name) => ({ name, image: "a:1" }));
    const none = await server.namespace();
    await assert.rejects(create(server, none, {}, "", [app!, mesh!, istio!]), /the pod has two proxies/);
    assert.deepEqual(proxiesOf(await create(server, none, {}, "", [app!, istio!])), ["istio-proxy"]);
  });
});
