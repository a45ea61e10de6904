/** How a status is written: by which requests, and beside which other writers. */
import assert from "node:assert/strict";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { ApiClient } from "../../lib/orch/client/client.ts";
import { TokenBucket } from "../../lib/orch/client/token_bucket.ts";
import type { ApiJson } from "../../lib/orch/client/answer.ts";
import { changeKnownStatus, changeStatus, mergePatch, type ReadStatus } from "../../lib/status/write.ts";

const PLACE = {
  resource: { group: "example.com", version: "v1", plural: "things", kind: "Thing", namespaced: true },
  ...{ namespace: "shop", name: "a" },
};

interface Stored {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly generation: number };
  readonly status: ApiJson;
}

const stored = (version: number, status: ApiJson): Stored => ({
  metadata: { uid: "u", resourceVersion: `${version}`, generation: 1 },
  status,
});

/** An API with one object. */
class OneObject {
  readonly asked: string[] = [];
  readonly clock = createFakeClock();
  readonly client: ApiClient;

  constructor(public object: Stored | undefined) {
    this.client = new ApiClient({
      access: { current: () => ({ server: "https://api" }), refused: () => {} },
      // One request at once, and the next after ten seconds.
      limit: new TokenBucket(0.1, 1, this.clock),
      clock: this.clock,
      exchange: (_url, init) => Promise.resolve(this.#answer(init.method ?? "GET", init.body)),
    });
  }

  #answer(method: string, body: unknown): Response {
    this.asked.push(method);
    const { object } = this;
    if (object === undefined) return Response.json({ message: "gone" }, { status: 404 });
    if (method === "GET") return Response.json(object);
    const { metadata, status } = JSON.parse(`${body}`);
    const version = object.metadata.resourceVersion;
    if (metadata.resourceVersion !== version) return Response.json({ message: "changed" }, { status: 409 });
    const merged = Object.entries({ ...object.status, ...status }).filter(([, value]) => value !== null);
    this.object = stored(Number(version) + 1, Object.fromEntries(merged));
    return Response.json(this.object);
  }
}

const signal = new AbortController().signal;
const said = ({ status }: ReadStatus) => mergePatch(status, { ...status, ours: "new" });
const known = (version: number, status: ApiJson) => ({
  place: PLACE,
  uid: "u",
  known: { version: `${version}`, generation: 1, status },
});

Deno.test("a known status is changed by one request, which the client's limit does not count", async () => {
  const api = new OneObject(stored(5, { theirs: 1 }));
  await api.client.get("/uses-up-the-limit");
  assert.equal(await changeKnownStatus(api.client, known(5, { theirs: 1 }), said, signal), "written");
  assert.deepEqual(api.asked, ["GET", "PATCH"]);
  assert.deepEqual(api.object?.status, { theirs: 1, ours: "new" });
  assert.equal(await changeKnownStatus(api.client, known(6, {}), () => undefined, signal), "same");
  assert.equal(api.asked.length, 2);
});

Deno.test("a status that another writer has changed meanwhile is read, and the other writer's change stays", async () => {
  const api = new OneObject(stored(6, { theirs: 2 }));
  assert.equal(await changeKnownStatus(api.client, known(5, { theirs: 1 }), said, signal), "written");
  assert.deepEqual(api.asked, ["PATCH", "GET", "PATCH"]);
  assert.deepEqual(api.object?.status, { theirs: 2, ours: "new" });
});

Deno.test("a later object of the same name keeps its status, and a removed object is no failure", async () => {
  const later = stored(9, { theirs: 3 });
  const api = new OneObject({ ...later, metadata: { ...later.metadata, uid: "later" } });
  assert.equal(await changeKnownStatus(api.client, known(5, {}), said, signal), "gone");
  assert.deepEqual(api.object?.status, { theirs: 3 });
  assert.equal(await changeKnownStatus(new OneObject(undefined).client, known(5, {}), said, signal), "gone");
});

Deno.test("the client's limit counts the requests after a conflict", async () => {
  const api = new OneObject(stored(5, {}));
  await api.client.get("/uses-up-the-limit");
  let changes = 0;
  const change = (read: ReadStatus) => {
    // Another writer is between the read and the write, once.
    if (++changes === 1) api.object = stored(6, { theirs: 1 });
    return said(read);
  };
  const written = changeStatus(api.client, PLACE, "u", change, signal);
  while (api.asked.length < 3) await Promise.resolve();
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  assert.deepEqual(api.asked, ["GET", "GET", "PATCH"], "the second attempt waits for its turn");
  while (changes < 2) await api.clock.advance(10_000);
  await api.clock.advance(20_000);
  assert.equal(await written, "written");
  assert.deepEqual(api.object?.status, { theirs: 1, ours: "new" });
});
