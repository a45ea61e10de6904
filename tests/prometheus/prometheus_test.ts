/** Questions to a Prometheus: what is kept, what is asked again, and what a bad answer does. */
import assert from "node:assert/strict";
import type { TrafficKnown } from "../../lib/graph/traffic.ts";
import { type Clock, sleepWith } from "../../lib/kernel/time/clock.ts";
import { Prometheus } from "../../lib/prometheus/prometheus.ts";
import { MAX_PAIRS, trafficQueries } from "../../lib/prometheus/query.ts";
import { until } from "../patience.ts";
import { ends, FakePrometheus, isAboutErrors, refusal, vector } from "./support/fake.ts";

const SHOP = ends(["shop", "checkout", "checkout"], ["bank", "payments.bank"]);

/** A clock that a test moves. Waits end at once: the answer alone decides. */
class HandClock implements Clock {
  time = 1_000_000;
  readonly #timers = new Set<() => void>();
  now = () => this.time;
  monotonic = () => this.time;
  after(_ms: number, fire: () => void) {
    this.#timers.add(fire);
    return () => void this.#timers.delete(fire);
  }
  sleep = (ms: number, signal?: AbortSignal) => sleepWith(this, ms, signal);
  fire(): void {
    for (const one of this.#timers) one();
    this.#timers.clear();
  }
}

async function measured(
  prometheus: Prometheus,
  opened?: string,
): Promise<Extract<TrafficKnown, { state: "measured" }>> {
  const known = await prometheus.known(opened);
  assert.equal(known.state, "measured", JSON.stringify(known));
  return known as Extract<TrafficKnown, { state: "measured" }>;
}

async function failed(answer: () => Response | Promise<Response>): Promise<string> {
  await using fake = new FakePrometheus(answer);
  const prometheus = new Prometheus(fake.address, { clock: new HandClock() });
  const known = await prometheus.known(undefined);
  await prometheus.stop();
  assert.equal(known.state, "failed", JSON.stringify(known));
  return known.state === "failed" ? known.problem : "";
}

Deno.test("requests and errors of the same ends are one flow; unknown labels and unusable values count as nothing", async () => {
  await using fake = new FakePrometheus((query) =>
    vector(
      isAboutErrors(query) ? [{ labels: SHOP, rate: 0.5 }] : [
        { labels: SHOP, rate: 10 },
        { labels: ends(["unknown", "unknown", ""], ["bank", "payments.bank"]), rate: 2 },
        { labels: ends(["a", "a", ""], ["b", "b.b"]), rate: NaN },
        { labels: ends(["a", "a", ""], ["c", "c.c"]), rate: Infinity },
      ],
    )
  );
  const prometheus = new Prometheus(`${fake.address}/`, { clock: new HandClock() });
  const { flows, isCut } = await measured(prometheus, "bank");
  assert.deepEqual([flows, isCut], [[
    {
      from: { namespace: "shop", workload: "checkout", account: "checkout" },
      ...{ to: { namespace: "bank", host: "payments.bank" }, requests: 10, errors: 0.5 },
    },
    {
      from: { namespace: "", workload: "", account: "" },
      ...{ to: { namespace: "bank", host: "payments.bank" }, requests: 2, errors: 0 },
    },
  ], false]);
  const { requests, errors } = trafficQueries("bank");
  assert.deepEqual(fake.queries.toSorted(), [requests, errors].toSorted());
  await prometheus.stop();
});

Deno.test("an answer is kept for 15 s for every viewer; then the old one is shown while a new one is asked for", async () => {
  let rate = 1;
  await using fake = new FakePrometheus(() => vector([{ labels: SHOP, rate }]));
  const clock = new HandClock();
  const prometheus = new Prometheus(fake.address, { clock });
  await Promise.all(Array.from({ length: 20 }, () => prometheus.known("bank")));
  assert.equal(fake.queries.length, 2);
  rate = 2;
  clock.time += 14_999;
  assert.equal((await measured(prometheus, "bank")).flows[0]!.requests, 1);
  assert.equal(fake.queries.length, 2);
  clock.time += 1;
  assert.equal((await measured(prometheus, "bank")).flows[0]!.requests, 1);
  await until("a new answer", async () => (await measured(prometheus, "bank")).flows[0]!.requests === 2);
  assert.equal(fake.queries.length, 4);
  await prometheus.stop();
});

Deno.test("a page does not wait for a slow Prometheus, and at most two answers are asked for at a time", async () => {
  const gate = Promise.withResolvers<void>();
  await using fake = new FakePrometheus(() => gate.promise.then(() => vector([])));
  const clock = new HandClock();
  const prometheus = new Prometheus(fake.address, { clock });
  const asked = ["a", "b", "c", "d"].map((namespace) => prometheus.known(namespace));
  clock.fire();
  assert.deepEqual((await Promise.all(asked)).map(({ state }) => state), ["asked", "asked", "asked", "asked"]);
  await until("the queries", () => fake.queries.length === 4);
  gate.resolve();
  await prometheus.stop();
});

Deno.test("after a failure the last measurement stays for ten minutes, with the problem; then the problem stands alone", async () => {
  await using fake = new FakePrometheus(() => vector([{ labels: SHOP, rate: 1 }]));
  const clock = new HandClock();
  const prometheus = new Prometheus(fake.address, { clock });
  await measured(prometheus);
  fake.answer = () => refusal("query timed out in expression evaluation");
  clock.time += 20_000;
  await until("the problem", async () => (await measured(prometheus)).problem !== undefined);
  assert.match((await measured(prometheus)).problem!, /^status 400, expected 200: query timed out in expression/);
  assert.equal((await measured(prometheus)).flows.length, 1);
  clock.time += 600_000;
  await until("no measurement", async () => (await prometheus.known(undefined)).state === "failed");
  // It comes back.
  fake.answer = () => vector([]);
  clock.time += 20_000;
  await until("a measurement", async () => (await prometheus.known(undefined)).state === "measured");
  await prometheus.stop();
});

Deno.test("away, hostile and huge answers are a short problem", async () => {
  const many = Array.from({ length: MAX_PAIRS + 1 }, () => ({ labels: {}, rate: 1 }));
  const problems = {
    html: await failed(() => new Response("<html>proxy login</html>")),
    status: await failed(() => new Response("x".repeat(100_000), { status: 503 })),
    redirect: await failed(() => Response.redirect("http://127.0.0.1:1/secret")),
    huge: await failed(() => new Response("[".repeat(3_000_000))),
    deep: await failed(() => new Response("[".repeat(1_000_000))),
    many: await failed(() => vector(many)),
    label: await failed(() => vector([{ labels: { source_workload_namespace: "x".repeat(2000) }, rate: 1 }])),
    matrix: await failed(() => Response.json({ status: "success", data: { resultType: "matrix", result: [] } })),
    words: await failed(() => refusal("y".repeat(1000))),
  };
  assert.deepEqual(Object.entries(problems).filter(([, text]) => text === "" || text.length > 203), []);
  assert.match(problems.html, /^the answer: got a text that is not JSON, expected the JSON of Prometheus' API$/);
  assert.match(problems.status, /^status 503, expected 200$/);
  assert.match(problems.redirect, /^status 302, expected 200$/);
  assert.match(problems.many, /^data\.result: /);
  assert.match(problems.label, /^data\.result\.0\.metric\.source_workload_namespace: /);
  assert.match(problems.matrix, /^data\.resultType: /);
  const gone = new FakePrometheus(() => vector([]));
  await gone[Symbol.asyncDispose]();
  const known = await new Prometheus(gone.address, { clock: new HandClock() }).known(undefined);
  assert.equal(known.state, "failed");
  if (known.state === "failed") assert.match(known.problem, /^(?!.*query=).*refused/i);
});

Deno.test("names in a query are quoted, and the longest query fits an address", () => {
  const { requests, errors } = trafficQueries('a"} or x{b="\\');
  assert.ok(requests.includes('destination_service_namespace="a\\"} or x{b=\\"\\\\"'), requests);
  assert.ok(encodeURIComponent(trafficQueries("n".repeat(63)).errors).length < 4000, errors);
});
