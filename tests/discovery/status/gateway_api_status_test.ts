/** When the status of a route is written, and what it says of proxies, with time moved by hand. */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { gatewayApiStatus } from "../../../lib/discovery/status/gateway_api_status.ts";
import type { ApiRoute } from "../../../lib/gateway_api/attach/types.ts";
import { GatewayApiVerdicts } from "../../../lib/gateway_api/groups/verdicts.ts";
import { routeStatus } from "../../../lib/gateway_api/status/routes.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { TokenBucket } from "../../../lib/orch/client/token_bucket.ts";
import type { ProgressSum } from "../../../lib/status/progress.ts";
import { AttachWorld } from "../../gateway_api/attach_world.ts";
import { proxiesOf } from "../../gateway_api/status_world.ts";
import { ObjectsApi } from "./objects_api.ts";

const GROUP = "gateway.networking.k8s.io";
const resource = { group: GROUP, version: "v1", plural: "httproutes", kind: "HTTPRoute", namespaced: true };
const pathOf = (name: string) => `/apis/${GROUP}/v1/namespaces/infra/httproutes/${name}`;

const NONE = proxiesOf(0, 0), PENDING = proxiesOf(0, 2), TAKEN = proxiesOf(2, 2), REFUSED = proxiesOf(1, 2, 1);

/** The pause that collects changes, and the patience with proxies, milliseconds. */
const [PAUSE, PATIENCE] = [250, 200];

/** Longest time until a change that needs no patience is written, milliseconds. */
const SOON = PAUSE + 50;

/** Time between two looks at proxies, milliseconds. */
const INTERVAL = 500;

interface Condition {
  readonly type: string;
  readonly reason: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** An API with routes, and the time of all servers. */
class Mesh {
  readonly clock = createFakeClock();
  readonly api = new ObjectsApi(this.clock);
  readonly servers = new Set<Server>();

  /** A user writes a version of a route. */
  write(name: string, generation = 1): void {
    const status = this.api.get(pathOf(name))?.status;
    this.api.put(pathOf(name), {
      ...{ apiVersion: `${GROUP}/v1`, kind: "HTTPRoute", metadata: { generation } },
      spec: { parentRefs: [{ name: "gw" }], hostnames: [`v${generation}.example.com`], rules: [{}] },
      ...(status === undefined ? {} : { status }),
    });
  }

  /** Time passes, and each server hears of all changes. @param step Between two looks at changes, milliseconds. */
  async pass(ms: number, step = 10): Promise<void> {
    for (let passed = 0; passed < ms; passed += step) {
      for (const server of this.servers) server.hear();
      await this.clock.advance(step);
    }
  }

  conditions(name: string): readonly Condition[] {
    const parents = this.api.get(pathOf(name))?.status?.["parents"] as { conditions: Condition[] }[] | undefined;
    return parents?.[0]?.conditions ?? [];
  }

  /** What a status says, with generations: `Accepted 1, ResolvedRefs 1, Live 1`. */
  said(name: string): string {
    return this.conditions(name).map((one) => `${one.reason} ${one.observedGeneration}`).join(", ");
  }

