/** An informer keeps the objects of the API, whatever goes wrong: against a stand-in that fails on purpose. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { watchConfigMaps } from "../support/config_maps.ts";
import { type Fault, quickClock, ScriptedApi } from "../support/scripted_api.ts";
import { runs } from "../../properties.ts";

/** Runs a test with a stand-in and an informer, and ends both. */
function withApi(
  name: string,
  work: (
    api: ScriptedApi,
    watch: (options?: Parameters<typeof watchConfigMaps>[1]) => ReturnType<typeof watchConfigMaps>,
  ) => Promise<void>,
) {
  Deno.test(name, async () => {
    const api = new ScriptedApi();
    const watches: ReturnType<typeof watchConfigMaps>[] = [];
    try {
      await work(api, (options) => {
        // The API of the test has 2 s for an answer. A test waits that long when no answer comes.
        const one = watchConfigMaps(api.client(quickClock(), 100_000), options);
        watches.push(one);
        return one;
      });
    } finally {
      await Promise.all(watches.map((one) => one.informer.stop()));
      await api.stop();
    }
  });
}

withApi("objects of all pages, then every change", async (api, watch) => {
  for (let i = 0; i < 25; i++) api.put(`c${i}`, "1");
  const { informer, becomes } = watch({ pageSize: 10 });
  await informer.whenSynced;
  await becomes(() => api.state());
  assert.equal(api.asked.filter((one) => one.startsWith("list")).length, 3);
  api.put("c3", "2");
  api.put("new", "1");
  api.drop("c4");
  await becomes(() => api.state());
});

withApi("a server that ignores the limit gives all in one answer", async (api, watch) => {
  api.ignoresLimit = true;
  for (let i = 0; i < 25; i++) api.put(`c${i}`, "1");
  await watch({ pageSize: 10 }).becomes(() => api.state());
  assert.equal(api.asked.filter((one) => one.startsWith("list")).length, 1);
});

withApi("one namespace and selectors are asked for, and metadata alone where that is enough", async (api, watch) => {
  api.put("a", "1", "shop");
  api.put("b", "1", "other");
  const { becomes } = watch({ namespace: "shop", labelSelector: "x=y", metadataOnly: true });
  await becomes(() => ["shop/a u1 1"]);
  assert.match(api.asked[0] ?? "", /^list \/api\/v1\/namespaces\/shop\/configmaps\?.*labelSelector=x%3Dy/);
  assert.match(api.headers[0]?.get("accept") ?? "", /as=PartialObjectMetadataList;/);
});

withApi(
  "a list asks for what the server has at hand, a later one for nothing older, and one after a failure for now",
  async (api, watch) => {
    api.put("a", "1");
    const { informer, becomes } = watch();
    await informer.whenSynced;
    for (const name of ["b", "c"]) {
      api.put(name, "1");
      await becomes(() => api.state());
    }
    // No watch has the next changes in its history.
    api.endWatches("close");
    api.put("d", "1");
    api.compact();
    api.faults.list.push({ fault: "status", status: 503 });
    await becomes(() => api.state());
    const asked = api.asked.filter((one) => one.startsWith("list")).map((one) => one.replace(/.*limit=500/, ""));
    assert.deepEqual(asked.slice(0, 3), [
      "&resourceVersion=0",
      "&resourceVersion=103&resourceVersionMatch=NotOlderThan",
      "",
    ]);
  },
);

withApi(
  "an API that was restored from a backup, and has never seen the versions that are known, is followed",
  async (api, watch) => {
    for (let i = 0; i < 25; i++) api.put(`c${i}`, "1");
    const { informer, becomes, removed } = watch({ pageSize: 10 });
    await informer.whenSynced;
    api.restore();
    api.put("c3", "2");
    await becomes(() => api.state());
    assert.deepEqual(removed, []);
  },
);

