/** Status written into the objects of an API by one server of several, and how often. */
import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { type Finding, lossOf } from "../../../lib/finding/finding.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { KindStatus } from "../../../lib/discovery/status/kind_status.ts";
import type { CountedProxy } from "../../../lib/discovery/status/progress_rows.ts";
import { OwnReport } from "../../../lib/discovery/status/server_reports.ts";
import type { RefusedKind } from "../../../lib/discovery/sources/kind_feeds.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";
import { TokenBucket } from "../../../lib/orch/client/token_bucket.ts";
import type { ObjectPlace } from "../../../lib/orch/resources/objects.ts";
import { encodeResource } from "../../../lib/resource/encoded.ts";
import { ResourceTable } from "../../../lib/resource/set.ts";
import { PushLedger } from "../../../lib/xds/ledger.ts";
import type { PushProgress } from "../../../lib/xds/progress.ts";
import { CLUSTER } from "../../../lib/xds/protocol/types.ts";
import { ObjectsApi } from "./objects_api.ts";
import { until } from "../../patience.ts";

const resource = {
  group: "networking.mesh.io",
  version: "v1",
  plural: "virtualservices",
  kind: "VirtualService",
  namespaced: true,
};
const pathOf = (name: string) => `/apis/networking.mesh.io/v1/namespaces/shop/virtualservices/${name}`;
const keyOf = (name: string) => `VirtualService/shop/${name}`;
const placeOf = (name: string): ObjectPlace => ({ resource, namespace: "shop", name });
const INTERVAL = 10;

/** A server among several. Its proxies acknowledge on command. */
class Server {
  readonly store = new ConfigStore();
  readonly ledger = new PushLedger();
  readonly findings = new Map<string, Finding>();
  refused: RefusedKind[] = [];
  isBehind = false;
  readonly status: KindStatus;
  /** Why each proxy lacks rejected resources, by key of the object. */
  readonly lacked = new Map<string, Map<string, string>>();
  readonly #source = this.store.addSource("Orch", 0);
  readonly #proxies: CountedProxy[] = [];
  readonly #changedIn = new Map<string, number>();
  readonly #table = new ResourceTable();

  constructor(readonly api: ObjectsApi, name: string, { interval = INTERVAL, analysisInterval = 50 } = {}) {
    const { store, ledger, findings } = this;
    const proxies = this.#proxies;
    const isBehind = () => this.isBehind;
    const log = silentLog().scope("status");
    this.status = new KindStatus({
      ...{ client: api.client, namespace: "mesh-system", server: name, interval, analysisInterval, log },
      world: {
        ...{ store, ledger },
        placeOf: ({ meta }: ConfigObject) => placeOf(meta.name),
        refused: () => this.refused,
        changedIn: (key) => this.#changedIn.get(key) ?? 0,
        isWaiting: () => false,
        proxies: () => proxies,
        findings: () => findings.values(),
        get isBehind() {
          return isBehind();
        },
      },
      writing: { id: "status", workers: 20, limit: new TokenBucket(0, 1, systemClock), clock: systemClock, log },
    });
    this.status.start();
  }

  /** Connects an up-to-date proxy with a cluster from each of the named objects. */
  connect(id: string, names: readonly string[]): PushProgress {
    const lacked = new Map<string, string>();
    this.lacked.set(id, lacked);
    const progress = this.ledger.join(id, () => false, {
      get refuses() {
        return lacked.size > 0;
      },
      lacks: (key) => lacked.get(key),
      lacked: () => lacked,
    });
    progress.acked = this.ledger.latest;
    const set = this.#table.from(
      names.map((name) => encodeResource(CLUSTER, name, new TextEncoder().encode(name), { causes: [keyOf(name)] })),
    );
    const view = { resourceSets: (type: string) => (type === CLUSTER ? [set] : []), virtualHosts: () => [] };
    this.#proxies.push({ view, progress });
    return progress;
  }

  /** The watch tells of objects, and the server pushes them. */
  hear(...names: readonly string[]): void {
    const push = this.ledger.latest + 1;
    for (const name of names) this.#changedIn.set(keyOf(name), push);
    this.ledger.begin({ id: push, reasons: {}, objects: [], full: true, startedAt: Date.now() });
    const upserted = names.map((name) => {
      const tree = this.api.get(pathOf(name))!;
      const { object, findings } = parseObject(tree, { from: "api", source: "Orch", uid: tree.metadata.uid }, {
        defaultNamespace: "shop",
      });
      assert.ok(object, findings.map(({ message }) => message).join());
      return object;
    });
    this.#source.apply({ upserted, removed: [] });
  }

  /** All proxies, or the given proxies, acknowledge everything. */
  acknowledge(...of: readonly PushProgress[]): void {
    for (const progress of of.length > 0 ? of : this.#proxies.map((one) => one.progress)) this.ledger.settled(progress);
  }
}

