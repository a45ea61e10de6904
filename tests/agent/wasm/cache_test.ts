import assert from "node:assert/strict";
import { FetchFault } from "../../../lib/agent/wasm/fetch/fetch_fault.ts";
import type { FetchedModule, ModuleRequest } from "../../../lib/agent/wasm/fetch/fetch_module.ts";
import { fetchModule } from "../../../lib/agent/wasm/fetch/fetch_module.ts";
import {
  FETCHES_AT_ONCE,
  type WantedModule,
  WasmCache,
  type WasmCacheOptions,
} from "../../../lib/agent/wasm/cache/wasm_cache.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { TestRegistry } from "../support/registry.ts";
import { sha256, wasmModule } from "../support/wasm_files.ts";
import { TestWebServer } from "../support/web_server.ts";
import { PATIENCE, until } from "../../patience.ts";

const log = createLog(["test"], defaultLogOptions, { open: () => ({ write() {}, close() {} }) }).scope("test");
const HOUR = 3_600_000;

function want(url: string, changed: Partial<WantedModule> = {}): WantedModule {
  return {
    url,
    checksum: "",
    resource: "a",
    resourceVersion: "1",
    pullPolicy: "UNSPECIFIED_POLICY",
    pullSecret: undefined,
    timeout: 10_000,
    ...changed,
  };
}

