/** Host names of networks' gateways, resolved over time. */
import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { type NameAnswer, ResolvedNames } from "../../lib/discovery/lookups/gateway_names.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { page, withServer } from "./running.ts";

/** Names resolved by a script: each question takes the next answer for its name. */
function world(answers: Readonly<Record<string, (NameAnswer | Error)[]>>) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const asked: string[] = [];
  const log = createLog(["default"], defaultLogOptions, {
    open: () => ({ write: (bytes) => void lines.push(new TextDecoder().decode(bytes)), close: () => {} }),
  });
  const names = new ResolvedNames({
    clock,
    log: log.scope("default"),
    ask: (name) => {
      asked.push(name);
      const answer = answers[name]?.shift() ?? new Error("no answer");
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  });
  let changes = 0;
  names.changed = () => changes++;
  const turn = async (seconds: number) => {
    await clock.advance(seconds * 1000);
    await clock.advance(0);
  };
  return { names, asked, lines, turn, changes: () => changes };
}

const answer = (ttl: number, ...addresses: string[]): NameAnswer => ({ addresses, ttl });

Deno.test("a name is asked for again when its answer expires, within bounds, and only changed addresses are reported", async () => {
  const { names, asked, turn, changes } = world({
    a: [answer(60, "192.0.2.2", "192.0.2.1"), answer(1, "192.0.2.1", "192.0.2.2"), answer(90_000, "192.0.2.3")],
  });
  const addresses = names.follow(new Set(["a"]));
  assert.deepEqual(addresses("a"), []);
  await turn(0);
  assert.deepEqual([addresses("a"), changes()], [["192.0.2.1", "192.0.2.2"], 1]);
  await turn(59);
  assert.equal(asked.length, 1);
  await turn(1);
  assert.deepEqual([asked.length, changes()], [2, 1], "the same addresses in another order");
  await turn(29);
  assert.equal(asked.length, 2, "an answer is kept for 30 s at least");
  await turn(1);
  assert.deepEqual([addresses("a"), changes()], [["192.0.2.3"], 2]);
  await turn(3599);
  assert.equal(asked.length, 3);
  await turn(1);
  assert.equal(asked.length, 4, "and for an hour at most");
  names.stop();
});

Deno.test("name servers that are away leave the last addresses, and are reported once", async () => {
  const gone = new Error("SERVFAIL");
  const { names, asked, lines, turn, changes } = world({ a: [answer(60, "192.0.2.1"), gone, gone, answer(60)] });
  const addresses = names.follow(new Set(["a"]));
  await turn(0);
  await turn(60);
  await turn(30);
  assert.deepEqual([addresses("a"), asked.length, changes()], [["192.0.2.1"], 3, 1]);
  assert.equal(lines.filter((line) => line.includes("was not resolved")).length, 1);
  await turn(30);
  assert.deepEqual(addresses("a"), [], "an answer without addresses removes the addresses");
  names.stop();
});

Deno.test("a name that no network uses any more is forgotten, and not asked for again", async () => {
  const { names, asked, turn, changes } = world({ a: [answer(30, "192.0.2.1")], b: [answer(30, "192.0.2.2")] });
  names.follow(new Set(["a", "b"]));
  await turn(0);
  const addresses = names.follow(new Set(["b"]));
  assert.deepEqual([addresses("a"), addresses("b")], [[], ["192.0.2.2"]]);
  await turn(30);
  assert.deepEqual(asked, ["a", "b", "b"]);
  names.follow(new Set(["c"]));
  names.stop();
  await turn(100);
  assert.deepEqual([asked, changes()], [["a", "b", "b", "c"], 2], "an answer after the stop changes nothing");
});

Deno.test("at most 1000 names are resolved, and the log reports the limit", async () => {
  const { names, asked, lines, turn } = world({});
  names.follow(new Set(Array.from({ length: 1001 }, (_, index) => `n${index}`)));
  await turn(0);
  assert.deepEqual([asked.length, lines.filter((line) => line.includes("too many names")).length], [1000, 1]);
  names.stop();
});

Deno.test("the start waits for the first answers, but not for ever", async () => {
  const { names, turn } = world({ a: [answer(30, "192.0.2.1")] });
  const addresses = names.follow(new Set(["a"]));
  await names.settled();
  assert.deepEqual(addresses("a"), ["192.0.2.1"]);
  names.stop();
  const clock = createFakeClock();
  const log = createLog(["default"], defaultLogOptions, { open: () => ({ write: () => {}, close: () => {} }) });
  const silent = new ResolvedNames({ clock, log: log.scope("default"), ask: () => new Promise(() => {}) });
  silent.follow(new Set(["a"]));
  const settled = silent.settled();
  await turn(0);
  await clock.advance(5000);
  await settled;
  silent.stop();
});

Deno.test("RESOLVE_HOSTNAME_GATEWAYS decides whether names of gateways become addresses", async () => {
  const lists = await Promise.allSettled([dns.resolve4("localhost"), dns.resolve6("localhost")]);
  const local = lists.flatMap((one) => one.status === "fulfilled" ? one.value : []).sort();
  for (const resolve of [true, false]) {
    const networks = "networks: {n1: {endpoints: [], gateways: [{address: localhost, port: 15443}]}}";
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/networks`, networks);
    const options = { networksConfig: `${folder}/networks` };
    await withServer({}, async ({ ports }) => {
      const { n1 } = JSON.parse((await page(ports.http, "/debug/networkz")).body);
      const addresses = n1.entrances.map(({ address }: { address: string }) => address);
      assert.deepEqual(addresses, resolve ? local : []);
    }, { options, settings: { RESOLVE_HOSTNAME_GATEWAYS: resolve } });
    await Deno.remove(folder, { recursive: true });
  }
});