  get writes(): number {
    return this.api.writes.length;
  }
}

/** A server whose proxies are what a test says. */
class Server implements AsyncDisposable {
  /** What the proxies have of routes with others than the usual proxies, by name. */
  readonly #ofRoutes = new Map<string, ProgressSum>();
  readonly #concerned = new Set<string>();
  readonly #mesh: Mesh;
  readonly #world = new AttachWorld(`apiVersion: ${GROUP}/v1
kind: Gateway
metadata: {name: gw, generation: 1}
spec: {gatewayClassName: mesh, listeners: [{name: a, port: 80, protocol: HTTP}]}
`);
  readonly #store = new ConfigStore();
  readonly #source = this.#store.addSource("Orch", 0);
  /** Versions of the routes by path. */
  readonly #heard = new Map<string, string>();
  readonly #over = new AbortController();
  readonly #running: Promise<void>;
  #events = 0;

  /** Begins to lead. @param proxies What the proxies have of all routes. */
  constructor(mesh: Mesh, public proxies: ProgressSum) {
    this.#mesh = mesh;
    mesh.servers.add(this);
    this.hear();
    this.#running = gatewayApiStatus(this.#parts()).run(this.#over.signal);
  }

  /** The proxies have done something. @param name Of the only concerned route. Default: all routes are concerned. */
  become(proxies: ProgressSum, name?: string): void {
    for (const { key, meta } of this.#store.list("HTTPRoute")) {
      if (name !== undefined && name !== meta.name) continue;
      const before = this.#proxiesOf(meta.name);
      // Acknowledgements name no route.
      if ((before.total === 0) !== (proxies.total === 0) || before.rejected !== proxies.rejected) {
        this.#concerned.add(key);
      }
    }
    if (name === undefined) this.proxies = proxies;
    else this.#ofRoutes.set(name, proxies);
    this.#events++;
  }

  #proxiesOf(name: string): ProgressSum {
    return this.#ofRoutes.get(name) ?? this.proxies;
  }

  hear(): void {
    for (const path of this.#mesh.api.paths().filter((one) => one.includes("/httproutes/"))) {
      const tree = this.#mesh.api.get(path)!;
      if (this.#heard.get(path) === tree.metadata.resourceVersion) continue;
      this.#heard.set(path, tree.metadata.resourceVersion);
      const origin = { from: "api", source: "Orch", uid: tree.metadata.uid } as const;
      const { object } = parseObject(tree, origin, { defaultNamespace: "infra" });
      assert.ok(object);
      this.#source.apply({ upserted: [object], removed: [] });
    }
  }

  /** Ends to lead. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#mesh.servers.delete(this);
    this.#over.abort();
    await this.#running;
  }

  #parts(): Parameters<typeof gatewayApiStatus>[0] {
    const { api: { client }, clock } = this.#mesh;
    const events = () => this.#events;
    let seen = 0;
    const log = silentLog().scope("status");
    return {
      ...{ client, store: this.#store, facts: new FactStore(), verdicts: new GatewayApiVerdicts(), revision: "" },
      placeOf: ({ meta: { namespace, name } }) => {
        return { resource, namespace, name, version: this.#heard.get(pathOf(name)) };
      },
      followRevisions: () => ({ start: () => Promise.resolve(), stop: () => Promise.resolve() }),
      isOwned: () => true,
      refused: () => [],
      wantedRefusal: () => undefined,
      wanted: (object, present, now, patience) => {
        const route = object as ApiRoute;
        const { resolvedRefs } = this.#world.resolve(route);
        const report = {
          ...{ route, attachments: this.#world.attachments(route), refused: [], isOurs: () => true },
          ...{
            resolvedRefs: { gateway: resolvedRefs, mesh: resolvedRefs },
            proxies: () => this.#proxiesOf(route.meta.name),
          },
        };
        return routeStatus(report, present, now, patience) as ReturnType<
          Parameters<typeof gatewayApiStatus>[0]["wanted"]
        >;
      },
      watch: {
        get revision() {
          return `${events()}`;
        },
        changed: () => {
          if (seen === events()) return undefined;
          seen = events();
          const changed = new Set(this.#concerned);
          this.#concerned.clear();
          return changed;
        },
      },
      reports: { lead: () => Promise.resolve(), read: () => Promise.resolve() },
      ...{ interval: INTERVAL, patience: PATIENCE },
      writing: { id: "status", workers: 10, limit: new TokenBucket(0, 1, clock), clock, log },
    };
  }
}

Deno.test("where proxies are not quick, the first write is without them, and the second when they have the version", async () => {
  const mesh = new Mesh();
  await using server = new Server(mesh, PENDING);
  mesh.write("a");
  await mesh.pass(PAUSE + PATIENCE - 50);
  assert.equal(mesh.writes, 0, "the proxies may have the version in a moment");
  await mesh.pass(100);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1");
  const [accepted] = mesh.conditions("a");
  await mesh.pass(5000, 100);
  server.become(proxiesOf(1, 2));
  await mesh.pass(5000, 100);
  assert.equal(mesh.writes, 1, "nothing is said of proxies before all have acknowledged");
  server.become(TAKEN);
  await mesh.pass(INTERVAL + 50);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1, Live 1");
  assert.deepEqual(mesh.conditions("a")[0], accepted, "also the time stays");
  await mesh.pass(120_000, 500);
  assert.equal(mesh.writes, 2);
});

Deno.test("where proxies are quick, an edit is one write, as soon as they have the version", async () => {
  const mesh = new Mesh();
  await using server = new Server(mesh, PENDING);
  mesh.write("a");
  await mesh.pass(PAUSE + PATIENCE / 2);
  server.become(TAKEN);
  await mesh.pass(PATIENCE / 2 - 20);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1, Live 1");
  await mesh.pass(120_000, 500);
  assert.equal(mesh.writes, 1);
});

Deno.test("without a proxy the whole status is written at once, and its first proxies are one more write", async () => {
  const mesh = new Mesh();
  await using server = new Server(mesh, NONE);
  mesh.write("a");
  await mesh.pass(SOON);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1, NoProxy 1");
  await mesh.pass(30_000, 500);
  server.become(PENDING);
  // The next look at proxies is an interval after the begin.
  await mesh.pass(INTERVAL - SOON + PATIENCE / 2);
  server.become(TAKEN);
  await mesh.pass(PATIENCE);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1, Live 1");
  assert.equal(mesh.writes, 2);
});

Deno.test("a refusal between the first write and the acknowledgement is written, and no condition turns without a cause", async () => {
  const mesh = new Mesh();
  await using server = new Server(mesh, PENDING);
  mesh.write("a");
  await mesh.pass(PAUSE + PATIENCE + 50);
  const [accepted] = mesh.conditions("a");
  server.become(REFUSED);
  await mesh.pass(INTERVAL + 50);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1, Rejected 1");
  await mesh.pass(2000);
  server.become(PENDING);
  await mesh.pass(INTERVAL + 50);
  server.become(TAKEN);
  await mesh.pass(INTERVAL + 50);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1, Live 1");
  assert.deepEqual(mesh.conditions("a")[0], accepted);
  const times = mesh.conditions("a").map((one) => Date.parse(one.lastTransitionTime));
  assert.ok(times[2]! > times[0]!);
  const before = mesh.writes;
  // The next version is refused, while the version before is in force.
  mesh.write("a", 2);
  server.become(PENDING);
  await mesh.pass(PAUSE + PATIENCE + 50);
  assert.equal(mesh.said("a"), "Accepted 2, ResolvedRefs 2, Live 1");
  server.become(REFUSED);
  await mesh.pass(INTERVAL + 50);
  assert.equal(mesh.said("a"), "Accepted 2, ResolvedRefs 2, Rejected 2");
  assert.equal(mesh.writes, before + 2);
});

Deno.test("a new leader goes on after the first write, and writes nothing where each status is right", async () => {
  const mesh = new Mesh();
  for (const name of ["taken", "refused", "waiting"]) mesh.write(name);
  {
    await using first = new Server(mesh, TAKEN);
    await mesh.pass(SOON);
    mesh.write("refused", 2);
    first.become(REFUSED, "refused");
    mesh.write("waiting", 2);
    first.become(PENDING, "waiting");
    await mesh.pass(INTERVAL + PAUSE + PATIENCE);
  }
  assert.equal(mesh.said("refused"), "Accepted 2, ResolvedRefs 2, Rejected 2");
  assert.equal(mesh.said("waiting"), "Accepted 2, ResolvedRefs 2, Live 1");
  const [before, accepted] = [mesh.writes, mesh.conditions("waiting")[0]];
  await using second = new Server(mesh, NONE);
  await mesh.pass(10_000, 100);
  assert.equal(mesh.writes, before, "its proxies are on their way");
  second.become(REFUSED, "refused");
  second.become(TAKEN);
  await mesh.pass(INTERVAL + 50);
  assert.equal(mesh.said("waiting"), "Accepted 2, ResolvedRefs 2, Live 2");
  assert.deepEqual(mesh.conditions("waiting")[0], accepted);
  await mesh.pass(120_000, 500);
  assert.deepEqual(mesh.api.writes.slice(before), [`PATCH ${pathOf("waiting")}/status`]);
});

Deno.test("a route that is edited without a pause is written few times, and never as in force before its proxies have it", async () => {
  const mesh = new Mesh();
  await using server = new Server(mesh, TAKEN);
  mesh.write("a");
  await mesh.pass(SOON);
  assert.equal(mesh.said("a"), "Accepted 1, ResolvedRefs 1, Live 1");
  server.become(PENDING);
  const [edits, pause] = [1000, 10];
  for (let edit = 0; edit < edits; edit++) {
    mesh.write("a", 2 + edit);
    await mesh.pass(pause);
    assert.match(mesh.said("a"), /, Live 1$/);
  }
  const during = mesh.writes - 1;
  const most = edits * pause / (PAUSE + PATIENCE);
  assert.ok(during >= most / 2 && during <= most + 1, `${during} writes, and at most ${most}`);
  server.become(TAKEN);
  await mesh.pass(PAUSE + PATIENCE + INTERVAL);
  assert.equal(mesh.said("a"), `Accepted ${edits + 1}, ResolvedRefs ${edits + 1}, Live ${edits + 1}`);
  assert.ok(mesh.writes - 1 - during <= 2);
});

Deno.test("a status that changes while it waits for its turn is written as it is then, and again when it changes back", async () => {
  const mesh = new Mesh();
  await using server = new Server(mesh, REFUSED);
  const gate = Promise.withResolvers<void>();
  mesh.api.onWrite = (path) => path.includes("/b") ? undefined : gate.promise.then(() => undefined);
  for (let n = 0; n < 10; n++) mesh.write(`a${n}`);
  await mesh.pass(SOON);
  mesh.write("b");
  await mesh.pass(SOON);
  assert.equal(mesh.writes, 0, "all workers are busy");
  server.proxies = TAKEN;
  gate.resolve();
  await mesh.pass(SOON);
  assert.equal(mesh.said("b"), "Accepted 1, ResolvedRefs 1, Live 1");
  server.become(REFUSED);
  await mesh.pass(INTERVAL + 50);
  assert.equal(mesh.said("b"), "Accepted 1, ResolvedRefs 1, Rejected 1");
});