withApi("a page's token that is too old begins the list again, and nothing goes", async (api, watch) => {
  for (let i = 0; i < 25; i++) api.put(`c${i}`, "1");
  const { becomes, removed, informer } = watch({ pageSize: 10 });
  await informer.whenSynced;
  api.compact();
  api.tokensExpired = true;
  api.endWatches("close");
  api.put("c1", "2");
  api.compact();
  await becomes(() => api.state());
  assert.deepEqual(removed, []);
});

withApi("a version that is too old lists and compares: only what is gone goes", async (api, watch) => {
  for (const name of ["a", "b", "c"]) api.put(name, "1");
  const { becomes, removed, informer } = watch();
  await informer.whenSynced;
  api.faults.watch.push({ fault: "silent" });
  api.endWatches("close");
  api.drop("b");
  api.put("c", "2");
  api.compact();
  api.endWatches("cut");
  await becomes(() => api.state());
  assert.deepEqual(removed, ["default/b u2"]);
});

withApi("a watch goes on from a bookmark that came after its last event", async (api, watch) => {
  api.put("a", "1", "shop");
  const { informer, becomes } = watch({ namespace: "shop" });
  await informer.whenSynced;
  await becomes(() => ["shop/a u1 1"]);
  while (api.watching === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  for (let i = 0; i < 5; i++) api.put(`o${i}`, "1", "other");
  api.bookmark();
  api.put("b", "1", "shop");
  await becomes(() => ["shop/a u1 1", "shop/b u7 1"]);
  api.compact();
  api.endWatches("close");
  api.put("a", "2", "shop");
  await becomes(() => ["shop/a u1 2", "shop/b u7 1"]);
  assert.equal(api.asked.filter((one) => one.startsWith("list")).length, 1, "nothing was too old");
});

withApi("lines in pieces, and characters split between them, are put together", async (api, watch) => {
  api.pieces = 3;
  const { informer, becomes } = watch();
  await informer.whenSynced;
  api.put("a", "grüße, 世界 🌍");
  api.put("b", "2");
  await becomes(() => api.state());
});

const BROKEN: readonly (readonly [string, "list" | "watch", Fault])[] = [
  ["a refusal with Retry-After", "list", { fault: "status", status: 429, retryAfter: "1" }],
  ["a server error", "list", { fault: "status", status: 500 }],
  ["credentials that are refused", "list", { fault: "status", status: 401 }],
  ["a list that is cut off", "list", { fault: "cut" }],
  ["half a list", "list", { fault: "half" }],
  ["a list that stays silent", "list", { fault: "silent" }],
  ["no answer to a list", "list", { fault: "hang" }],
  ["a page of another server", "list", { fault: "garbage" }],
  ["a watch that is refused", "watch", { fault: "status", status: 503 }],
  ["no answer to a watch", "watch", { fault: "hang" }],
  ["a watch that says nothing", "watch", { fault: "silent" }],
  ["a watch that is cut off in an event", "watch", { fault: "cut" }],
  ["half an event at the end", "watch", { fault: "half" }],
  ["an error inside a success", "watch", { fault: "error", code: 500 }],
  ["a version that is too old", "watch", { fault: "error", code: 410 }],
  ["a line that is no JSON", "watch", { fault: "garbage" }],
  ["a watch that ends at once", "watch", { fault: "end" }],
];
for (const [what, at, fault] of BROKEN) {
  withApi(`after ${what}, twice, everything is known and nothing went`, async (api, watch) => {
    api.put("a", "1");
    api.faults[at].push(fault, fault);
    const { becomes, removed, informer } = watch({ idle: 15_000 });
    await informer.whenSynced;
    while (at === "watch" && api.faults.watch.length === 2) await new Promise((resolve) => setTimeout(resolve, 1));
    api.put("b", "1");
    await becomes(() => api.state());
    api.put("c", "1");
    await becomes(() => api.state());
    assert.deepEqual(removed, []);
  });
}

withApi("a storm of errors is waited out with longer and longer pauses", async (api, watch) => {
  api.put("a", "1");
  for (let i = 0; i < 8; i++) api.faults.list.push({ fault: "status", status: 503 });
  const began = performance.now();
  const { becomes, troubles } = watch({ random: () => 1 });
  await becomes(() => api.state());
  // A list that a busy machine answers late is a trouble, too.
  assert.ok(troubles.length >= 8, `${troubles.length} troubles`);
  // 0.5 + 1 + 2 + 4 + 8 + 16 + 30 + 30 s, at a fiftieth of their length.
  assert.ok(performance.now() - began > 91_500 / 50 - 50, "it waits");
});

Deno.test("an API that is not there at the start is asked until it is", async () => {
  const api = new ScriptedApi({ start: false });
  const { informer, becomes, troubles } = watchConfigMaps(api.client(quickClock()));
  try {
    while (troubles.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(informer.synced, false);
    api.start();
    api.put("a", "1");
    await becomes(() => api.state());
    assert.equal(informer.trouble, undefined);
  } finally {
    await informer.stop();
    await api.stop();
  }
});

withApi("an object that the projector refuses keeps its last version, and the others come", async (api, watch) => {
  const project = (object: Readonly<Record<string, unknown>>) => {
    const { v } = object["data"] as { v: string };
    if (v === "bad") throw new Error("no");
    return v;
  };
  api.put("a", "1");
  const { becomes } = watch({ project });
  await becomes(() => api.state());
  api.put("a", "bad");
  api.put("b", "1");
  await becomes(() => ["default/a u1 1", "default/b u2 1"]);
});

const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>({ fault: "silent" }, { fault: "cut" }, { fault: "half" }, { fault: "garbage" }, {
    fault: "end",
  }),
  fc.constantFrom(410, 429, 500, 504).map((code): Fault => ({ fault: "error", code })),
  fc.constantFrom(401, 403, 404, 429, 503).map((status): Fault => ({ fault: "status", status })),
);
const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("put" as const), name: fc.constantFrom("a", "b", "c", "d"), v: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("drop" as const), name: fc.constantFrom("a", "b", "c", "d") }) },
  fc.record({ do: fc.constant("compact" as const) }),
  fc.record({ do: fc.constant("bookmark" as const) }),
  fc.record({ do: fc.constant("end" as const), how: fc.constantFrom("close" as const, "cut" as const) }),
  fc.record({ do: fc.constant("tokens" as const) }),
  fc.record({
    do: fc.constant("fault" as const),
    at: fc.constantFrom("list" as const, "watch" as const),
    fault: anyFault,
  }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant("turn" as const), ms: fc.nat(8) }) },
);

Deno.test("after any order of changes and faults the informer has what the API has, and nothing went that is there", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 30 }), async (steps) => {
      const api = new ScriptedApi();
      const { informer, becomes } = watchConfigMaps(api.client(quickClock(400), 20_000), { pageSize: 2, idle: 10_000 });
      const early: string[] = [];
      informer.subscribe(({ removed }) => {
        for (const { namespace, name, uid } of removed) if (api.has(namespace, name, uid)) early.push(`${name} ${uid}`);
      });
      try {
        for (const step of steps) {
          if (step.do === "put") api.put(step.name, String(step.v));
          else if (step.do === "drop") api.drop(step.name);
          else if (step.do === "compact") api.compact();
          else if (step.do === "bookmark") api.bookmark();
          else if (step.do === "end") api.endWatches(step.how);
          else if (step.do === "tokens") api.tokensExpired = true;
          else if (step.do === "fault") api.faults[step.at].push(step.fault);
          else await new Promise((resolve) => setTimeout(resolve, step.ms));
        }
        await becomes(() => api.state());
        assert.deepEqual(early, []);
      } finally {
        await informer.stop();
        await api.stop();
      }
    }),
    { numRuns: runs(60) },
  );
});