/** A user writes an object. */
function write(api: ObjectsApi, name: string, generation: number): void {
  const status = api.get(pathOf(name))?.status;
  api.put(pathOf(name), {
    ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService" },
    metadata: { generation },
    spec: { hosts: [`${name}-${generation}.example.com`], http: [{ directResponse: { status: 200 } }] },
    ...(status === undefined ? {} : { status }),
  });
}

function condition(api: ObjectsApi, name: string, type = "Reconciled"): Record<string, unknown> | undefined {
  const list = api.get(pathOf(name))?.status?.["conditions"] as Record<string, unknown>[] | undefined;
  return list?.find((one) => one["type"] === type);
}

/** Lets a server lead for as long as `run` takes. */
async function led(server: Server, run: () => Promise<void>): Promise<void> {
  const leadership = new AbortController();
  const running = server.status.duty.run(leadership.signal);
  try {
    await run();
  } finally {
    leadership.abort();
    await running;
  }
}

const reportOf = (server: string) => `/api/v1/namespaces/mesh-system/configmaps/mesh-status-report-${server}`;

/** Time for several rounds. */
const rounds = () => new Promise((resolve) => setTimeout(resolve, 10 * INTERVAL));

async function withApi(
  run: (api: ObjectsApi, server: (name: string) => Server) => Promise<void>,
  clock?: Clock,
): Promise<void> {
  const api = new ObjectsApi(clock);
  const servers: Server[] = [];
  try {
    await run(api, (name) => {
      const server = new Server(api, name);
      servers.push(server);
      return server;
    });
  } finally {
    for (const { status } of servers) await status.stop();
    api.close();
  }
}

const statusWrites = (api: ObjectsApi) => api.writes.filter((one) => one.endsWith("/status"));

Deno.test("each of 1,000 objects with 400 proxies is written once, an edit is one more write, and new proxies cause no write", async () => {
  await withApi(async (api, start) => {
    const server = start("one");
    const names = Array.from({ length: 1000 }, (_, n) => `v${n}`);
    for (const name of names) write(api, name, 1);
    server.hear(...names);
    for (let n = 0; n < 400; n++) server.connect(`p${n}`, names);
    await led(server, async () => {
      await until("all statuses", () => statusWrites(api).length === 1000);
      assert.equal(condition(api, "v7")!["message"], "400/400 proxies up to date.");
      write(api, "v7", 2);
      server.hear("v7");
      server.acknowledge();
      await until("the edit's", () => api.get(pathOf("v7"))!.status!["observedGeneration"] === 2);
      for (let n = 0; n < 50; n++) server.connect(`late${n}`, names);
      write(api, "v8", 2);
      server.hear("v8");
      server.acknowledge();
      await until("the next edit's", () => api.get(pathOf("v8"))!.status!["observedGeneration"] === 2);
      assert.equal(condition(api, "v8")!["message"], "450/450 proxies up to date.");
    });
    assert.equal(statusWrites(api).length, 1002);
  });
});

