import assert from "node:assert/strict";
import fc from "fast-check";
import type { RelayVariant } from "../../../lib/agent/relay/messages.ts";
import type { WantedModule } from "../../../lib/agent/wasm/cache/wasm_cache.ts";
import { readExtensionResponse } from "../../../lib/agent/wasm/conversion.ts";
import { wasmRewriters } from "../../../lib/agent/wasm/wasm_rewriter.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { EXTENSION, extension, extensionOf, response, type TestWasmFilter } from "../support/wasm_messages.ts";
import { runs } from "../../properties.ts";

const log = createLog(["test"], defaultLogOptions, { open: () => ({ write() {}, close() {} }) }).scope("test");
const VARIANTS: readonly RelayVariant[] = ["sotw", "delta"];

/** A rewriter whose modules come on the test's command. */
class World {
  readonly clock = createFakeClock();
  readonly metrics = createMetrics("pilot-agent");
  readonly sent: Uint8Array[] = [];
  readonly refused: { readonly nonce: string; readonly reason: string }[] = [];
  readonly wanted: {
    readonly module: WantedModule;
    readonly give: (path: string) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  readonly #open = wasmRewriters({
    ...{ clock: this.clock, metrics: this.metrics, log, random: () => 1 },
    file: (module) => new Promise((give, fail) => this.wanted.push({ module, give, fail })),
  });

  open(variant: RelayVariant) {
    return this.#open(variant, {
      send: (bytes) => void this.sent.push(bytes),
      refuse: (nonce, reason) => void this.refused.push({ nonce, reason }),
    });
  }

  /** Lets promises run. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Sent responses, as texts that tell the configuration inside. */
  seen(variant: RelayVariant): string[] {
    return this.sent.map((bytes) => {
      const { version, nonce, resources } = readExtensionResponse(variant, bytes);
      const text = resources.map(({ content }) => {
        const all = new TextDecoder().decode(content);
        const what = /\/file\/\w+|wasm-default-\w+|http:\/\/\w+/.exec(all)?.[0] ?? "other";
        return `${/f\d/.exec(all)?.[0]} ${what}${/ stand-in/.test(all) ? " stand-in" : ""}`;
      });
      return `${version} ${nonce}: ${text.join(", ")}`;
    });
  }
}

const filter = (name: string, url: string, changed: Partial<TestWasmFilter> = {}) => ({
  name,
  config: extensionOf({ name, url, ...changed }),
});
const other = (name: string) => ({ name, config: extension(name, "type.googleapis.com/other", new Uint8Array([1])) });

Deno.test("a response without remote modules passes with the same bytes, and so does a malformed response", async () => {
  for (const variant of VARIANTS) {
    const world = new World();
    const rewriter = world.open(variant);
    const local = { name: "f1", config: extensionOf({ name: "f1", file: "/a.wasm" }) };
    const broken = { name: "f2", config: new Uint8Array([10, 99]) };
    const all = [
      response(variant, { version: "1", nonce: "a" }, [local, other("f3"), broken]),
      new Uint8Array([1, 2, 3]),
    ];
    for (const bytes of all) rewriter.take(bytes);
    await world.settle();
    assert(world.sent.every((bytes, i) => bytes === all[i]) && world.sent.length === 2);
    assert.deepEqual(world.refused, []);
    const page = (await world.metrics.scrape()).body;
    assert.match(page, /wasm_config_conversion_count{result="no_remote_load"} 2/);
    assert.match(page, /wasm_config_conversion_count{result="unmarshal_failure"} 1/);
    assert.match(page, /wasm_config_conversion_duration_count 1/);
  }
});

Deno.test("a fetched module is in the response as a file; the fetch follows the configuration", async () => {
  for (const variant of VARIANTS) {
    const world = new World();
    world.open(variant).take(
      response(variant, { version: "1", nonce: "a" }, [other("f1"), filter("f2", "http://m/", { sha256: "AB" })]),
    );
    await world.settle();
    assert.deepEqual(world.sent, []);
    assert.deepEqual(world.wanted[0]!.module, {
      ...{ url: "http://m/", checksum: "ab", resource: "f2", resourceVersion: "", pullPolicy: "UNSPECIFIED_POLICY" },
      ...{ pullSecret: undefined, timeout: 30_000 },
    });
    world.wanted[0]!.give("/file/m");
    await world.settle();
    assert.deepEqual(world.seen(variant), ["1 a: f1 other, f2 /file/m"]);
    assert.match((await world.metrics.scrape()).body, /wasm_config_conversion_count{result="success"} 1/);
  }
});

