/** The modules of pages are loaded in an idle server, before the first request for a page. */
import assert from "node:assert/strict";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { withServer } from "./running.ts";

const LOADED = "the modules of pages are loaded";

/** A log at level debug, and a promise of one line. */
function watchedLog(awaited: string) {
  const seen = Promise.withResolvers<void>();
  const write = (bytes: Uint8Array) => {
    const { msg } = JSON.parse(new TextDecoder().decode(bytes));
    if (msg === awaited) seen.resolve();
  };
  const levels = new Map([["monitor", "debug" as const]]);
  const options = { ...defaultLogOptions, json: true, levels };
  const log = createLog(["default", "monitor"], options, { open: () => ({ write, close() {} }) });
  return { log, seen: seen.promise };
}

Deno.test("a server that nobody asks loads the modules of pages by itself, when it is ready", async () => {
  const { log, seen } = watchedLog(LOADED);
  await withServer({}, async (_server, _folder, kernel) => {
    await seen;
    assert.equal(kernel.readiness.ready(), true);
  }, { log });
});
