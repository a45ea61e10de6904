/** What workloads have called survives restarts, in a file or in config maps, and two servers share it. */
import assert from "node:assert/strict";
import { CallFile } from "../../../lib/discovery/calls/call_file.ts";
import { CallKeeper, type CallShelf } from "../../../lib/discovery/calls/call_keeper.ts";
import { CallMaps } from "../../../lib/discovery/calls/call_maps.ts";
import { type CallingWorkload, CallMemory } from "../../../lib/discovery/calls/call_memory.ts";
import { startCalls } from "../../../lib/discovery/calls/start.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { until } from "../../patience.ts";
import { MemoryApi } from "../orch/memory_api.ts";

const HOUR = 3_600_000;
const shop: CallingWorkload = { namespace: "shop", account: "cart", name: "cart" };
const MAPS = "/api/v1/configmaps";

function call(memory: CallMemory, workload: CallingWorkload, ...names: string[]): void {
  const record = memory.open(workload);
  record.called(names);
  record.close();
}

const handed = (memory: CallMemory, workload = shop) => [...memory.open(workload).handed(true)].sort();

/** A server's memory and its keeper. */
async function started(shelf: CallShelf) {
  const clock = createFakeClock();
  const warnings: string[] = [];
  const memory = new CallMemory({ lifetime: 8 * 24 * HOUR, clock });
  const log = { info: (text: string) => warnings.push(text), warn: (text: string) => warnings.push(text) };
  const keeper = new CallKeeper(memory, shelf, clock, log);
  await keeper.start();
  return { clock, memory, keeper, warnings };
}

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "calls-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function clientOf(api: MemoryApi): ApiClient {
  const access = { server: api.address };
  return new ApiClient({ access: { current: () => access, refused: () => {} }, clock: systemClock });
}

async function withApi(run: (api: MemoryApi) => Promise<void>): Promise<void> {
  const api = new MemoryApi();
  api.start();
  try {
    await run(api);
  } finally {
    await api.stop();
  }
}

/** Runs with a way to make shelves of one store, and a way to read what is stored. */
type WithStore = (run: (shelf: () => CallShelf, stored: () => Promise<string>) => Promise<void>) => Promise<void>;

const stores: Readonly<Record<string, WithStore>> = {
  "a file": (run) =>
    withFolder((folder) =>
      run(() => new CallFile(`${folder}/calls`), () => Deno.readTextFile(`${folder}/calls/calls.json`).catch(() => ""))
    ),
  "config maps": (run) =>
    withApi((api) =>
      run(() => new CallMaps(clientOf(api), "mesh-system"), () => {
        const map = api.get(MAPS, "mesh-calls-shop", "mesh-system");
        return Promise.resolve((map?.["data"] as { readonly calls: string } | undefined)?.calls ?? "");
      })
    ),
};

for (const [name, withStore] of Object.entries(stores)) {
  Deno.test(`${name}: a restarted server hands out what was called before, and writes nothing while nothing is new`, async () => {
    await withStore(async (shelf, stored) => {
      const first = await started(shelf());
      call(first.memory, shop, "80/a", "outbound|9||b");
      assert.equal(await stored(), "", "writes wait for more calls");
      await first.keeper.stop();
      const text = await stored();
      assert.match(text, /80\/a/);
      const second = await started(shelf());
      assert.deepEqual(handed(second.memory), ["80/a", "outbound|9||b"]);
      call(second.memory, shop, "80/a");
      await second.clock.advance(60_000);
      await second.keeper.stop();
      assert.equal(await stored(), text);
      assert.deepEqual([...first.warnings, ...second.warnings], []);
    });
  });

  Deno.test(`${name}: two servers add to each other's calls, also when both write at the same time`, async () => {
    await withStore(async (shelf, stored) => {
      const [one, two] = [await started(shelf()), await started(shelf())];
      call(one.memory, shop, "80/one");
      call(two.memory, { ...shop, name: "pay" }, "80/two");
      call(two.memory, shop, "80/shared");
      await Promise.all([one.clock.advance(60_000), two.clock.advance(60_000)]);
      await until("both servers' calls", async () => {
        for (const { memory, clock } of [one, two]) {
          memory.setChanged("shop");
          await clock.advance(60_000);
        }
        const text = await stored();
        return ["80/one", "80/two", "80/shared"].every((part) => text.includes(part));
      });
      await one.keeper.stop();
      await two.keeper.stop();
      const third = await started(shelf());
      assert.deepEqual(handed(third.memory), ["80/one", "80/shared"]);
      assert.deepEqual(handed(third.memory, { ...shop, name: "pay" }), ["80/two"]);
      await third.keeper.stop();
    });
  });
}