Deno.test("a change that one proxy does not take is pending after a while, and live when it does", async () => {
  await withApi(async (api, start) => {
    const server = start("one");
    write(api, "v", 1);
    const [slow] = [server.connect("slow", ["v"]), server.connect("p", ["v"]), server.connect("other", [])];
    server.hear("v");
    await led(server, async () => {
      for (const { progress } of [{ progress: slow }]) assert.ok(progress.acked < 1);
      await until("pending", () => condition(api, "v")?.["reason"] === "Pending");
      assert.equal(condition(api, "v")!["message"], "0/2 proxies up to date.");
      server.acknowledge();
      await until("live", () => condition(api, "v")?.["status"] === "True");
      assert.equal(condition(api, "v")!["message"], "2/2 proxies up to date.");
    });
    assert.equal(statusWrites(api).length, 2);
  });
});

Deno.test("a rejection is reported for the object that caused it, and for no other object, until the object is changed", async () => {
  await withApi(async (api, start) => {
    const server = start("one");
    for (const name of ["bad", "good"]) write(api, name, 1);
    const proxy = server.connect("p", ["bad", "good"]);
    server.hear("bad", "good");
    server.acknowledge();
    const lacked = server.lacked.get("p")!;
    lacked.set(keyOf("bad"), "Error adding bad: no");
    server.acknowledge();
    await led(server, async () => {
      await until("both", () => condition(api, "bad") !== undefined && condition(api, "good") !== undefined);
      assert.equal(condition(api, "bad")!["message"], "0/1 proxies up to date. Rejected by 1: Error adding bad: no");
      assert.equal(condition(api, "good")!["status"], "True");
      write(api, "bad", 2);
      server.hear("bad");
      lacked.delete(keyOf("bad"));
      server.acknowledge();
      await until("the mended one", () => condition(api, "bad")?.["status"] === "True");
      lacked.set(keyOf("bad"), "");
      server.acknowledge();
      await until("what is not said yet", () => condition(api, "bad")?.["reason"] === "Pending");
      lacked.set(keyOf("bad"), "again");
      server.acknowledge();
      await until("the next rejection", () => condition(api, "bad")?.["reason"] === "Rejected");
      server.ledger.leave(proxy);
    });
  });
});

Deno.test("the status has the findings, the findings of an edit together with the edit, and no findings once they are gone", async () => {
  await withApi(async (api, start) => {
    const server = start("one");
    write(api, "v", 1);
    server.hear("v");
    server.findings.set("v", lossOf("unknown-host", [keyOf("v")], "no such host"));
    await led(server, async () => {
      await until("the finding", () => condition(api, "v", "PassedValidation")?.["status"] === "False");
      assert.equal(condition(api, "v", "PassedValidation")!["message"], "MSH0101: no such host");
      assert.equal((api.get(pathOf("v"))!.status!["validationMessages"] as unknown[]).length, 1);
      server.isBehind = true;
      write(api, "v", 2);
      server.hear("v");
      await new Promise((resolve) => setTimeout(resolve, 10 * INTERVAL));
      assert.equal(api.get(pathOf("v"))!.status!["observedGeneration"], 1, "it waits for the analysis");
      server.findings.clear();
      server.isBehind = false;
      await until("the edit", () => api.get(pathOf("v"))!.status!["observedGeneration"] === 2);
      assert.equal(condition(api, "v", "PassedValidation")!["status"], "True");
      assert.deepEqual(api.get(pathOf("v"))!.status!["validationMessages"], []);
    });
  });
  // A round for each of the two states.
});

Deno.test("an object that is refused says why, and which version is in force", async () => {
  await withApi(async (api, start) => {
    const server = start("one");
    write(api, "stale", 1);
    server.hear("stale");
    write(api, "stale", 2);
    write(api, "never", 1);
    const refused = (name: string, generation: number): RefusedKind => {
      const { uid } = api.get(pathOf(name))!.metadata;
      const findings = [lossOf("unknown-host", [keyOf(name)], "it is wrong")];
      return { ...{ namespace: "shop", name, uid, generation, findings }, key: keyOf(name), place: placeOf(name) };
    };
    server.refused = [refused("stale", 2), refused("never", 1)];
    await led(server, async () => {
      await until("both", () => condition(api, "stale") !== undefined && condition(api, "never") !== undefined);
    });
    assert.equal(condition(api, "stale")!["message"], "The object has errors: the earlier version is in force.");
    assert.equal(api.get(pathOf("stale"))!.status!["observedGeneration"], 2);
    assert.equal(condition(api, "never")!["message"], "The object has errors: no version is in force.");
    assert.equal(condition(api, "never", "PassedValidation")!["message"], "MSH0101: it is wrong");
  });
});

