/** An outage of the API is two lines in all, however many callers ask the API and however the failures change. */
import assert from "node:assert/strict";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { outageOf } from "../../../lib/orch/client/outage.ts";
import { Informer } from "../../../lib/orch/informer/informer.ts";
import { KeyedQueue } from "../../../lib/orch/queue/keyed_queue.ts";
import { TokenBucket } from "../../../lib/orch/client/token_bucket.ts";
import { StatusWriter } from "../../../lib/status/writer.ts";
import { SecretRights } from "../../../lib/discovery/credentials/secret_rights.ts";
import { Election } from "../../../lib/orch/leader/election.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { openLog } from "../../discovery/open_log.ts";

const KINDS = ["services", "pods", "nodes", "secrets", "namespaces", "configmaps", "endpointslices", "ingresses"];

/**
 * An API whose lists are empty and whose watches are quiet. While the API is away, each request fails in another way.
 */
class FlakyApi {
  away = false;
  /** Refused resources. */
  readonly refused = new Set<string>();
  asked = 0;
  readonly clock = createFakeClock();
  readonly client = new ApiClient({
    access: { current: () => ({ server: "http://api.test" }), refused: () => {} },
    clock: this.clock,
    exchange: (url, { signal }) => this.#answer(new URL(url), signal ?? undefined),
  });

  #answer({ pathname, searchParams }: URL, signal: AbortSignal | undefined): Promise<Response> {
    const n = this.asked++;
    if (this.away && n % 3 === 0) return Promise.reject(new Error(`connection refused by port ${n}`));
    if (this.away) return Promise.resolve(Response.json({ message: `busy ${n}` }, { status: n % 3 === 1 ? 503 : 429 }));
    const name = pathname.split("/").at(-1)!;
    if (this.refused.has(name)) return Promise.resolve(Response.json({ message: "no right" }, { status: 403 }));
    if (!KINDS.includes(name)) return Promise.resolve(Response.json({ message: "none" }, { status: 404 }));
    if (!searchParams.has("watch")) {
      return Promise.resolve(Response.json({ metadata: { resourceVersion: "1" }, items: [] }));
    }
    // Ends when the API goes away.
    const body = new ReadableStream({
      start: (controller) => {
        this.#watches.push(() => controller.error(new Error("connection reset")));
        signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true });
      },
    });
    return Promise.resolve(new Response(body));
  }

  readonly #watches: (() => void)[] = [];

  goesAway(): void {
    this.away = true;
    for (const end of this.#watches.splice(0)) {
      try {
        end();
      } catch {
        // The stream has ended already.
      }
    }
  }
}

/** Informers of all kinds over one client, and the lines about them. */
function watchAll(api: FlakyApi) {
  const log = openLog();
  const informers = KINDS.map((plural) =>
    new Informer(api.client, {
      resource: { group: "", version: "v1", plural, kind: plural, namespaced: true },
      namespace: "",
      project: () => ({}),
      log: log.log.scope("orch"),
      random: () => 0.5,
    })
  );
  for (const one of informers) one.start();
  const lines = () => log.lines.map(({ level, msg, resource }) => `${level}: ${msg} ${resource ?? ""}`.trim());
  return { informers, lines, stop: () => Promise.all(informers.map((one) => one.stop())) };
}

Deno.test("an outage of eight minutes is one line at its beginning and one at its end, for all kinds together", async () => {
  const api = new FlakyApi();
  const { informers, lines, stop } = watchAll(api);
  await Promise.all(informers.map(({ whenSynced }) => whenSynced));
  await api.clock.advance(2000);
  api.goesAway();
  for (let second = 0; second < 480; second += 20) await api.clock.advance(20_000);
  assert.ok(api.asked > 50, `${api.asked} requests`);
  assert.ok(informers.every(({ trouble }) => trouble !== undefined), "each knows its trouble");
  assert.equal(lines().length, 1);
  assert.match(
    lines()[0]!,
    /^warn: the orchestrator does not answer; the known objects stay, and the server asks again/,
  );
  api.away = false;
  for (let second = 0; second < 120; second += 20) await api.clock.advance(20_000);
  assert.ok(informers.every(({ trouble }) => trouble === undefined));
  assert.equal(lines().length, 2, lines().join());
  assert.match(lines()[1]!, /^info: the orchestrator answers again/);
  await stop();
});

