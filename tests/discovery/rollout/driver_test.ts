import assert from "node:assert/strict";
import { RolloutDriver } from "../../../lib/discovery/rollout/driver.ts";
import type { RolloutShelf } from "../../../lib/discovery/rollout/shelf.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { readRecords, writtenRecords } from "../../../lib/rollout/record.ts";
import { StagedObjects } from "../../../lib/rollout/staged_objects.ts";
import type { XdsConnection } from "../../../lib/xds/connection.ts";
import { PushLedger } from "../../../lib/xds/ledger.ts";
import type { ClientRefusals, PushProgress } from "../../../lib/xds/progress.ts";
import { inFile } from "../../config/origins.ts";
import { until } from "../../patience.ts";
import { Fixture, service, texts } from "../fixture.ts";

const KEY = "VirtualService/x/cart";

const route = (timeout: string, plan: string | undefined) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "VirtualService",
  metadata: { name: "cart", namespace: "x", annotations: plan === undefined ? {} : { "mesh.io/rollout": plan } },
  spec: { hosts: ["s1.example.com"], http: [{ timeout, route: [{ destination: { host: "s1.example.com" } }] }] },
});

/** A shelf in memory that may fail. */
class TestShelf implements RolloutShelf {
  text = writtenRecords([]);
  fails = false;
  /** Why the shelf does not keep single objects, by key. */
  readonly refuses = new Map<string, string>();

  read() {
    return Promise.resolve(readRecords(this.text, inFile("kept")));
  }

  write(records: Parameters<RolloutShelf["write"]>[0]): ReturnType<RolloutShelf["write"]> {
    if (this.fails) return Promise.reject(new Error("the disk is full"));
    this.text = writtenRecords(records);
    return Promise.resolve(new Map(this.refuses));
  }
}

/** Twenty proxies without a wire: each acknowledges every push, unless it rejects a version of the route. */
class World implements AsyncDisposable {
  readonly staged: StagedObjects;
  readonly fixture: Fixture;
  readonly ledger = new PushLedger();
  readonly driver: RolloutDriver;
  readonly proxies: { readonly state: ReturnType<Fixture["join"]>; readonly progress: PushProgress }[] = [];
  /** The highest number of proxies that had the newest version, by timeout. */
  readonly most = new Map<string, number>();
  /** Positions of proxies that reject a timeout. */
  rejects: (at: number, timeout: string) => boolean = () => false;
  acknowledges = true;

  private constructor(
    readonly shelf: TestShelf,
    staged: StagedObjects,
    objects: readonly object[],
    returnTime: number,
  ) {
    this.staged = staged;
    this.fixture = new Fixture({ staged });
    this.fixture.put(service(1), ...objects);
    this.fixture.pipeline.flush();
    staged.seal();
    for (let at = 0; at < 20; at++) this.#join(at);
    this.fixture.pipeline.onPush((push) => {
      this.ledger.begin(push);
      this.#acknowledge();
    });
    this.driver = new RolloutDriver({
      ...{ staged, pipeline: this.fixture.pipeline, shelf, clock: systemClock, log: silentLog().scope("model") },
      ...{ interval: 1, returnTime },
      xds: { ledger: this.ledger, streams: () => this.#streams() },
    });
  }

  static async start(shelf: TestShelf, objects: readonly object[], returnTime = 0): Promise<World> {
    const staged = new StagedObjects({ now: () => Date.now(), soakMs: 0, domain: "cluster.local" });
    staged.restore(await shelf.read());
    return new World(shelf, staged, objects, returnTime);
  }

  #join(at: number): void {
    const state = this.fixture.join({
      namespace: "x",
      address: `10.1.0.${at}`,
      name: `p${at}`,
      labels: { app: `p${at}` },
    });
    const has = () => timeoutOf(state);
    const refusals: ClientRefusals = {
      get refuses() {
        return rejects(at, has());
      },
      lacks: () => rejects(at, has()) ? "bad timeout" : undefined,
      lacked: () => [],
    };
    const rejects = (one: number, timeout: string) => this.rejects(one, timeout);
    this.proxies.push({ state, progress: this.ledger.join(state.proxy.nodeId, () => false, refusals) });
  }