Deno.test("calls that go on are stored again before others forget them, and seldom", async () => {
  await withFolder(async (folder) => {
    const time = { now: 0 };
    const clock = { now: () => time.now };
    const lifetime = 8 * 24 * HOUR;
    const memory = new CallMemory({ lifetime, clock });
    const record = memory.open(shop);
    record.called(["80/a"]);
    const file = new CallFile(folder);
    const texts = new Set<string>();
    for (let hour = 0; hour < 20 * 24; hour++, time.now += HOUR) {
      await file.save(memory);
      texts.add(await Deno.readTextFile(file.place));
    }
    assert.ok(texts.size >= 10 && texts.size <= 20, `${texts.size} writes in twenty days`);
    const other = new CallMemory({ lifetime, clock });
    await file.start((stored) => stored.forEach(({ workload, calls }) => other.merge(workload, calls)));
    assert.deepEqual(handed(other), ["80/a"]);
    record.close();
  });
});

Deno.test("a file of another content is not overwritten, and the log says so once", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/calls.json`, "mine");
    const one = await started(new CallFile(folder));
    call(one.memory, shop, "80/a");
    await one.clock.advance(60_000);
    await until("the pause after the failure", () => one.clock.pending() > 0);
    call(one.memory, shop, "80/b");
    await one.keeper.stop();
    assert.equal(await Deno.readTextFile(`${folder}/calls.json`), "mine");
    assert.equal(one.warnings.length, 2, "one for reading, one for writing");
    assert.deepEqual(handed(one.memory), ["80/a", "80/b"]);
  });
});

Deno.test("config maps: one that cannot be written keeps no other from being written", async () => {
  await withApi(async (api) => {
    // Somebody else's config map of the name.
    api.put(MAPS, { metadata: { name: "mesh-calls-a", namespace: "mesh-system" }, data: {} });
    const one = await started(new CallMaps(clientOf(api), "mesh-system"));
    for (const namespace of ["a", "shop"]) call(one.memory, { ...shop, namespace }, "80/a");
    await one.keeper.stop();
    assert.ok(api.get(MAPS, "mesh-calls-shop", "mesh-system"));
    assert.equal(one.warnings.length, 1);
  });
});

Deno.test("config maps: clients without a proof make none, and a config map speaks for its own namespace alone", async () => {
  await withApi(async (api) => {
    const one = await started(new CallMaps(clientOf(api), "mesh-system"));
    call(one.memory, { namespace: "fake", account: "", name: "w" }, "80/a");
    await one.keeper.stop();
    assert.deepEqual(api.asked.filter((line) => !/^(?:list|watch) /.test(line)), []);
    const calls = JSON.stringify({ workloads: [{ ...shop, calls: { "80/a": Math.floor(Date.now() / 60_000) } }] });
    const labels = { "internal.mesh.io/calls": "" };
    api.put(MAPS, { metadata: { name: "mesh-calls-other", namespace: "mesh-system", labels }, data: { calls } });
    const two = await started(new CallMaps(clientOf(api), "mesh-system"));
    assert.equal(two.memory.size, 0);
    await two.keeper.stop();
  });
});

Deno.test("MESH_CALLS_LIFETIME=0 remembers nothing; without a folder (MESH_CALLS_DIR) a restart forgets", async () => {
  await withFolder(async (folder) => {
    const start = async (lifetime: number, dir: string) => {
      const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
      const parts = { client: undefined, systemNamespace: "mesh-system" };
      const memory = await startCalls(parts, { MESH_CALLS_LIFETIME: lifetime, MESH_CALLS_DIR: dir }, kernel);
      const before = memory && handed(memory);
      if (memory) call(memory, shop, "80/a");
      await kernel.stopper.stop();
      return before;
    };
    assert.equal(await start(0, folder), undefined);
    for (const expected of [[], []]) assert.deepEqual(await start(HOUR, ""), expected);
    for (const expected of [[], ["80/a"]]) assert.deepEqual(await start(HOUR, folder), expected);
  });
});

Deno.test("a server that stores calls nowhere forgets names after the lifetime too", async () => {
  const clock = createFakeClock();
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog(), clock });
  const parts = { client: undefined, systemNamespace: "mesh-system" };
  const memory = await startCalls(parts, { MESH_CALLS_LIFETIME: 2 * HOUR, MESH_CALLS_DIR: "" }, kernel);
  assert.ok(memory);
  call(memory, shop, "80/a");
  for (let minute = 0; minute < 110; minute++) await clock.advance(60_000);
  assert.equal(memory.size, 1);
  for (let minute = 0; minute < 50; minute++) await clock.advance(60_000);
  assert.deepEqual([memory.size, memory.takeChanged()], [0, []]);
  await kernel.stopper.stop();
});