Deno.test("a refused kind is a separate line, whatever else happens", async () => {
  const api = new FlakyApi();
  api.refused.add("secrets");
  const { informers, lines, stop } = watchAll(api);
  await Promise.all(informers.filter((one) => one.options.resource.plural !== "secrets").map((one) => one.whenSynced));
  for (let i = 0; i < 10; i++) await api.clock.advance(20_000);
  assert.deepEqual(lines(), [
    "warn: the orchestrator gives no objects; the known objects stay, and the server asks again secrets",
  ]);
  api.refused.clear();
  for (let i = 0; i < 10; i++) await api.clock.advance(20_000);
  assert.deepEqual(lines().slice(1), ["info: the orchestrator gives objects again secrets"]);
  await stop();
});

Deno.test("a lock of the leader election adds no line to an outage, and still reports its trouble", async () => {
  const api = new FlakyApi();
  const { lines, stop, informers } = watchAll(api);
  await Promise.all(informers.map(({ whenSynced }) => whenSynced));
  const log = openLog();
  const parts = { namespace: "mesh-system", identity: "a", key: "" };
  const election = new Election(api.client, { ...parts, lock: "mesh-leader", log: log.log.scope("orch") });
  const end = new AbortController();
  api.goesAway();
  const run = election.run(() => Promise.resolve(), end.signal);
  for (let i = 0; i < 10; i++) await api.clock.advance(20_000);
  assert.notEqual(election.trouble, undefined);
  assert.deepEqual(log.lines.length + lines().length, 1, [...lines(), ...log.lines.map(({ msg }) => msg)].join());
  end.abort();
  await run;
  await stop();
});

Deno.test("a caller that stops asking while the API is away does not keep the outage open", () => {
  const lines: string[] = [];
  const log = {
    warn: (message: unknown) => lines.push(`${message}`),
    info: (message: unknown) => lines.push(`${message}`),
  };
  const client = {};
  const outage = outageOf(client);
  assert.equal(outageOf(client), outage);
  const [one, two] = [{}, {}];
  const away = new ApiError("away", undefined);
  outage.fails(one, away, log, {});
  outage.fails(two, away, log, {});
  outage.leaves(one);
  outage.works(two, log, {});
  outage.works(two, log, {});
  assert.equal(lines.length, 2);
  outage.fails(two, away, log, {});
  assert.equal(lines.length, 3, "the next outage is said again");
});

Deno.test("work by key, writers of status and questions about rights add no line to an outage, however many wait", async () => {
  const api = new FlakyApi();
  const { informers, lines, stop } = watchAll(api);
  await Promise.all(informers.map(({ whenSynced }) => whenSynced));
  const log = openLog();
  const { client, clock } = api;
  const scope = log.log.scope("orch");
  const failures: boolean[] = [];
  const ask = async (key: string) => void await client.get(`/api/v1/pods/${key}`);
  const queue = new KeyedQueue({
    ...{ id: "test", clock, workers: 20, outage: { client, log: scope } },
    work: ask,
    failed: (_, __, said) => failures.push(said),
  });
  const ends = new AbortController();
  const limit = new TokenBucket(1000, 1000, clock);
  const writer = new StatusWriter({ id: "status", workers: 20, limit, clock, log: scope, client }, ends.signal);
  const rights = new SecretRights(client, scope, ends.signal);
  api.goesAway();
  for (let key = 0; key < 20; key++) {
    queue.add(`a${key}`);
    writer.put(`Kind/a/b${key}`, () => ask(`b${key}`));
    rights.of("a", `account${key}`, () => {});
  }
  for (let i = 0; i < 12; i++) await clock.advance(20_000);
  assert.ok(failures.length >= 20 && failures.every((said) => said), `${failures.length} failures`);
  const all = () => [...lines(), ...log.lines.map(({ level, msg }) => `${level}: ${msg}`)];
  assert.equal(all().length, 1, all().join("\n"));
  api.away = false;
  for (let i = 0; i < 20; i++) await clock.advance(20_000);
  const rest = all().filter((line) => !/the API cannot be asked whether an account/.test(line));
  assert.equal(rest.length, 2, rest.join("\n"));
  await queue.stop();
  ends.abort();
  await writer.stop();
  await stop();
});

Deno.test("a refused key outside of an outage is a separate failure", async () => {
  const clock = createFakeClock();
  const log = openLog();
  const failures: [string, boolean][] = [];
  const queue = new KeyedQueue({
    ...{ id: "test", clock, outage: { client: {}, log: log.log.scope("orch") } },
    work: () => Promise.reject(new ApiError("no right", 403)),
    failed: (key, _, said) => failures.push([key, said]),
  });
  queue.add("a");
  await clock.advance(1);
  assert.deepEqual(failures[0], ["a", false]);
  assert.deepEqual(log.lines, []);
  await queue.stop();
});