Deno.test("without its module the proxy gets a stand-in with another version, and the server the reason; a module that comes later is sent alone", async () => {
  for (const variant of VARIANTS) {
    for (const failOpen of [false, true]) {
      const world = new World();
      world.open(variant).take(
        response(variant, { version: "1", nonce: "a" }, [filter("f1", "http://m/", { failOpen }), other("f2")]),
      );
      world.wanted[0]!.fail(new Error("status 503"));
      await world.settle();
      const what = failOpen ? "wasm-default-allow" : "wasm-default-deny";
      assert.deepEqual(world.seen(variant), [
        variant === "sotw" ? `1 stand-in a: f1 ${what}, f2 other` : `1 a: f1 ${what} stand-in, f2 other`,
      ]);
      assert.deepEqual(world.refused, [{
        nonce: "a",
        reason: `Wasm filter f1: status 503; everything is ${failOpen ? "allowed" : "denied"} without it`,
      }]);
      // Pauses double up to a minute, without an end of attempts.
      for (let round = 1; round <= 12; round++) {
        await world.clock.advance(Math.min(60_000, 500 * 2 ** (round - 1)));
        assert.equal(world.wanted.length, round + 1);
        world.wanted[round]!.fail(new Error("status 503"));
        await world.settle();
      }
      await world.clock.advance(60_000);
      world.wanted.at(-1)!.give("/file/m");
      await world.settle();
      assert.equal(world.seen(variant)[1], "1 a: f1 /file/m");
      assert.equal(world.sent.length, 2);
      assert.equal(world.refused.length, 1, "a reason is told once");
      assert.equal(world.clock.pending(), 0);
    }
  }
});

Deno.test("a new version whose module does not come leaves the version before in force, also on the next connection", async () => {
  const world = new World();
  const first = world.open("delta");
  first.take(response("delta", { version: "1", nonce: "a" }, [filter("f1", "http://m1/")]));
  world.wanted[0]!.give("/file/m1");
  await world.settle();
  first.take(response("delta", { version: "2", nonce: "b" }, [filter("f1", "http://m2/", { failOpen: true })]));
  world.wanted[1]!.fail(new Error("gone"));
  await world.settle();
  assert.equal(world.seen("delta")[1], "2 b: f1 /file/m1 stand-in");
  assert.match(world.refused[0]!.reason, /f1: gone; the version before stays in force/);
  first.close();
  assert.equal(world.clock.pending(), 0, "nothing is fetched for a connection that is over");
  const second = world.open("delta");
  second.take(response("delta", { version: "2", nonce: "c" }, [filter("f1", "http://m2/")]));
  world.wanted[2]!.fail(new Error("gone"));
  await world.settle();
  assert.equal(world.seen("delta")[2], "2 c: f1 /file/m1 stand-in");
  second.take(response("delta", { version: "3", nonce: "d", removed: ["f1"] }, []));
  second.take(response("delta", { version: "4", nonce: "e" }, [filter("f1", "http://m2/")]));
  world.wanted[3]!.fail(new Error("gone"));
  await world.settle();
  assert.equal(
    world.seen("delta").at(-1),
    "4 e: f1 wasm-default-deny stand-in",
    "what was removed stands in for nothing",
  );
});

