import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { DEFAULT_MAX_BODY } from "../../lib/http/route.ts";
import { createLog, defaultLogOptions, type Log } from "../../lib/kernel/log/log.ts";
import { scopes } from "../../lib/kernel/log/scopes.ts";
import { page, withServer } from "../discovery/running.ts";

interface Scope {
  readonly name: string;
  readonly output_level: string;
  readonly stack_trace_level: string;
  readonly log_callers: boolean;
}

/** A server's log by default, with readable lines. */
function listening(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const target = { write: (line: Uint8Array) => void lines.push(new TextDecoder().decode(line)), close() {} };
  return { log: createLog(scopes["pilot-discovery"], defaultLogOptions, { open: () => target }), lines };
}

/** Runs a server with such a log; `change` sends a request that may change a scope. */
function withLog(
  run: (
    change: (query: string, method?: string, body?: string) => Promise<{ status: number; body: string }>,
    state: (scope: string) => Promise<Scope>,
    log: ReturnType<typeof listening>,
    port: number,
  ) => Promise<void>,
): Promise<void> {
  const log = listening();
  return withServer({}, async ({ ports }) => {
    const path = "/debug/scopez";
    const change = async (query: string, method = "PUT", body?: string) => {
      const init = body === undefined ? { method } : { method, body };
      const response = await fetch(`http://127.0.0.1:${ports.http}${path}${query}`, init);
      return { status: response.status, body: await response.text() };
    };
    const state = async (scope: string) => JSON.parse((await page(ports.http, `${path}?scope=${scope}`)).body) as Scope;
    await run(change, state, log, ports.http);
  }, { log: log.log });
}

Deno.test("scopez lists every scope with its level, the level of stacks and whether callers are named", async () => {
  await withLog(async (_change, state, _log, port) => {
    const all = JSON.parse((await page(port, "/debug/scopez")).body) as Scope[];
    assert.deepEqual(all.map((s) => s.name), scopes["pilot-discovery"].filter((name) => name !== "all").toSorted());
    const ads = { name: "ads", output_level: "info", stack_trace_level: "none", log_callers: false };
    assert.deepEqual(all.find((s) => s.name === "ads"), ads);
    assert.deepEqual(await state("ads"), ads);
  });
});

Deno.test("scopez changes one scope at run time, and its lines follow", async () => {
  await withLog(async (change, state, { log, lines }) => {
    const ads = log.scope("ads");
    const file = log.scope("file");
    ads.debug("before");
    const answer = await change("?scope=ads&level=debug&stack_level=error&caller=true");
    assert.equal(answer.status, 200, answer.body);
    const now = { name: "ads", output_level: "debug", stack_trace_level: "error", log_callers: true };
    assert.deepEqual(JSON.parse(answer.body), now);
    assert.deepEqual(await state("ads"), now);
    assert.equal((await state("file")).output_level, "info");
    ads.debug("after");
    file.debug("other");
    const written = lines.filter((line) => line.includes("\tdebug\t"));
    assert.equal(written.length, 1);
    assert.match(written[0]!, /\tads\tscopez_test\.ts:\d+\tafter\n$/);
  });
});

Deno.test("scopez takes a JSON body in the short words, and its own output", async () => {
  await withLog(async (change, state) => {
    assert.equal((await change("", "POST", '{"scope": "file", "level": "warn", "caller": true}')).status, 200);
    const given = await state("file");
    assert.deepEqual([given.output_level, given.log_callers], ["warn", true]);
    assert.equal((await change("?scope=file&level=none")).status, 200);
    assert.equal((await change("", "PUT", JSON.stringify(given))).status, 200);
    assert.deepEqual(await state("file"), given);
  });
});

Deno.test("scopez changes all scopes by `all`", async () => {
  await withLog(async (change, state) => {
    const { status, body } = await change("?scope=all&level=error");
    assert.equal(status, 200);
    assert.deepEqual([...new Set((JSON.parse(body) as Scope[]).map((s) => s.output_level))], ["error"]);
    assert.equal((await state("model")).output_level, "error");
  });
});

Deno.test("scopez names every mistake and the expectation, and changes nothing then", async () => {
  const cases: readonly [string, string, string | undefined, readonly RegExp[]][] = [
    ["?scope=nobody&level=debug", "PUT", undefined, [/^scope: got "nobody", expected one of all, ads, adsc,/]],
    ["?scope=ads&level=loud", "PUT", undefined, [
      /^level: got "loud", expected one of debug, info, warn, error, fatal, none$/m,
    ]],
    ["?scope=x&level=y&stack_level=z&caller=maybe", "POST", undefined, [
      /^scope: got "x"/m,
      /^level: got "y"/m,
      /^stack_level: got "z"/m,
      /^caller: got "maybe", expected true or false$/m,
    ]],
    ["?level=debug", "PUT", undefined, [/^scope: got none, expected one of all, ads/m]],
    ["?scope=ads", "PUT", undefined, [/^expected a level, stack_level or caller to set$/m]],
    ["?scope=ads&levle=debug", "PUT", undefined, [
      /^query: got "levle", expected one of scope, name, level.*; did you mean level\?$/m,
    ]],
    ["", "POST", "[1", [/^body: expected a JSON object such as/m]],
    ["", "POST", '{"scope": ["ads"], "level": 3}', [/^scope: got an array/m, /^level: got 3, expected one of/m]],
    ["", "POST", '{"scope": "ads", "level": "debug", "__proto__": 1}', [/^body: got "__proto__", expected/m]],
    ["?scope=ads&level=debug", "GET", undefined, [/^method: got GET, expected PUT or POST to change a scope$/m]],
    ["?scope=nobody", "GET", undefined, [/^scope: got "nobody", expected one of/m]],
  ];
  await withLog(async (change, state, { log }) => {
    const before = log.states();
    for (const [query, method, body, expected] of cases) {
      const answer = await change(query, method, body);
      assert.equal(answer.status, 400, `${method} ${query} ${body ?? ""}: ${answer.body}`);
      for (const pattern of expected) assert.match(answer.body, pattern);
    }
    assert.equal((await change("?scope=ads&level=debug", "DELETE")).status, 405);
    assert.equal((await change("", "PUT", " ".repeat(DEFAULT_MAX_BODY + 1))).status, 413);
    assert.deepEqual(log.states(), before);
    assert.equal((await state("ads")).output_level, "info");
  });
});

const outside = Object.values(networkInterfaces()).flat().find((i) => i && !i.internal && i.family === "IPv4");

Deno.test({
  name: "scopez is refused to callers from other addresses than loopback",
  ignore: outside === undefined,
  async fn() {
    const { log } = listening();
    await withServer({}, async ({ ports }) => {
      const url = `http://${outside!.address}:${ports.http}/debug/scopez?scope=ads&level=debug`;
      const response = await fetch(url, { method: "PUT" });
      assert.equal(response.status, 401);
      assert.match(await response.text(), /for callers on the same machine/);
      assert.equal(log.states().find(({ name }) => name === "ads")?.level, "info");
    }, { log, options: { http: "0.0.0.0:0" } });
  },
});
