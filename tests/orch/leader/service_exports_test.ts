/** Each service is exported, by exactly the rights of the manifests, and stays at home where the mesh says so. */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { FactFeeds } from "../../../lib/discovery/sources/fact_feeds.ts";
import { serviceExports } from "../../../lib/discovery/duties/service_exports.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { createLog, defaultLogOptions, silentLog } from "../../../lib/kernel/log/log.ts";
import { scopes } from "../../../lib/kernel/log/scopes.ts";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { serviceDraft } from "../support/drafts.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { exportDraft, sharingDefinitions } from "../support/sharing.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const api = { groups: ["multicluster.orch.example", "multicluster.x-k8s.io"], version: "v1alpha1" };

/** Runs the duty on the services of an API server. @param local Name of the services that stay. */
async function exporting(
  { client }: ApiServer,
  run: (changed: (local: string) => void) => Promise<unknown>,
  { as = client, local = "", groups = api.groups }: {
    readonly as?: ApiClient;
    readonly local?: string;
    readonly groups?: readonly string[];
  } = {},
): Promise<void> {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const facts = new FactStore();
  const feeds = new FactFeeds({
    ...{ client, kernel, cluster: "Orch", facts: facts.addSource("Orch", 0), digestKey: new Uint8Array(32) },
    ...{ namespace: "", services: true, kinds: ["Service"], onFindings: () => {} },
  });
  await feeds.start();
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  const running = serviceExports({
    ...{
      client: as,
      facts,
      api: { ...api, groups },
      isLocal: ({ name }) => name === local,
      log: silentLog().scope("orch"),
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  }).run(stop.signal);
  try {
    await run((now) => {
      local = now;
      for (const listener of listeners) listener();
    });
  } finally {
    stop.abort();
    await running.catch(() => {});
    await feeds.stop();
    await kernel.stopper.stop();
  }
  assert.equal(listeners.size, 0, "what ended listens no more");
}

test("a service is exported, and owns the export; a cluster-local service is not exported until it may leave; a removed export stays away", async ({ server, namespace }) => {
  for (const definition of sharingDefinitions()) await server.objects.define(definition);
  const { objects } = server;
  const isThere = async (name: string) => await objects.get(exportDraft(namespace, name)) !== undefined;
  await objects.apply(serviceDraft(namespace, "early"));
  await objects.apply(serviceDraft(namespace, "home"));
  await exporting(server, async (changed) => {
    await until("the export", () => isThere("early"));
    const service = (await objects.get(serviceDraft(namespace, "early")))!;
    const { ownerReferences } = (await objects.get(exportDraft(namespace, "early")))!.metadata as unknown as {
      readonly ownerReferences: unknown;
    };
    const { uid } = service.metadata as unknown as { readonly uid: string };
    assert.deepEqual(ownerReferences, [{ apiVersion: "v1", kind: "Service", name: "early", uid }]);
    await objects.delete(exportDraft(namespace, "early"));
    await objects.apply(serviceDraft(namespace, "late"));
    await until("the export of a new service", () => isThere("late"));
    assert.deepEqual([await isThere("early"), await isThere("home")], [false, false]);
    changed("late");
    await until("the export of one that may leave", () => isThere("home"));
  }, { local: "home" });
});

test("a service that is made anew is exported anew, when the API has taken its predecessor's export away", async ({ server, namespace }) => {
  for (const definition of sharingDefinitions()) await server.objects.define(definition);
  const { objects } = server;
  const cart = serviceDraft(namespace, "cart");
  const ownerOf = async () => {
    const owners = (await objects.get(exportDraft(namespace, "cart")))?.metadata as {
      ownerReferences?: { uid: string }[];
    };
    return owners?.ownerReferences?.[0]?.uid;
  };
  const uidOf = async () => ((await objects.get(cart))!.metadata as unknown as { readonly uid: string }).uid;
  await objects.apply(cart);
  await exporting(server, async () => {
    await until("the export", async () => await ownerOf() === await uidOf());
    await objects.delete(cart);
    await objects.apply(cart);
    // The API server runs without the controller that removes objects of a removed owner: the test removes the export.
    await objects.delete(exportDraft(namespace, "cart"));
    await until("the export of the new one", async () => await ownerOf() === await uidOf());
  });
});

test("a definition that goes is waited for again, and each service is exported when it is back", async ({ server, namespace }) => {
  const { objects } = server;
  const definitions = sharingDefinitions();
  for (const definition of definitions) await objects.define(definition);
  const isThere = async () => await objects.get(exportDraft(namespace, "cart")).catch(() => undefined) !== undefined;
  await objects.apply(serviceDraft(namespace, "cart"));
  // Only the sleep of the duty is short: requests have the usual time.
  const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 100), signal) };
  const quick = new ApiClient({ access: { current: () => server.access, refused: () => {} }, clock });
  await exporting(server, async () => {
    await until("the export", isThere);
    for (const definition of definitions) await objects.delete(definition);
    for (const definition of definitions) {
      await until("the end of a definition", async () => await objects.get(definition) === undefined);
    }
    await until("the end of the exports", async () => !await isThere());
    for (const definition of definitions) await objects.define(definition);
    await until("the export", isThere);
  }, { as: quick });
});

for (const group of api.groups) {
  for (const files of [["pilot-discovery"], ["remote-reader", "remote-leader"]]) {
    test(`${group}: the account of ${files.join(" and ")} may do it; with one verb less it is refused`, async ({ server }) => {
      for (const definition of sharingDefinitions(group)) await server.objects.define(definition);
      const needs = ({ resource, verb, ...right }: Right) =>
        right.group === group && resource === "serviceexports" && verb !== "watch";
      await server.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM } });
      await server.objects.apply(serviceDraft(SYSTEM, "cart"));
      const cart = { ...exportDraft(SYSTEM, "cart"), apiVersion: `${group}/${api.version}` };
      const isThere = async () => await server.objects.get(cart) !== undefined;
      await everyRightIsNeeded(server, files, needs, async (as) => {
        if (await isThere()) await server.objects.delete(cart);
        await exporting(server, () => as.until("the export", isThere), { as: as.client, groups: [group] });
      });
    });
  }
}

Deno.test("an API without the resource is warned of once, by the variable's name, and asked again", async () => {
  const lines: string[] = [];
  let asked = 0;
  const log = createLog(scopes["pilot-discovery"], { ...defaultLogOptions, json: true }, {
    open: () => ({ write: (line) => void lines.push(new TextDecoder().decode(line)), close: () => {} }),
  }).scope("orch");
  const stop = new AbortController();
  const client = new ApiClient({
    access: { current: () => ({ server: "https://api" }), refused: () => {} },
    exchange: () => {
      if (++asked === 6) stop.abort();
      return Promise.resolve(new Response("{}", { status: 404 }));
    },
    clock: { now: Date.now, monotonic: () => performance.now(), after: () => () => {}, sleep: () => Promise.resolve() },
  });
  const parts = { client, facts: new FactStore(), api, isLocal: () => false, onChange: () => () => {}, log };
  await serviceExports(parts).run(stop.signal).catch(() => {});
  const warnings = lines.filter((line) => line.includes("ENABLE_MCS_AUTO_EXPORT"));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /serviceexports\.multicluster\.x-k8s\.io v1alpha1/);
  assert.equal(asked, 6, "each group, three times");
});
