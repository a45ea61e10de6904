import assert from "node:assert/strict";
import { LEDGER_LENGTH, PushLedger } from "../../lib/xds/ledger.ts";
import type { PushEvent } from "../../lib/xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS } from "../../lib/xds/protocol/types.ts";

const push = (id: number): PushEvent => ({
  id,
  reasons: { config: 1 },
  objects: [{ key: `o${id}`, origin: {} }],
  full: true,
  startedAt: Date.now(),
});
const response = (typeUrl: string, bytes: number) => ({ typeUrl, resources: 2, removed: 1, bytes, asked: false });

Deno.test("a push is recorded with its proxies, its responses, and the slowest proxy", () => {
  const ledger = new PushLedger();
  const [a, b, idle] = ["a", "b", "idle"].map((proxy) => ledger.join(proxy));
  ledger.begin(push(1));
  for (const stream of [a!, b!]) {
    ledger.responded(stream, response(CLUSTER, 10));
    ledger.responded(stream, response(ENDPOINTS, 5));
  }
  ledger.settled(idle!);
  assert.deepEqual(ledger.live(1), { live: 1, total: 3, failing: 0 });
  assert.equal(ledger.settled(a!).length, 1);
  assert.equal(ledger.pushes()[0]!.pending, 1);
  ledger.settled(b!);
  const record = ledger.pushes()[0]!;
  assert.deepEqual([record.streams, record.touched, record.pending, record.slowest], [3, 2, 0, "b"]);
  assert.deepEqual(record.types, {
    cds: { responses: 2, resources: 4, removed: 2, bytes: 20 },
    eds: { responses: 2, resources: 4, removed: 2, bytes: 10 },
  });
  assert.deepEqual(ledger.live(1), { live: 3, total: 3, failing: 0 });
});

Deno.test("waiting for a push ends when all streams have it, when the missing one leaves, or at the time limit", async () => {
  const ledger = new PushLedger();
  const [a, b] = ["a", "b"].map((proxy) => ledger.join(proxy));
  ledger.begin(push(1));
  const all = ledger.waitLive(1, 10_000);
  ledger.settled(a!);
  ledger.settled(b!);
  assert.equal(await all, true);

  ledger.begin(push(2));
  ledger.responded(b!, response(CLUSTER, 1));
  ledger.settled(a!);
  assert.equal(await ledger.waitLive(2, 20), false);
  const left = ledger.waitLive(2, 10_000);
  ledger.leave(b!);
  assert.equal(await left, true);
  assert.equal(ledger.pushes()[0]!.pending, 0, "a proxy that left is not waited for");
});

Deno.test("a push that has not begun is not live, even without streams", async () => {
  const ledger = new PushLedger();
  assert.equal(await ledger.waitLive(5, 20), false);
  const waiting = ledger.waitLive(1, 10_000);
  const stream = ledger.join("a");
  ledger.begin(push(1));
  ledger.settled(stream);
  assert.equal(await waiting, true);
});

Deno.test("only the latest pushes and rejections are kept, newest first", () => {
  const ledger = new PushLedger();
  const stream = ledger.join("a");
  for (let i = 1; i <= LEDGER_LENGTH + 20; i++) {
    ledger.begin(push(i));
    ledger.rejected(stream, {
      typeUrl: CLUSTER,
      code: 3,
      message: `m${i}`,
      repeated: false,
      late: false,
      resources: [],
      causes: [],
    });
  }
  assert.equal(ledger.pushes().length, LEDGER_LENGTH);
  assert.equal(ledger.pushes()[0]!.id, LEDGER_LENGTH + 20);
  assert.equal(ledger.rejections().length, LEDGER_LENGTH);
  assert.equal(ledger.rejections()[0]!.message, `m${LEDGER_LENGTH + 20}`);
  assert.equal(ledger.rejections()[0]!.proxy, "a");
});

Deno.test("a push that a client rejected is not live there until it takes that type again; later pushes of others are", () => {
  const ledger = new PushLedger();
  const stream = ledger.join("a");
  ledger.begin(push(1));
  ledger.responded(stream, response(CLUSTER, 1));
  ledger.rejected(stream, {
    typeUrl: CLUSTER,
    code: 13,
    message: "no",
    repeated: false,
    late: false,
    resources: ["c"],
    causes: [],
  });
  ledger.settled(stream);
  assert.deepEqual(ledger.live(1), { live: 0, total: 1, failing: 0 });
  ledger.begin(push(2));
  ledger.responded(stream, response(ENDPOINTS, 1));
  ledger.settled(stream);
  assert.deepEqual([ledger.live(1).live, ledger.live(2).live], [0, 1]);
  ledger.accepted(stream, CLUSTER);
  assert.deepEqual([ledger.live(1).live, ledger.live(2).live], [1, 1]);
});

Deno.test("of a client that rejects push after push, the last 1,000 rejected pushes are remembered", () => {
  const ledger = new PushLedger();
  const stream = ledger.join("p");
  for (let id = 1; id <= 3000; id++) {
    ledger.begin(push(id));
    ledger.responded(stream, response(CLUSTER, 10));
    ledger.rejected(stream, {
      typeUrl: CLUSTER,
      code: 13,
      message: "no",
      repeated: true,
      late: false,
      resources: [],
      causes: [],
    });
    ledger.settled(stream);
  }
  assert.equal(stream.rejected.get(CLUSTER)!.size, 1000);
  assert.deepEqual([ledger.live(3000).live, ledger.live(2001).live], [0, 0]);
});

Deno.test("a push that a client took and rejects late is not live there; the pushes before and after are", () => {
  const ledger = new PushLedger();
  const stream = ledger.join("a");
  for (const [id, type] of [[1, CLUSTER], [2, ENDPOINTS], [3, CLUSTER]] as const) {
    ledger.begin(push(id));
    ledger.responded(stream, response(type, 1));
    ledger.settled(stream);
  }
  const late = { code: 13, message: "no", repeated: false, late: true, resources: [], causes: [] };
  ledger.rejected(stream, { ...late, typeUrl: ENDPOINTS });
  assert.deepEqual([1, 2, 3].map((id) => ledger.live(id).live), [1, 0, 1]);
  assert.equal(ledger.rejections()[0]!.typeUrl, ENDPOINTS);
  ledger.accepted(stream, ENDPOINTS);
  assert.equal(ledger.live(2).live, 1);
  ledger.responded(stream, { ...response(CLUSTER, 1), asked: true });
  ledger.rejected(stream, { ...late, typeUrl: CLUSTER });
  assert.deepEqual([1, 2, 3].map((id) => ledger.live(id).live), [1, 1, 1], "what was asked for is of no push");
});