Deno.test("servers hand their counts to the writing server; the report of a server that leads or stops is removed", async () => {
  await withApi(async (api, start) => {
    const [leader, other] = [start("leader"), start("other")];
    write(api, "v", 1);
    for (const [n, server] of [leader, other].entries()) {
      for (let i = 0; i <= n; i++) server.connect(`p${i}`, ["v"]);
      server.hear("v");
      server.acknowledge();
    }
    const reports = () => api.paths().filter((path) => path.includes("/configmaps/"));
    await led(leader, async () => {
      await until("the other's report", () => reports().some((path) => path.endsWith("-other")));
      await until("the sum", () => condition(api, "v") !== undefined);
      write(api, "v", 2);
      leader.hear("v");
      leader.acknowledge();
      await until("that the other is behind", () => condition(api, "v")?.["reason"] === "Pending");
      assert.equal(condition(api, "v")!["message"], "1/3 proxies up to date.");
      other.hear("v");
      other.acknowledge();
      await until("both", () => condition(api, "v")?.["status"] === "True");
      assert.equal(condition(api, "v")!["message"], "3/3 proxies up to date.");
    });
    await led(other, async () => {
      await until(
        "the new leader's report to go, the old one's to come",
        () => JSON.stringify(reports().map((path) => path.split("-report-")[1])) === '["leader"]',
      );
    });
    await leader.status.stop();
    assert.equal(reports().some((path) => path.endsWith("-leader")), false);
  });
});

Deno.test("the report of a dead server counts for 100 s by the reader's clock, then it ends; a renewed report stays", async () => {
  let ahead = 0;
  const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  await withApi(async (api, start) => {
    const leader = start("leader");
    write(api, "v", 1);
    leader.connect("p", ["v"]);
    leader.hear("v");
    leader.acknowledge();
    const { uid } = api.get(pathOf("v"))!.metadata;
    const behind = { generation: 1, total: 2, live: 0, rejected: 2, reason: "no such cluster" };
    const dead = new OwnReport(api.client, "mesh-system", "dead");
    await dead.write(new Map([[uid, behind]]), 0, new AbortController().signal);
    const [gone, living] = ["dead", "alive"].map((name) => reportOf(name));
    const alive = new OwnReport(api.client, "mesh-system", "alive");
    await led(leader, async () => {
      await until("its proxies", () => condition(api, "v")?.["reason"] === "Rejected");
      assert.equal(condition(api, "v")!["message"], "1/3 proxies up to date. Rejected by 2: no such cluster");
      // The count began when the leader had read the object, which was after `ahead` was zero.
      for (const seconds of [60, 99]) {
        ahead = seconds * 1000;
        await alive.write(new Map([[uid, { ...behind, rejected: 0, reason: "" }]]), 0, new AbortController().signal);
        await rounds();
        assert.ok(api.get(gone!), `after ${seconds} s`);
      }
      ahead = 105_000;
      await until("the dead server's report to go", () => api.get(gone!) === undefined);
      assert.ok(api.get(living!), "renewed six seconds ago");
      await until("the others' proxies alone", () => condition(api, "v")?.["reason"] === "Pending");
      assert.equal(condition(api, "v")!["message"], "1/3 proxies up to date.");
    });
  }, clock);
});

Deno.test("when leadership is lost nothing is written any more", async () => {
  await withApi(async (api, start) => {
    const server = start("one");
    const names = Array.from({ length: 300 }, (_, n) => `v${n}`);
    for (const name of names) write(api, name, 1);
    server.hear(...names);
    const leadership = new AbortController();
    const some = Promise.withResolvers<void>();
    api.onWrite = () => {
      if (statusWrites(api).length >= 5) some.resolve();
      return undefined;
    };
    const running = server.status.duty.run(leadership.signal);
    await some.promise;
    leadership.abort();
    const writes = statusWrites(api).length;
    await running;
    await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL));
    assert.equal(statusWrites(api).length, writes);
  });
});