  /** Looks at the streams of all proxies. */
  streamLooks = 0;

  *#streams(): Iterable<XdsConnection> {
    this.streamLooks++;
    for (const { state, progress } of this.proxies) {
      yield { stream: { view: { id: state.proxy.nodeId } }, progress } as unknown as XdsConnection;
    }
  }

  #acknowledge(): void {
    for (const timeout of ["2s", "3s"]) {
      this.most.set(timeout, Math.max(this.most.get(timeout) ?? 0, this.having(timeout)));
    }
    if (this.acknowledges) { for (const { progress } of this.proxies) this.ledger.settled(progress); }
  }

  /** How many proxies have the route with a timeout. */
  having(timeout: string): number {
    return this.proxies.filter(({ state }) => timeoutOf(state) === timeout).length;
  }

  /** Pushes until a condition holds: time stands still in the pipeline of a test. */
  async until(what: string, holds: () => boolean): Promise<void> {
    await until(what, () => {
      this.fixture.pipeline.flush();
      return holds();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.driver.stop();
    this.fixture.pipeline.stop();
  }
}

function timeoutOf(state: ReturnType<Fixture["join"]>): string {
  for (const set of state.virtualHosts("80")) {
    const host = set.get("80/s1.example.com:80");
    if (host === undefined) continue;
    const text = JSON.stringify(readable("envoy.config.route.v3.VirtualHost", host.value));
    return `${/"timeout":\{"seconds":(\d+)\}/.exec(text)?.[1] ?? ""}s`;
  }
  return "";
}

Deno.test("a new version goes to a tenth of twenty proxies, then to half, then to all", async () => {
  await using world = await World.start(new TestShelf(), [route("1s", undefined)]);
  world.acknowledges = false;
  world.fixture.put(route("2s", "10%:0s,50%:0s,100%:0s"));
  await world.until("two proxies have it", () => world.having("2s") === 2);
  assert.equal(world.having("1s"), 18);
  for (let pushes = 0; pushes < 5; pushes++) world.fixture.pipeline.flush();
  assert.equal(world.having("2s"), 2, "without acknowledgements nothing moves");
  const [progress] = world.driver.progress();
  assert.deepEqual([progress?.stage, progress?.phase, progress?.facts.chosen, progress?.facts.live], [
    0,
    "spreading",
    2,
    0,
  ]);
  const warnings = () => world.fixture.pipeline.warnings().filter(({ name }) => name === "rollout-in-progress");
  assert.match(warnings()[0]!.message, /stage 1 of 3 \(10%\), spreading/);
  world.acknowledges = true;
  await world.until("all have it", () => world.staged.rollouts().length === 0 && world.having("2s") === 20);
  assert.deepEqual(warnings(), []);
  assert.deepEqual(world.fixture.failures, []);
});

Deno.test("a proxy that rejects the newest version stops the rollout, and all proxies have the last good version", async () => {
  await using world = await World.start(new TestShelf(), [route("1s", undefined)]);
  world.rejects = (_, timeout) => timeout === "2s";
  world.fixture.put(route("2s", "10%:0s,50%:0s,100%:0s"));
  await world.until(
    "it is taken back",
    () => world.staged.rollouts()[0]?.phase === "taken-back" && world.having("1s") === 20,
  );
  assert.equal(world.most.get("2s"), 2, "never more than the stage");
  const found = world.fixture.pipeline.warnings().filter(({ name }) => name === "rollout-taken-back");
  assert.match(found[0]!.message, /stage 1 of 3 \(10%\): 2 of 2 proxies reject it: bad timeout/);
  world.fixture.put(route("3s", "10%:0s,100%:0s"));
  await world.until("the corrected version is everywhere", () => world.having("3s") === 20);
  assert.deepEqual(world.fixture.pipeline.warnings().filter(({ name }) => name === "rollout-taken-back"), []);
});

Deno.test("a rollout spreads only while its state can be kept", async () => {
  const shelf = new TestShelf();
  await using world = await World.start(shelf, [route("1s", undefined)]);
  shelf.fails = true;
  world.fixture.put(route("2s", "50%:0s,100%:0s"));
  await world.until("the reason shows", () => /disk is full/.test(world.driver.progress()[0]?.problem ?? ""));
  assert.equal(world.having("1s"), 20);
  shelf.fails = false;
  await world.until("all have it", () => world.having("2s") === 20);
});

Deno.test("a rollout whose state cannot be kept stands still, and the rollouts of other objects go on", async () => {
  const shelf = new TestShelf();
  const large = { ...route("1s", "50%:0s,100%:0s") };
  large.metadata = { ...large.metadata, name: "large" };
  shelf.refuses.set("VirtualService/x/large", "too large");
  await using world = await World.start(shelf, [route("1s", undefined)]);
  world.fixture.put(large, route("2s", "50%:0s,100%:0s"));
  await world.until("all have the other object", () => world.having("2s") === 20);
  const progress = world.driver.progress().find(({ key }) => key === "VirtualService/x/large");
  assert.deepEqual([progress?.limit, progress?.problem], [-1, "its state cannot be kept: too large"]);
});

Deno.test("a page with hundreds of waiting rollouts looks at the proxies for those that run", async () => {
  await using world = await World.start(new TestShelf(), [route("1s", undefined)]);
  const crowd = Array.from({ length: 300 }, (_, at) => {
    const one = route("2s", "50%:1h,100%:0s");
    return { ...one, metadata: { ...one.metadata, name: `r${at}` } };
  });
  world.fixture.put(...crowd);
  await world.until("two of them run", () => world.staged.rollouts().filter(({ limit }) => limit >= 0).length === 2);
  world.streamLooks = 0;
  assert.equal(world.driver.progress().length, 300);
  assert.equal(world.streamLooks, 2);
});

Deno.test("a server that starts in the middle of a rollout begins where the last server ended", async () => {
  const shelf = new TestShelf();
  const plan = "10%:0s,50%:1h,100%:0s";
  const halves: string[][] = [];
  {
    await using world = await World.start(shelf, [route("1s", undefined)]);
    world.fixture.put(route("2s", plan));
    await world.until(
      "half have it",
      () => world.staged.rollouts()[0]?.phase === "soaking" && world.having("2s") === 10,
    );
    halves.push(world.proxies.filter(({ state }) => timeoutOf(state) === "2s").map(({ state }) => state.proxy.nodeId));
  }
  await using world = await World.start(shelf, [route("2s", plan)], 3_600_000);
  const having = world.proxies.filter(({ state }) => timeoutOf(state) === "2s").map(({ state }) => state.proxy.nodeId);
  halves.push(having);
  assert.deepEqual(halves[0], halves[1], "the same proxies have it from their first answer on");
  assert.equal(world.having("1s"), 10);
  assert.deepEqual([world.staged.rollouts()[0]?.stage, world.most.get("2s") ?? 10], [1, 10]);
});

Deno.test("two objects at once: each proxy has the newest version of an object only as the stages say", async () => {
  await using world = await World.start(new TestShelf(), [route("1s", undefined)]);
  world.acknowledges = false;
  const limit = (attempts: number) => ({
    apiVersion: "networking.mesh.io/v1",
    kind: "DestinationRule",
    metadata: { name: "cart", namespace: "x", annotations: { "mesh.io/rollout": "25%:0s,100%:0s" } },
    spec: { host: "s1.example.com", trafficPolicy: { connectionPool: { tcp: { maxConnections: attempts } } } },
  });
  world.fixture.put(route("2s", "50%:0s,100%:0s"), limit(7));
  const limited = () =>
    world.proxies.filter(({ state }) =>
      texts(state)["cluster/outbound|80||s1.example.com"]!.includes('"max_connections":{"value":7}')
    ).length;
  await world.until("both are at their first stage", () => world.having("2s") === 10 && limited() === 5);
  const names = new Set(world.proxies.map(({ state }) => state.proxy.properties.candidates));
  assert.ok(names.size >= 3, "some have none, some one, some both or the other");
  world.fixture.remove(KEY);
  world.acknowledges = true;
  await world.until(
    "one is gone, the other everywhere",
    () => world.having("2s") + world.having("1s") === 0 && limited() === 20,
  );
  assert.deepEqual(world.fixture.failures, []);
});
