/** Settings of Wasm modules reach the cache and the downloads of an agent. */
import assert from "node:assert/strict";
import { loadedWasm } from "../../../lib/agent/start/load_wasm.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { noMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock, type FakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { until } from "../../patience.ts";
import { agentInput } from "../support/agent_input.ts";
import { wasmModule } from "../support/wasm_files.ts";
import { extensionOf, response } from "../support/wasm_messages.ts";
import { TestWebServer } from "../support/web_server.ts";

const HOUR = 3_600_000;

/** An agent fetches a module. Gives the server's refusal, if any, and the number of kept files. */
async function fetching(
  settings: Partial<SettingsOf<"pilot-agent">>,
  answer: (request: Request) => Response | Promise<Response>,
  look: (found: { refused: string | undefined; clock: FakeClock; kept: () => Promise<number> }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  await using server = new TestWebServer(answer);
  const input = agentInput(folder, { settings });
  const clock = createFakeClock();
  const parts = { clock, log: silentLog(), metrics: noMetrics() };
  const modules = loadedWasm({ ...input, paths: { ...input.paths, data: folder } }, parts);
  const done = Promise.withResolvers<string | undefined>();
  const rewriter = modules.open("delta", {
    send: () => done.resolve(undefined),
    refuse: (_, reason) => done.resolve(reason),
  });
  const kept = async () => {
    const folders = await Array.fromAsync(Deno.readDir(`${folder}/wasm`));
    const files = await Promise.all(
      folders.filter((one) => one.isDirectory).map(({ name }) =>
        Array.fromAsync(Deno.readDir(`${folder}/wasm/${name}`))
      ),
    );
    return files.flat().length;
  };
  try {
    const config = extensionOf({ name: "f", url: `http://${server.host}/f.wasm` });
    rewriter.take(response("delta", { version: "1", nonce: "a" }, [{ name: "f", config }]));
    await look({ refused: await done.promise, clock, kept });
  } finally {
    rewriter.close();
    modules.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

const module = () => new Response(wasmModule("f"));

Deno.test("WASM_MODULE_EXPIRY and WASM_PURGE_INTERVAL: an unused module goes with the first look after its time", async () => {
  await fetching(
    { WASM_MODULE_EXPIRY: HOUR, WASM_PURGE_INTERVAL: 3 * HOUR },
    module,
    async ({ refused, clock, kept }) => {
      assert.deepEqual([refused, await kept()], [undefined, 1]);
      await clock.advance(2 * HOUR);
      assert.equal(await kept(), 1, "nobody has looked yet");
      await clock.advance(HOUR + 1);
      await until("the module is gone", async () => await kept() === 0);
    },
  );
  await fetching({ WASM_MODULE_EXPIRY: 9 * HOUR, WASM_PURGE_INTERVAL: HOUR }, module, async ({ clock, kept }) => {
    await clock.advance(4 * HOUR);
    assert.equal(await kept(), 1, "its time is not over");
  });
});

Deno.test("WASM_HTTP_REQUEST_TIMEOUT ends an attempt at a server that does not answer", async () => {
  const late = Promise.withResolvers<Response>();
  const settings = { WASM_HTTP_REQUEST_TIMEOUT: 20, WASM_HTTP_REQUEST_MAX_RETRIES: 0 };
  await fetching(settings, () => late.promise, ({ refused }) => {
    late.resolve(new Response());
    assert.match(refused ?? "the module came", /no answer within 0\.02 s/);
    return Promise.resolve();
  });
});