Deno.test("a module of an unsubscribed resource is not fetched any more, and is not used for a later filter of that name", async () => {
  for (const variant of VARIANTS) {
    const world = new World();
    const rewriter = world.open(variant);
    const asks = (kept: readonly string[], dropped: readonly string[], type = EXTENSION) => {
      const request = new MessageWriter().string(variant === "delta" ? 2 : 4, type);
      for (const name of variant === "delta" ? dropped : kept) request.string(variant === "delta" ? 4 : 3, name);
      rewriter.asked(request.finish());
    };
    rewriter.take(
      response(variant, { version: "1", nonce: "a" }, [filter("f1", "http://a/"), filter("f2", "http://b/")]),
    );
    world.wanted[0]!.give("/file/a");
    world.wanted[1]!.fail(new Error("status 503"));
    await world.settle();
    asks([], ["f1", "f2"], "type.googleapis.com/other");
    asks(["f1", "f2"], []);
    await world.clock.advance(500);
    assert.equal(world.wanted.length, 3, "another attempt");
    world.wanted[2]!.fail(new Error("status 503"));
    await world.settle();
    asks(["f1"], ["f2"]);
    await world.clock.advance(120_000);
    assert.equal(world.wanted.length, 3);
    asks([], ["f1"]);
    rewriter.take(response(variant, { version: "2", nonce: "b" }, [filter("f1", "http://c/")]));
    world.wanted[3]!.fail(new Error("status 503"));
    await world.settle();
    assert.match(world.seen(variant).at(-1)!, /f1 wasm-default-deny/);
    rewriter.close();
  }
});

Deno.test("a configuration without an address is not fetched, and stands as it fails", async () => {
  const world = new World();
  world.open("delta").take(response("delta", { version: "1", nonce: "a" }, [filter("f1", "")]));
  await world.settle();
  assert.deepEqual(world.seen("delta"), ["1 a: f1 wasm-default-deny stand-in"]);
  assert.match(world.refused[0]!.reason, /its configuration has no http_uri/);
  assert.equal(world.clock.pending(), 0);
  assert.match((await world.metrics.scrape()).body, /result="miss_remote_fetch_hint"} 1/);
});

const step = fc.oneof(
  fc.record({
    do: fc.constant("respond" as const),
    names: fc.uniqueArray(fc.nat(2), { maxLength: 3 }),
    remote: fc.boolean(),
  }),
  fc.record({ do: fc.constant("give" as const), at: fc.nat(5) }),
  fc.record({ do: fc.constant("fail" as const), at: fc.nat(5) }),
  fc.record({ do: fc.constant("time" as const), ms: fc.nat(100_000) }),
);

Deno.test("in any order of modules that come or fail no response is lost or overtaken, and in the end each filter is the last version that was sent", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...VARIANTS), fc.array(step, { maxLength: 40 }), async (variant, steps) => {
      const world = new World();
      const rewriter = world.open(variant);
      const open = new Set<number>();
      const last = new Map<string, string>();
      let count = 0;
      const settleOne = async (at: number, isGiven: boolean) => {
        world.wanted.forEach((_, i) => open.has(i) || settled.has(i) || open.add(i));
        const index = [...open][at % Math.max(1, open.size)];
        if (index === undefined) return;
        open.delete(index);
        settled.add(index);
        const { module, give, fail } = world.wanted[index]!;
        if (isGiven) give(`/file/${module.url.slice("http://".length, -1)}`);
        else fail(new Error("no"));
        await world.settle();
      };
      const settled = new Set<number>();
      for (const one of steps) {
        if (one.do === "respond") {
          const version = String(++count);
          const resources = one.names.map((n) => one.remote ? filter(`f${n}`, `http://v${version}/`) : other(`f${n}`));
          for (const { name } of resources) last.set(name, one.remote ? `${name} /file/v${version}` : `${name} other`);
          rewriter.take(response(variant, { version, nonce: `n${version}` }, resources));
        } else if (one.do === "time") await world.clock.advance(one.ms);
        else await settleOne(one.at, one.do === "give");
        await world.settle();
        const nonces = world.sent.map((bytes) => Number(readExtensionResponse(variant, bytes).nonce.slice(1)));
        assert.deepEqual(nonces, nonces.toSorted((a, b) => a - b), "in their order");
      }
      for (
        let round = 0;
        round < 200 && (world.clock.pending() > 0 || open.size > 0 || settled.size < world.wanted.length);
        round++
      ) {
        await settleOne(0, true);
        await world.clock.advance(60_000);
      }
      const nonces = new Set(world.sent.map((bytes) => readExtensionResponse(variant, bytes).nonce));
      assert.equal(nonces.size, count, "each response was sent");
      const final = new Map<string, string>();
      for (const line of world.seen(variant)) {
        for (const text of line.split(": ")[1]!.split(", ").filter(Boolean)) final.set(text.split(" ")[0]!, text);
      }
      assert.deepEqual(Object.fromEntries(final), Object.fromEntries(last));
    }),
    { numRuns: runs(150) },
  );
});
