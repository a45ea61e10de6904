/** The leader of two servers is lost in the middle of a staged rollout: the other server goes on with the rollout. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { TestProxy } from "../../debug/proxy.ts";
import { page, withServer } from "../../discovery/running.ts";
import { until } from "../../patience.ts";
import { ApiLine } from "../support/api_line.ts";
import { quickClock } from "../support/scripted_api.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();

/** Proxies of each server. */
const PROXIES = 10;

/** Waits of servers take this fraction of their time: a leader has 3 s for an answer of a busy API server. */
const clock = quickClock(5);

const rule = (namespace: string, connectTimeout: string, plan: string) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "DestinationRule",
  metadata: { namespace, name: "cart", annotations: { "mesh.io/rollout": plan } },
  spec: {
    host: `cart.${namespace}.svc.cluster.local`,
    trafficPolicy: { connectionPool: { tcp: { connectTimeout } } },
  },
} as ObjectDraft & ObjectId);

/** What a page says about the rollout. */
interface Shown {
  readonly phase: string;
  readonly stage: number;
  readonly proxies: number;
  readonly chosen: number;
  readonly live: number;
}

/** A server with a line to the API, and its proxies by their node ids. */
interface Side {
  readonly server: DiscoveryServer;
  readonly line: ApiLine;
  readonly proxies: Map<string, TestProxy>;
}

/** Two servers and twenty proxies, which remember what they were given. */
class Mesh implements Disposable {
  readonly sides: readonly Side[];
  /** The timeouts that a proxy was given, in order, each once in a row. */
  readonly given = new Map<string, string[]>();
  /** The number of proxies with the second version after each response with it to a further proxy, and the time. */
  readonly rise: { readonly having: number; readonly at: number }[] = [];

  constructor(
    readonly api: ApiServer,
    readonly namespace: string,
    servers: readonly [DiscoveryServer, ApiLine][],
  ) {
    this.sides = servers.map(([server, line]) => ({ server, line, proxies: new Map() }));
  }

