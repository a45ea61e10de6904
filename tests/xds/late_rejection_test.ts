/** A rejection after an acknowledgement, as agents send it. */
import assert from "node:assert/strict";
import { rejectRequest } from "../../lib/agent/relay/messages.ts";
import { EXTENSION_CONFIG } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { StreamClient } from "./support/stream_client.ts";

const filter = (name: string, value: number) => textResource(EXTENSION_CONFIG, name, `${name}=${value}`);

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";
  const names = ["a", "b"];

  /** A client that has acknowledged filters a and b. */
  const start = () => {
    const source = new MemorySource().change(EXTENSION_CONFIG, [filter("a", 1), filter("b", 1)]);
    const client = new StreamClient(source, delta);
    client.ask(EXTENSION_CONFIG, { names });
    const { nonce } = client.accept(EXTENSION_CONFIG, names);
    const { resources } = client.stream.watches.get(EXTENSION_CONFIG)!;
    const again = (error?: string, of = nonce) =>
      client.ask(EXTENSION_CONFIG, { nonce: of, ...(error && { error }), names: delta ? [] : names });
    const change = (name: string, value: number) => {
      source.change(EXTENSION_CONFIG, [filter(name, value)]);
      client.stream.reconcile();
    };
    return { source, client, nonce, resources, again, change };
  };

  Deno.test(`${variant}: a late rejection counts once and is shown, and the client still has what it acknowledged`, () => {
    const { client, nonce, resources, again, change } = start();
    const { sent, want, ackedAt } = resources;
    const last = client.encode(EXTENSION_CONFIG, { nonce, names: delta ? [] : names });
    const refusal = { typeUrl: EXTENSION_CONFIG, nonce, reason: "filter b: no module" };
    client.send(rejectRequest(delta ? "delta" : "sotw", refusal, last));
    for (let i = 0; i < 100; i++) again(`filter a: no module ${i}`);
    assert.deepEqual(client.rejects, [{
      ...{ typeUrl: EXTENSION_CONFIG, code: 13, message: "filter b: no module" },
      ...{ late: true, repeated: false, resources: ["b"], causes: [] },
    }]);
    assert.deepEqual([resources.lastError, resources.nonceAcked], ["filter b: no module", nonce]);
    assert.deepEqual([resources.sent, resources.want, resources.ackedAt], [sent, want, ackedAt]);
    client.stream.reconcile();
    assert.equal(client.inbox.length, 0, "nothing is sent because of it");
    assert.deepEqual(client.accepted, []);
    change("a", 2);
    assert.deepEqual(StreamClient.names(client.accept(EXTENSION_CONFIG, names)), ["a"], "only what changed");
  });

  Deno.test(`${variant}: a late rejection ends when the client unsubscribes the resource`, () => {
    const { client, nonce, resources, again } = start();
    again("filter b: no module");
    assert.deepEqual([resources.lastError, client.accepted], ["filter b: no module", []]);
    const without = (name: string) =>
      delta ? { unsubscribe: [name], names: [] } : { names: names.filter((n) => n !== name) };
    client.ask(EXTENSION_CONFIG, { nonce, ...without("a") });
    assert.equal(resources.lastError, "filter b: no module");
    client.ask(EXTENSION_CONFIG, { nonce, ...without("b"), ...(delta ? {} : { names: ["c"] }) });
    assert.deepEqual([resources.lastError, client.accepted], ["", [EXTENSION_CONFIG]]);
  });

  Deno.test(`${variant}: a late rejection is shown until the client accepts a later response`, () => {
    const { client, nonce, resources, again, change } = start();
    change("a", 2);
    again("no module");
    assert.deepEqual([client.rejects.length, client.counts.get("pilot_xds_expired_nonce")], [1, undefined]);
    assert.notEqual(resources.nonceSent, nonce, "a response was under way");
    client.accept(EXTENSION_CONFIG, names);
    assert.deepEqual([resources.lastError, client.accepted], ["no module", []]);
    change("b", 2);
    const { nonce: third } = client.accept(EXTENSION_CONFIG, names);
    assert.deepEqual([resources.lastError, client.accepted], ["", [EXTENSION_CONFIG]]);
    again("no module", third);
    assert.deepEqual(client.rejects.map(({ late, repeated }) => [late, repeated]), [[true, false], [true, false]]);
  });

  Deno.test(`${variant}: an acknowledgement of the same response takes it back, a change of the subscription does not`, () => {
    const { client, nonce, resources, again } = start();
    again("no module");
    client.ask(EXTENSION_CONFIG, { nonce, names: delta ? ["c"] : [...names, "c"] });
    if (delta) client.accept(EXTENSION_CONFIG);
    assert.equal(client.accepted.length, delta ? 1 : 0, "the answer to the subscription is taken");
    if (!delta) {
      assert.equal(resources.lastError, "no module");
      client.ask(EXTENSION_CONFIG, { nonce, names: [...names, "c"] });
      assert.deepEqual([resources.lastError, client.accepted], ["", [EXTENSION_CONFIG]]);
    }
    again("no module", nonce);
    assert.equal(client.rejects.length, 1, "one of each response counts");
    const other = start();
    other.again("no module");
    other.again();
    assert.deepEqual([other.resources.lastError, other.client.accepted], ["", [EXTENSION_CONFIG]]);
  });

  Deno.test(`${variant}: a resource rejected at first is not rejected late, and other nonces stay stale`, () => {
    const { client, again, change } = start();
    change("a", 2);
    const { nonce } = client.reject(EXTENSION_CONFIG, "bad: a", names);
    again("bad: a", nonce);
    again("bad: a", "made up");
    assert.deepEqual(client.rejects.map(({ late }) => late), [false]);
    assert.equal(client.counts.get("pilot_xds_expired_nonce"), 1);
  });
}
