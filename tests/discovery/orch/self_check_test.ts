/** The regular check of the objects known from an orchestrator. */
import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { ApiFeed } from "../../../lib/discovery/sources/feed.ts";
import { SelfCheck } from "../../../lib/discovery/sources/self_check.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { MemoryApi } from "./memory_api.ts";
import { PATIENCE } from "../../patience.ts";

const PATH = "/apis/networking.mesh.io/v1/serviceentries";
const RESOURCE = {
  ...{ group: "networking.mesh.io", version: "v1", plural: "serviceentries", kind: "ServiceEntry" },
  namespaced: true,
};

const entry = (name: string, host: string) => ({
  metadata: { name, namespace: "shop" },
  spec: { hosts: [host], ports: [{ number: 80, name: "http" }], resolution: "DNS" },
});

/** A feed of service entries into a store, with checks. */
async function withFeed(
  work: (parts: {
    readonly api: MemoryApi;
    readonly hosts: () => string[];
    /** Checks once. @returns the findings since the last check, as `place count` */
    readonly check: () => Promise<string[]>;
    /** Changes the store behind the feed's back. */
    readonly plant: (upserted: readonly ConfigObject[], removed: readonly string[]) => void;
    readonly store: ConfigStore;
  }) => Promise<void>,
): Promise<void> {
  const api = new MemoryApi();
  for (const name of ["a", "b", "c"]) api.put(PATH, entry(name, `${name}.example`));
  api.start();
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const client = new ApiClient({ access: { current: () => ({ server: api.address }), refused: () => {} } });
  const store = new ConfigStore();
  const target = store.addSource("Orch", 0);
  const feed = new ApiFeed<ConfigObject>({
    ...{ client, kernel, cluster: "Orch", kind: "ServiceEntry", scope: {}, target, onFindings: () => {} },
    read: ({ apiVersion, kind, metadata, spec }) => {
      const uid = String((metadata as { uid: string }).uid);
      return parseObject({ apiVersion, kind, metadata, spec }, { from: "api", source: "Orch", uid }, {
        defaultNamespace: "default",
      });
    },
  });
  const checks = new SelfCheck({
    clusters: () => [
      { cluster: "Orch", feeds: () => [feed], fact: () => undefined, handedOver: () => Promise.resolve() },
    ],
    kernel,
  });
  let before = new Map<string, number>();
  try {
    feed.follow(RESOURCE);
    await feed.whenSynced;
    await api.watched(PATH);
    await work({
      api,
      store,
      hosts: () => store.list("ServiceEntry").map(({ spec }) => spec.hosts[0]!),
      check: async () => {
        await checks.check(50);
        const { body: text } = await kernel.metrics.scrape();
        const now = new Map([...text.matchAll(/^pilot_k8s_drift\{.*place="(\w+)".*\} (\d+)$/gm)].map(
          ([, place, count]) => [place!, Number(count)],
        ));
        const since = [...now].map(([place, count]) => [place, count - (before.get(place) ?? 0)] as const);
        before = now;
        return since.filter(([, count]) => count > 0).map(([place, count]) => `${place} ${count}`);
      },
      plant: (upserted, removed) => void target.apply({ upserted, removed }),
    });
  } finally {
    await checks.stop();
    await feed.stop();
    await api.stop();
    await kernel.stopper.stop();
  }
}

/** Resolves when the store has the expected hosts. */
async function becomes(store: ConfigStore, hosts: () => readonly string[], expected: readonly string[]): Promise<void> {
  const over = Promise.withResolvers<void>();
  const look = () => void (hosts().join() === expected.join() && over.resolve());
  const end = store.subscribe(look);
  const timer = setTimeout(() => over.reject(new Error(`${hosts()}, expected ${expected}`)), PATIENCE);
  look();
  await over.promise.finally(() => clearTimeout(timer));
  end();
}

Deno.test("missing, different and surplus objects of the store are repaired and counted", async () => {
  await withFeed(async ({ hosts, check, plant, store }) => {
    assert.deepEqual(await check(), [], "nothing has drifted");
    const [a, b] = store.list("ServiceEntry");
    const other = { ...b!, hash: "other", spec: { ...b!.spec, hosts: ["wrong.example"] } } as ConfigObject;
    const extra = { ...b!, key: "ServiceEntry/shop/z", meta: { ...b!.meta, name: "z" } } as ConfigObject;
    plant([other, extra], [a!.key]);
    assert.deepEqual(hosts(), ["wrong.example", "c.example", "b.example"]);
    assert.deepEqual(await check(), ["store 3"]);
    assert.deepEqual(hosts(), ["a.example", "b.example", "c.example"]);
    assert.deepEqual(await check(), []);
  });
});

Deno.test("a change of the API without an event of the watch is listed anew and counted", async () => {
  await withFeed(async ({ api, hosts, check, store }) => {
    api.slip(PATH, entry("b", "changed.example"));
    api.slip(PATH, entry("d", "new.example"));
    assert.deepEqual(await check(), ["api 2"]);
    await becomes(store, hosts, ["a.example", "changed.example", "c.example", "new.example"]);
    assert.deepEqual(await check(), []);
  });
});

Deno.test("an event of a watch during a check does not count as drift", async () => {
  await withFeed(async ({ api, hosts, check, store }) => {
    const checked = check();
    for (let i = 0; i < 20; i++) api.put(PATH, entry("b", `n${i}.example`));
    api.drop(PATH, "c", "shop");
    assert.deepEqual(await checked, []);
    await becomes(store, hosts, ["a.example", "n19.example"]);
  });
});

Deno.test("an API that is away does not end the checks, and nothing goes", async () => {
  await withFeed(async ({ api, hosts, check, plant, store }) => {
    const [a] = store.list("ServiceEntry");
    await api.stop();
    plant([], [a!.key]);
    assert.deepEqual((await check()).filter((one) => one.startsWith("api")), []);
    assert.ok(hosts().includes("c.example"));
  });
});
