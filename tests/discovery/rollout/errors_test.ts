import assert from "node:assert/strict";
import { RolloutDriver } from "../../../lib/discovery/rollout/driver.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";
import { Prometheus } from "../../../lib/prometheus/prometheus.ts";
import { type ErrorRate, risenErrors } from "../../../lib/rollout/errors.ts";
import { StagedObjects } from "../../../lib/rollout/staged_objects.ts";
import type { XdsConnection } from "../../../lib/xds/connection.ts";
import { PushLedger } from "../../../lib/xds/ledger.ts";
import { until } from "../../patience.ts";
import { ends, FakePrometheus, isAboutErrors, refusal, vector } from "../../prometheus/support/fake.ts";
import { Fixture, service } from "../fixture.ts";

const rate = (requests: number, errors: number): ErrorRate => ({ requests, errors });

Deno.test("errors have risen when their share has doubled and grown by a point, with requests enough to say so", () => {
  assert.equal(risenErrors(rate(10, 0), rate(10, 0)), "");
  assert.equal(risenErrors(rate(10, 0), rate(10, 0.05)), "", "half a percent");
  assert.equal(risenErrors(rate(10, 1), rate(10, 1.9)), "", "not doubled");
  assert.equal(risenErrors(rate(0, 0), rate(0.01, 0.01)), "", "a request in minutes");
  assert.equal(risenErrors(rate(0, 0), rate(0, 0)), "");
  assert.equal(risenErrors(rate(10, 0), rate(10, 1)), "10% of the requests fail, and 0% failed before");
  assert.equal(risenErrors(rate(10, 1), rate(20, 8)), "40% of the requests fail, and 10% failed before");
});

const route = (timeout: string) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "VirtualService",
  metadata: { name: "cart", namespace: "x", annotations: { "mesh.io/rollout": "25%:0s,100%:0s" } },
  spec: { hosts: ["s1.example.com"], http: [{ timeout, route: [{ destination: { host: "s1.example.com" } }] }] },
});

/** Eight proxies that acknowledge everything, a rollout, and a Prometheus whose answers are asked for at once. */
class World implements AsyncDisposable {
  readonly staged = new StagedObjects({ now: () => Date.now(), soakMs: 0, domain: "cluster.local" });
  readonly fixture = new Fixture({ staged: this.staged });
  readonly ledger = new PushLedger();
  readonly states: ReturnType<Fixture["join"]>[] = [];
  readonly prometheus: Prometheus;
  readonly driver: RolloutDriver;

  constructor(address: string) {
    this.fixture.put(service(1), route("1s"));
    this.fixture.pipeline.flush();
    this.staged.seal();
    const progress = Array.from({ length: 8 }, (_, at) => {
      const state = this.fixture.join({ namespace: "x", address: `10.1.0.${at}`, name: `p${at}` });
      this.states.push(state);
      return { id: state.proxy.nodeId, progress: this.ledger.join(state.proxy.nodeId) };
    });
    this.fixture.pipeline.onPush((push) => {
      this.ledger.begin(push);
      for (const one of progress) this.ledger.settled(one.progress);
    });
    // Kept answers are old after a moment.
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() * 1000 };
    this.prometheus = new Prometheus(address, { clock });
    const streams = () => progress.map((one) => ({ stream: { view: { id: one.id } }, progress: one.progress }));
    this.driver = new RolloutDriver({
      ...{ staged: this.staged, pipeline: this.fixture.pipeline, traffic: this.prometheus },
      ...{ clock: systemClock, log: silentLog().scope("model"), interval: 1, returnTime: 0 },
      shelf: { read: () => Promise.resolve([]), write: () => Promise.resolve(new Map()) },
      xds: { ledger: this.ledger, streams: () => streams() as unknown as XdsConnection[] },
    });
  }

  /** How many proxies have the newest version. */
  get having(): number {
    return this.states.filter(({ proxy }) => proxy.properties.candidates !== undefined).length;
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    await until(what, () => {
      this.fixture.pipeline.flush();
      return holds();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.driver.stop();
    await this.prometheus.stop();
    this.fixture.pipeline.stop();
  }
}

const measured = (requests: number, errors: number) => (query: string) =>
  vector([{
    labels: ends(["x", "web", "web"], ["x", "s1.example.com"]),
    rate: isAboutErrors(query) ? errors : requests,
  }]);

Deno.test("errors that rise on the routes of the object stop its rollout at the first stage", async () => {
  await using fake = new FakePrometheus(measured(20, 0.01));
  await using world = new World(fake.address);
  world.fixture.put(route("2s"));
  fake.answer = (query) => measured(20, world.having > 0 ? 4 : 0.01)(query);
  let most = 0;
  await world.until("it is taken back", () => {
    most = Math.max(most, world.having);
    return world.staged.rollouts()[0]?.phase === "taken-back" && world.having === 0;
  });
  assert.equal(most, 2, "a quarter of eight");
  assert.match(world.staged.rollouts()[0]!.reason, /^20% of the requests fail, and 0.05% failed before$/);
});

Deno.test("without more errors the rollout reaches all proxies", async () => {
  await using fake = new FakePrometheus(measured(20, 1));
  await using world = new World(fake.address);
  world.fixture.put(route("2s"));
  await world.until("it is settled", () => world.staged.rollouts().length === 0 && fake.queries.length > 0);
  assert.ok(fake.queries.some((query) => query.includes('destination_service_namespace="x"')));
});

Deno.test("a rollout waits while errors cannot be measured", async () => {
  await using fake = new FakePrometheus(() => refusal("out of memory"));
  await using world = new World(fake.address);
  world.fixture.put(route("2s"));
  await world.until("the reason shows", () => /out of memory/.test(world.driver.progress()[0]?.problem ?? ""));
  assert.equal(world.having, 0);
  fake.answer = measured(20, 1);
  await world.until("it is settled", () => world.staged.rollouts().length === 0);
});
