import assert from "node:assert/strict";
import { countConnections, type EnvoyAdmin } from "../../../lib/agent/envoy/admin.ts";
import { concurrencyOf, envoyArguments } from "../../../lib/agent/envoy/arguments.ts";
import { drainEnvoy, type DrainRules } from "../../../lib/agent/envoy/drain.ts";
import {
  type ChildProcess,
  EnvoyProcess,
  exitCodeOf,
  type ProcessEnd,
} from "../../../lib/agent/envoy/envoy_process.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { agentInput } from "../support/agent_input.ts";

const log = silentLog().scope("test");
const rules: DrainRules = {
  inboundOnly: true,
  terminationDrainDuration: 5000,
  untilIdle: false,
  minimumDrainDuration: 3000,
};

/** An admin page that reports the counts in turn; an error stands for a failed call. */
function adminWith(counts: readonly (number | undefined | Error)[] = []) {
  const calls: string[] = [];
  const left = [...counts];
  const admin: EnvoyAdmin = {
    drain: (inboundOnly) => (calls.push(`drain ${inboundOnly}`), Promise.resolve()),
    activeConnections() {
      calls.push("count");
      const next = left.shift();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    page: () => Promise.reject(new Error("not asked")),
  };
  return { admin, calls };
}

/** Runs a drain. `over()` is the time of its end. */
function drained(admin: EnvoyAdmin, changes: Partial<DrainRules>, signal = new AbortController().signal) {
  const clock = createFakeClock();
  let over: number | undefined;
  drainEnvoy(admin, { ...rules, ...changes }, clock, log, signal).then(() => over = clock.monotonic());
  return { clock, over: () => over };
}

Deno.test("a sidecar drains its inbound side for the time that is set, without counting", async () => {
  const { admin, calls } = adminWith();
  const { clock, over } = drained(admin, {});
  await clock.advance(4999);
  assert.equal(over(), undefined);
  await clock.advance(1);
  assert.equal(over(), 5000);
  assert.deepEqual(calls, ["drain true"]);
});

Deno.test("until idle: no count before the minimum, then each second, until no client is left", async () => {
  const { admin, calls } = adminWith([2, 1, 0]);
  const { clock, over } = drained(admin, { untilIdle: true });
  await clock.advance(2999);
  assert.deepEqual(calls, ["drain true"]);
  await clock.advance(2002);
  assert.equal(over(), 5000);
  assert.deepEqual(calls, ["drain true", "count", "count", "count"]);
});

Deno.test("MINIMUM_DRAIN_DURATION is the least time of a drain that ends with the last client, also without a client", async () => {
  for (const minimum of [3000, 9000]) {
    const settings = { EXIT_ON_ZERO_ACTIVE_CONNECTIONS: true, MINIMUM_DRAIN_DURATION: minimum };
    const { admin } = adminWith([0]);
    const { clock, over } = drained(admin, agentInput("/nowhere", { settings }).drainRules);
    await clock.advance(minimum - 1);
    assert.equal(over(), undefined);
    await clock.advance(1);
    assert.equal(over(), minimum);
  }
});

Deno.test("until idle: five counts that fail in a row end draining, four and a success do not", async () => {
  const failure = new Error("no answer");
  const four = Array(4).fill(failure);
  const { admin, calls } = adminWith([...four, 1, ...four, failure]);
  const { clock, over } = drained(admin, { untilIdle: true });
  await clock.advance(60_000);
  assert.equal(calls.filter((call) => call === "count").length, 10);
  assert.equal(over(), 3000 + 10 * 1000);
});

Deno.test("until idle: an Envoy without such a count, whose statistics are cut, does not keep its agent waiting", async () => {
  const { admin } = adminWith([undefined]);
  const { clock, over } = drained(admin, { untilIdle: true });
  await clock.advance(3001);
  assert.equal(over(), 3000);
});

Deno.test("draining that cannot be started goes on by time; an end in between ends it", async () => {
  const { admin } = adminWith();
  let attempts = 0;
  const failing = { ...admin, drain: () => (attempts++, Promise.reject(new Error("refused"))) };
  const hurry = new AbortController();
  const { clock, over } = drained(failing, {}, hurry.signal);
  await clock.advance(1000);
  assert.equal(attempts, 3);
  hurry.abort();
  await clock.advance(0);
  assert.equal(over(), 1000);
});

Deno.test("connections of clients are counted once: no worker, no page of Envoy's own, no internal listener", () => {
  const stats = [
    "listener.0.0.0.0_15006.downstream_cx_active: 3",
    "listener.0.0.0.0_15006.worker_0.downstream_cx_active: 3",
    "listener.0.0.0.0_15021.downstream_cx_active: 5",
    "listener.[__]_15090.downstream_cx_active: 7",
    "listener.admin.downstream_cx_active: 1",
    "listener.admin.main_thread.downstream_cx_active: 1",
    "listener.envoy_internal_main_internal.downstream_cx_active: 9",
    "listener.10.0.0.1_8080.downstream_cx_active: 2",
    "http.10.0.0.1_8080.downstream_cx_active: 40",
  ].join("\n");
  assert.equal(countConnections(stats, [15021, 15090]), 5);
  assert.equal(countConnections("listener.admin.downstream_cx_active: 1\n", []), undefined);
});

Deno.test("an Envoy that does not end on SIGTERM is killed after five seconds; one that ends is not", async () => {
  const clock = createFakeClock();
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>();
  const kills: string[] = [];
  const child: ChildProcess = {
    pid: 1,
    ended,
    kill(signal) {
      kills.push(signal);
      if (signal === "SIGKILL") resolve({ code: 137, signal });
    },
  };
  const envoy = new EnvoyProcess(child, adminWith().admin, clock, log);
  const end = envoy.drain(rules);
  await clock.advance(5000);
  assert.deepEqual(kills, ["SIGTERM"]);
  await clock.advance(5000);
  assert.deepEqual(kills, ["SIGTERM", "SIGKILL"]);
  assert.deepEqual(await end, { code: 137, signal: "SIGKILL" });
  assert.equal(clock.pending(), 0);
});

Deno.test("the exit code is Envoy's exit code, or 128 plus the number of its signal", () => {
  assert.equal(exitCodeOf({ code: 0, signal: null }), 0);
  assert.equal(exitCodeOf({ code: 1, signal: null }), 1);
  assert.equal(exitCodeOf({ code: 139, signal: "SIGSEGV" }), 139);
  assert.equal(exitCodeOf({ code: 0, signal: "SIGKILL" }), 137);
});

Deno.test("worker threads: the flag, the setting, the CPU limit, else all cores", () => {
  assert.equal(concurrencyOf({ flag: 3, setting: 2, cpuLimit: 1 }), 3);
  assert.equal(concurrencyOf({ flag: 0, setting: 2, cpuLimit: 1 }), 2);
  assert.equal(concurrencyOf({ flag: 0, setting: 0, cpuLimit: 4 }), undefined);
  assert.equal(concurrencyOf({ flag: 0, setting: undefined, cpuLimit: 4 }), 4);
  assert.equal(concurrencyOf({ flag: 0, setting: undefined, cpuLimit: 0 }), undefined);
});

Deno.test("the command line follows the settings", () => {
  const base = { configFile: "b.json", drainDuration: 45_500, concurrency: undefined, logLevel: "warning" };
  const off = { logAsJson: false, skipDeprecatedLogs: false, coreDump: false, ipv6: false };
  const text = (input: Parameters<typeof envoyArguments>[0]) => envoyArguments(input).join(" ");
  const plain = text({ ...base, ...off, componentLevels: {} });
  assert.match(plain, /^-c b\.json --drain-time-s 46 --drain-strategy immediate --local-address-ip-version v4 /);
  assert.match(plain, /-l warning --log-format /);
  assert.doesNotMatch(plain, /concurrency|component-log-level|config-yaml|skip-deprecated|core-dump/);
  const full = text({
    ...base,
    ...{ logAsJson: true, skipDeprecatedLogs: true, coreDump: true, ipv6: true, concurrency: 2, override: "admin: {}" },
    componentLevels: { misc: "error", upstream: "debug" },
  });
  assert.match(full, /v6 .*--component-log-level misc:error,upstream:debug --skip-deprecated-logs --enable-core-dump/);
  assert.match(full, /--config-yaml admin: {} --concurrency 2$/);
  assert.doesNotMatch(full, /--log-format/);
});
