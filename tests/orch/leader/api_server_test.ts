/**
 * Elections at a real API server: two servers stand, one leads, and the other follows when the leader leaves, dies or
 * is locked out.
 */
import assert from "node:assert/strict";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { getObject, replaceObject } from "../../../lib/orch/resources/objects.ts";
import { Election } from "../../../lib/orch/leader/election.ts";
import { LOCK_RESOURCES, type LockName, LOCKS } from "../../../lib/orch/leader/locks.ts";
import { readLock, writeLock } from "../../../lib/orch/leader/record.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { quickClock } from "../support/scripted_api.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { PATIENCE, until } from "../../patience.ts";

const test = apiServerTests();

/** Waits of an election take this fraction of their time: a leader has 3 s for an answer of a busy API server. */
const clock = quickClock(5);
const log = silentLog().scope("orch");

/** A server that stands for election under a lock. */
class Stander {
  /** Number of terms begun, and ended. */
  began = 0;
  ended = 0;
  readonly election: Election;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #changed = Promise.withResolvers<void>();
  /** Requests fail while this flag is set. */
  cut = false;

  constructor(server: ApiServer, namespace: string, identity: string, lock: LockName, key = "", byDefault = "") {
    const client = new ApiClient({
      clock,
      access: {
        current: () => {
          if (this.cut) throw new Error("cut by the test");
          return server.access;
        },
        refused: () => {},
      },
    });
    const goesBefore = (other: string) => byDefault === key && other !== key;
    this.election = new Election(client, { lock, namespace, identity, key, goesBefore, log });
    this.#running = this.election.run(async (signal) => {
      this.began++;
      this.#change();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      this.ended++;
      this.#change();
    }, this.#stop.signal);
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  /** Resolves when so many terms have begun and ended. */
  async terms(began: number, ended: number): Promise<void> {
    const late = Promise.withResolvers<never>();
    const message = `${began} terms begun and ${ended} ended: not within ${PATIENCE / 1000} s`;
    const timer = setTimeout(() => late.reject(new Error(message)), PATIENCE);
    try {
      while (this.began !== began || this.ended !== ended) await Promise.race([this.#changed.promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

for (const lock of ["mesh-leader", "mesh-status-leader"] as const) {
  test(`${LOCKS[lock]} ${lock}: one of two leads; the other leads when it leaves, and again when the lock runs out`, async ({ server, namespace }) => {
    const a = new Stander(server, namespace, "a", lock, "r1");
    await a.terms(1, 0);
    const b = new Stander(server, namespace, "b", lock, "r1");
    try {
      await until("b knows a", () => b.election.holder?.holder === "a");
      assert.equal(b.began, 0);
      await a.stop();
      assert.equal(a.ended, 1);
      await b.terms(1, 0);
      const place = { resource: LOCK_RESOURCES[LOCKS[lock]], namespace, name: lock };
      const { record } = readLock(LOCKS[lock], (await getObject(server.client, place))!);
      assert.equal(record?.holder, "b");
      assert.equal(record?.key, lock === "mesh-leader" ? "r1" : "");
      assert.equal(record?.seconds, 30);

      const c = new Stander(server, namespace, "c", lock, "r1");
      try {
        b.cut = true;
        await b.terms(1, 1);
        assert.equal(c.began, 0, "the one that is cut off stops before another begins");
        await c.terms(1, 0);
        b.cut = false;
        await until("b knows c", () => b.election.holder?.holder === "c");
        assert.equal(b.began, 1);
      } finally {
        await c.stop();
      }
    } finally {
      await Promise.all([a.stop(), b.stop()]);
    }
  });
}

test("who finds its lock in another's hands stops at once", async ({ server, namespace }) => {
  const a = new Stander(server, namespace, "a", "mesh-leader");
  try {
    await a.terms(1, 0);
    const place = { resource: LOCK_RESOURCES.ConfigMap, namespace, name: "mesh-leader" };
    await until("a thief has the lock", async () => {
      const { version, record, object } = readLock("ConfigMap", (await getObject(server.client, place))!);
      const body = writeLock("ConfigMap", { ...record!, holder: "thief" }, object);
      return await replaceObject(server.client, place, version, body).then(() => true, () => false);
    });
    await a.terms(1, 1);
    assert.equal(a.election.holder?.holder, "thief");
    await a.terms(2, 1);
  } finally {
    await a.stop();
  }
});

test("the default revision takes a config map's lock from a living holder, which stops before", async ({ server, namespace }) => {
  const canary = new Stander(server, namespace, "canary-1", "mesh-leader", "canary", "stable");
  await canary.terms(1, 0);
  const stable = new Stander(server, namespace, "stable-1", "mesh-leader", "stable", "stable");
  try {
    await canary.terms(1, 1);
    assert.equal(stable.began, 0, "it leads only when the one before has surely stopped");
    await stable.terms(1, 0);
    assert.equal(canary.election.leads, false);
  } finally {
    await Promise.all([canary.stop(), stable.stop()]);
  }
});

test("a leader outlives a restart of the API server", async ({ server, namespace }) => {
  const a = new Stander(server, namespace, "a", "mesh-leader");
  try {
    await a.terms(1, 0);
    await server.stop("at once");
    await a.terms(1, 1);
    await server.start();
    await a.terms(2, 1);
  } finally {
    await a.stop();
  }
});

test("the fields of a lock that others write stay", async ({ server, namespace }) => {
  const metadata = { namespace, name: "mesh-leader", labels: { team: "mesh" }, annotations: { note: "ours" } };
  await server.objects.create({ apiVersion: "v1", kind: "ConfigMap", metadata });
  const a = new Stander(server, namespace, "a", "mesh-leader");
  try {
    await a.terms(1, 0);
    const after = await server.objects.get({ apiVersion: "v1", kind: "ConfigMap", metadata });
    assert.equal(after?.metadata.labels?.["team"], "mesh");
    assert.equal(after?.metadata.annotations?.["note"], "ours");
  } finally {
    await a.stop();
  }
});