async function withCache(
  changed: Partial<WasmCacheOptions>,
  test: (
    parts: {
      cache: WasmCache;
      folder: string;
      clock: ReturnType<typeof createFakeClock>;
      metrics: () => Promise<string[]>;
    },
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const clock = createFakeClock();
  const metrics = createMetrics("pilot-agent");
  const rules = { timeout: PATIENCE, insecure: new Set(["*"]), roots: () => Promise.resolve("") };
  const cache = new WasmCache({
    ...{ folder: `${folder}/wasm`, owner: undefined, attempts: 5, expiry: 24 * HOUR, purgeInterval: HOUR },
    fetch: (request, signal) => fetchModule(rules, request, signal),
    ...{ clock, metrics, log },
    ...changed,
  });
  const lines = async () =>
    (await metrics.scrape()).body.split("\n").filter((line) => /^wasm_(?:cache|remote)/.test(line)).sort();
  try {
    await test({ cache, folder, clock, metrics: lines });
  } finally {
    cache.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A fetch without a server: modules by address. */
const fromTable =
  (table: Record<string, () => Uint8Array<ArrayBuffer>>) => ({ url }: ModuleRequest): Promise<FetchedModule> => {
    const made = table[url]!();
    return Promise.resolve({
      digests: [],
      content: async function* () {
        yield made;
      },
    });
  };

Deno.test("four modules are fetched at a time, the others in order, each with its whole time; modules that wait at the stop are never fetched", async () => {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const fetch = async ({ url }: ModuleRequest, signal: AbortSignal): Promise<FetchedModule> => {
    begun.push(url);
    await new Promise<void>((resolve, reject) => {
      waiting.push(resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    return await fromTable({ [url]: () => wasmModule(url) })({ url, pullSecret: undefined });
  };
  await withCache({ fetch, attempts: 1 }, async ({ cache, clock }) => {
    const urls = Array.from({ length: 10 }, (_, i) => `http://modules.test/${i}.wasm`);
    const files = urls.map((url) => cache.get(want(url)).then(() => "a file", (error: Error) => error.message));
    const twice = cache.get(want(urls[9]!)).catch((error: Error) => error.message);
    await until("four are fetched", () => begun.length === FETCHES_AT_ONCE);
    await clock.advance(9_999);
    assert.deepEqual(begun, urls.slice(0, 4));
    waiting[0]!();
    await until("the next one has a place", () => begun.length === 5);
    await clock.advance(1);
    await until("those that took too long have made place", () => begun.length === 8);
    assert.deepEqual(begun, urls.slice(0, 8));
    const late = /^not done within 10 s/;
    assert.equal(await files[0], "a file");
    for (const file of files.slice(1, 4)) assert.match(await file!, late);
    cache.stop();
    for (const file of [...files.slice(4), twice]) assert.equal(await file, "the agent is stopping");
    assert.equal(begun.length, 8);
  });
});

Deno.test("a module is fetched once, also by many at a time; it is a file of its digest that its owner alone reads; look-ups and fetches are counted", async () => {
  await using server = new TestWebServer(() => new Response(wasmModule("it")));
  await withCache({}, async ({ cache, folder, metrics }) => {
    const url = `http://${server.host}/a.wasm`;
    const paths = await Promise.all([1, 2, 3].map(() => cache.get(want(url))));
    assert.deepEqual(new Set([...paths, await cache.get(want(url, { resource: "b" }))]).size, 1);
    assert.deepEqual(server.asked, ["/a.wasm"]);
    assert.deepEqual(await Deno.readFile(paths[0]!), wasmModule("it"));
    const name = await sha256(new TextEncoder().encode(url));
    assert.equal(paths[0], `${folder}/wasm/${name}/${await sha256(wasmModule("it"))}.wasm`);
    assert.equal((await Deno.stat(paths[0]!)).mode! & 0o777, 0o600);
    assert.deepEqual(await metrics(), [
      "wasm_cache_entries 1",
      'wasm_cache_lookup_count{hit="false"} 3',
      'wasm_cache_lookup_count{hit="true"} 1',
      'wasm_remote_fetch_count{result="success"} 1',
    ]);
  });
});

Deno.test("a module with another digest than the wanted digest is refused, and leaves no file", async () => {
  await withCache({ fetch: fromTable({ "http://a/": () => wasmModule("it") }) }, async ({ cache, folder, metrics }) => {
    const checksum = "0".repeat(64);
    const found = await sha256(wasmModule("it"));
    const reason = new RegExp(`has the digest ${found}, expected 0{64}`);
    await assert.rejects(cache.get(want("http://a/", { checksum })), reason);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${folder}/wasm`)), []);
    assert((await metrics()).includes('wasm_remote_fetch_count{result="checksum_mismatched"} 1'));
    assert.match(await cache.get(want("http://a/", { checksum: found })), /\.wasm$/);
  });
});

Deno.test("which look-ups fetch again, by policy, address and version of the resource", async () => {
  await using registry = new TestRegistry();
  const layer = (
    text: string,
  ) => [{ mediaType: "application/vnd.module.wasm.content.layer.v1+wasm", bytes: wasmModule(text) }];
  const digest = await registry.push("r:fixed", layer("one"));
  const table: readonly (readonly [string, WantedModule["pullPolicy"], number, number])[] = [
    // name, policy, requests for manifests: first for the same version again, then for another version
    ["r:v1", "UNSPECIFIED_POLICY", 0, 0],
    ["r:v2", "Always", 0, 1],
    ["r:v3", "IfNotPresent", 0, 0],
    ["r:latest", "UNSPECIFIED_POLICY", 0, 1],
    ["u", "UNSPECIFIED_POLICY", 0, 1],
    [`r@sha256:${digest}`, "Always", 0, 0],
  ];
  await withCache({}, async ({ cache }) => {
    for (const [name, pullPolicy, same, other] of table) {
      if (!name.includes("@")) await registry.push(name.includes(":") ? name : `${name}:latest`, layer(name));
      const url = `oci://${registry.host}/${name}`;
      const asked = async (resourceVersion: string) => {
        const before = registry.asked.filter((path) => path.includes("/manifests/")).length;
        await cache.get(want(url, { pullPolicy, resourceVersion }));
        return registry.asked.filter((path) => path.includes("/manifests/")).length - before;
      };
      assert.deepEqual(
        [await asked("1"), await asked("1"), await asked("2"), await asked("2")],
        [1, same, other, 0],
        name,
      );
    }
  });
});

Deno.test("an image with a moved tag is fetched, and the old image is still there by digest; an image with an unmoved tag is not downloaded twice", async () => {
  await using registry = new TestRegistry();
  const push = (text: string) =>
    registry.push("r:latest", [{
      mediaType: "application/vnd.module.wasm.content.layer.v1+wasm",
      bytes: wasmModule(text),
    }]);
  await withCache({}, async ({ cache }) => {
    const url = `oci://${registry.host}/r:latest`;
    const first = await push("one");
    const one = await cache.get(want(url));
    assert.equal(await cache.get(want(url, { resourceVersion: "2" })), one);
    assert.equal(registry.asked.filter((path) => path.includes("/blobs/")).length, 1);
    await push("two");
    const two = await cache.get(want(url, { resourceVersion: "3" }));
    assert.deepEqual(await Deno.readFile(two), wasmModule("two"));
    assert.equal(await cache.get(want(`oci://${registry.host}/r@sha256:${first}`)), one);
  });
});

Deno.test("after a temporary failure the request is tried again with growing pauses, as often as set; after a permanent failure it is not", async () => {
  let fails = 3;
  await using server = new TestWebServer((request) =>
    new URL(request.url).pathname === "/none"
      ? new Response(null, { status: 404 })
      : fails-- > 0
      ? new Response(null, { status: 503 })
      : new Response(wasmModule())
  );
  await withCache({}, async ({ cache, clock, metrics }) => {
    const begin = clock.monotonic();
    const passing = cache.get(want(`http://${server.host}/`));
    for (let i = 1; i <= 3; i++) {
      // The purge, the time for all attempts, the pause.
      await until("it pauses", () => server.asked.length === i && clock.pending() === 3);
      await clock.advance(500 * 2 ** (i - 1));
    }
    await passing;
    assert.equal(clock.monotonic() - begin, 3500);
    await assert.rejects(cache.get(want(`http://${server.host}/none`)), /\/none: status 404, expected 200$/);
    assert.equal(server.asked.length, 5);
    assert((await metrics()).includes('wasm_remote_fetch_count{result="download_failure"} 1'));
  });
  fails = 9;
  await withCache({ attempts: 2, clock: systemClock }, async ({ cache }) => {
    await assert.rejects(cache.get(want(`http://${server.host}/`)), /status 503, expected 200 \(2 attempts\)/);
  });
});

Deno.test("a fetch ends with its time, and with the agent", async () => {
  const hang = (_: ModuleRequest, signal: AbortSignal) =>
    new Promise<FetchedModule>((_, reject) =>
      signal.addEventListener("abort", () => reject(new FetchFault(String(signal.reason), "download_failure", true)))
    );
  await withCache({ fetch: hang }, async ({ cache, clock }) => {
    const late = assert.rejects(cache.get(want("http://a/", { timeout: 3000 })), /not done within 3 s/);
    await clock.advance(3000);
    await late;
    const stopped = assert.rejects(cache.get(want("http://b/")), /the agent is stopping/);
    await clock.advance(0);
    cache.stop();
    await stopped;
    assert.equal(clock.pending(), 0);
  });
});

Deno.test("a module that was not used for the set time is dropped with its file at the next look; a used module stays", async () => {
  const fetch = fromTable({ "http://a/": () => wasmModule("a"), "http://b/": () => wasmModule("b") });
  await withCache({ fetch }, async ({ cache, clock, metrics }) => {
    const [a, b] = [await cache.get(want("http://a/")), await cache.get(want("http://b/"))];
    await clock.advance(20 * HOUR);
    await cache.get(want("http://b/"));
    await clock.advance(5 * HOUR);
    await until("a is gone", () => Deno.stat(a).then(() => false, () => true));
    await Deno.stat(b);
    await until("it is counted", async () => (await metrics()).includes("wasm_cache_entries 1"));
  });
});

Deno.test("bytes are bounded: the least recently used module makes room; a module that can never fit is refused", async () => {
  const one = wasmModule("x".repeat(1000));
  const table = Object.fromEntries(
    ["a", "b", "c"].map((name) => [`http://${name}/`, () => wasmModule(name.repeat(1000))]),
  );
  await withCache({
    fetch: fromTable({ ...table, "http://d/": () => wasmModule("d".repeat(9000)) }),
    maxBytes: 2 * one.length + 10,
  }, async ({ cache, folder, clock }) => {
    const a = await cache.get(want("http://a/"));
    await clock.advance(1);
    const b = await cache.get(want("http://b/"));
    await clock.advance(1);
    await cache.get(want("http://a/"));
    await clock.advance(1);
    await cache.get(want("http://c/"));
    await Deno.stat(a);
    await assert.rejects(Deno.stat(b), Deno.errors.NotFound);
    await assert.rejects(cache.get(want("http://d/")), /http:\/\/d\/ has 9\d{3} bytes, and the cache takes \d+/);
    const left = (await Array.fromAsync(Deno.readDir(`${folder}/wasm`))).filter(({ name }) => name.endsWith(".part"));
    assert.deepEqual(left, []);
  });
});

Deno.test("a file that somebody removed is fetched again; files that agents before have left long ago are removed, others' are not", async () => {
  await withCache({ fetch: fromTable({ "http://a/": () => wasmModule("a") }) }, async ({ cache, folder, clock }) => {
    const old = `${folder}/wasm/${"a".repeat(64)}`;
    await Deno.mkdir(old, { recursive: true });
    for (const [name, age] of [["old.wasm", 25], ["new.wasm", 1], ["old.txt", 25]] as const) {
      await Deno.writeTextFile(`${old}/${name}`, "");
      const time = new Date(clock.now() - age * HOUR);
      await Deno.utime(`${old}/${name}`, time, time);
    }
    const path = await cache.get(want("http://a/"));
    assert.deepEqual((await Array.fromAsync(Deno.readDir(old))).map(({ name }) => name).sort(), [
      "new.wasm",
      "old.txt",
    ]);
    await Deno.remove(path);
    assert.equal(await cache.get(want("http://a/")), path);
    await Deno.stat(path);
  });
});

Deno.test("a folder that cannot be written is an error with the path, and is tried anew the next time", async () => {
  await withCache({ fetch: fromTable({ "http://a/": () => wasmModule("a") }) }, async ({ cache, folder, metrics }) => {
    await Deno.writeTextFile(`${folder}/wasm`, "in the way");
    await assert.rejects(cache.get(want("http://a/")), /\/wasm cannot be written: /);
    await Deno.remove(`${folder}/wasm`);
    await Deno.stat(await cache.get(want("http://a/")));
    assert((await metrics()).includes('wasm_remote_fetch_count{result="fetch_failure"} 1'));
  });
});