  /** Connects a proxy. */
  async attach({ server, proxies }: Side, id: string): Promise<void> {
    proxies.set(id, await TestProxy.attach(server.ports.grpc, { id }, undefined, (bytes) => this.#hear(id, bytes)));
  }

  async attachAll(): Promise<void> {
    for (const [i, side] of this.sides.entries()) {
      for (let at = i * PROXIES; at < (i + 1) * PROXIES; at++) {
        await this.attach(side, `sidecar~10.9.1.${at}~p${at}.${this.namespace}~${this.namespace}.svc.cluster.local`);
      }
    }
  }

  #hear(id: string, bytes: Uint8Array): void {
    const { resources } = decode("envoy.service.discovery.v3.DiscoveryResponse", bytes) as {
      readonly resources: readonly { readonly value: Uint8Array }[];
    };
    for (const { value } of resources) {
      const { name, connect_timeout } = decode("envoy.config.cluster.v3.Cluster", value) as {
        readonly name: string;
        readonly connect_timeout?: { readonly seconds: unknown };
      };
      if (!name.startsWith("outbound|80||cart.")) continue;
      const timeouts = this.given.getOrInsertComputed(id, () => []);
      const timeout = `${connect_timeout?.seconds}s`;
      if (timeouts.at(-1) === timeout) continue;
      timeouts.push(timeout);
      if (timeout === "2s") this.rise.push({ having: this.having("2s").length, at: performance.now() });
    }
  }

  /** The proxies whose last response had a timeout. */
  having(timeout: string): string[] {
    return [...this.given].flatMap(([id, timeouts]) => timeouts.at(-1) === timeout ? [id] : []).sort();
  }

  async shown({ server }: Side): Promise<Shown | undefined> {
    return (JSON.parse((await page(server.ports.http, "/debug/rollouts")).body) as Shown[])[0];
  }

  /** Edits the rule, and waits until half of the proxies have acknowledged the second version. @returns both servers */
  async halfWay(plan: string): Promise<{ readonly leader: Side; readonly other: Side }> {
    await this.api.objects.apply(rule(this.namespace, "2s", plan));
    const [a, b] = this.sides as [Side, Side];
    let leader: Side | undefined;
    await until("half of the proxies have acknowledged", async () => {
      const shown = await Promise.all(this.sides.map((side) => this.shown(side)));
      const at = shown.findIndex((one) => one?.stage === 2 && one.proxies === 2 * PROXIES && one.live === PROXIES);
      leader = this.sides[at];
      return leader !== undefined && shown.every((one) => one?.stage === 2) && this.having("2s").length === PROXIES;
    });
    return { leader: leader!, other: leader === a ? b : a };
  }

  /** No proxy got the second version twice, or lost it. */
  assertNothingTakenBack(): void {
    for (const [id, timeouts] of this.given) {
      assert.ok(["1s", "1s,2s", "2s"].includes(timeouts.join()), `${id}: ${timeouts}`);
    }
  }

  [Symbol.dispose](): void {
    for (const { proxies } of this.sides) for (const proxy of proxies.values()) proxy[Symbol.dispose]();
  }
}

async function withMesh(api: ApiServer, namespace: string, run: (mesh: Mesh) => Promise<void>): Promise<void> {
  for (const definition of manifests("definitions")) await api.objects.define(definition);
  await api.objects.create({
    ...{ apiVersion: "v1", kind: "Service", metadata: { namespace, name: "cart" } },
    spec: { ports: [{ name: "http", port: 80 }] },
  });
  await api.objects.apply(rule(namespace, "1s", "100%"));
  const changes = ({ kubeconfig }: ApiLine) => {
    const place = { from: "files", files: [kubeconfig], by: "test" } as const;
    const orch = { place, qps: 0, burst: 1, allowed: [], namespace, kinds: true, services: true };
    return {
      clock,
      options: { configDir: undefined, orch, systemNamespace: namespace },
      settings: { PILOT_DEBOUNCE_AFTER: 10, MESH_ROLLOUT_SOAK: 0 },
    };
  };
  await using firstLine = await ApiLine.open(api.access);
  await using secondLine = await ApiLine.open(api.access);
  await withServer({}, async (first) => {
    await withServer({}, async (second) => {
      using mesh = new Mesh(api, namespace, [[first, firstLine], [second, secondLine]]);
      await mesh.attachAll();
      assert.equal(mesh.having("1s").length, 2 * PROXIES, "all have the first version");
      await run(mesh);
    }, changes(secondLine));
  }, changes(firstLine));
}

test("a leader dies at the second stage: its proxies keep their versions at the other server, which goes on", async ({ server, namespace }) => {
  await withMesh(server, namespace, async (mesh) => {
    const { leader, other } = await mesh.halfWay("20%,50%:1h,100%");
    const chosen = mesh.having("2s");
    leader.line.cut();
    for (const [id, proxy] of leader.proxies) {
      proxy[Symbol.dispose]();
      await mesh.attach(other, id);
    }
    leader.proxies.clear();
    await until("the other server leads", async () => {
      const { proxies, chosen, live } = (await mesh.shown(other))!;
      return proxies === 2 * PROXIES && chosen === PROXIES && live === PROXIES;
    });
    await server.objects.apply(rule(namespace, "2s", "20%,50%:0s,100%"));
    await until("the rollout ends", async () => await mesh.shown(other) === undefined);
    await until("all have the second version", () => mesh.having("2s").length === 2 * PROXIES);
    assert.deepEqual(mesh.rise.map(({ having }) => having), Array.from({ length: 2 * PROXIES }, (_, i) => i + 1));
    mesh.assertNothingTakenBack();
    assert.equal(chosen.length, PROXIES);
  });
});

test("a leader is cut off at the second stage and comes back: nothing is taken back, and no stage grows", async ({ server, namespace }) => {
  await withMesh(server, namespace, async (mesh) => {
    const { leader, other } = await mesh.halfWay("20%,50%:15s,100%");
    const chosen = mesh.having("2s");
    leader.line.cut();
    /** The last look at which no server was at the last stage. */
    let before = 0;
    let leads = false;
    await until("the other server ends the rollout", async () => {
      const looked = performance.now();
      const [ours, theirs] = await Promise.all([other, leader].map((side) => mesh.shown(side)));
      // The report of a silent server counts for a while. Then the share is a share of the other proxies.
      const isWhole = ours?.proxies === 2 * PROXIES;
      leads ||= isWhole;
      if (ours?.stage === 2 && theirs?.stage === 2 && (isWhole || !leads)) {
        before = looked;
        assert.deepEqual(mesh.having("2s"), chosen, "the same proxies");
      }
      return ours === undefined;
    });
    assert.ok(leads, "the other server knows the proxies of the server that is cut off");
    const early = mesh.rise.filter(({ having, at }) => having > PROXIES && at < before);
    assert.deepEqual(early, [], "more proxies than the stage says");
    assert.equal((await mesh.shown(leader))?.stage, 2, "the server that is cut off stays at its stage");
    leader.line.mend();
    await until("all have the second version", () => mesh.having("2s").length === 2 * PROXIES);
    await until("the rollout ends everywhere", async () => await mesh.shown(leader) === undefined);
    mesh.assertNothingTakenBack();
  });
});
