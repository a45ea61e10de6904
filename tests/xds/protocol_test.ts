import assert from "node:assert/strict";
import { InternedNames } from "../../lib/resource/names.ts";
import {
  CLUSTER,
  ENDPOINTS,
  EXTENSION_CONFIG,
  LISTENER,
  ROUTE,
  SECRET,
  VIRTUAL_HOST,
} from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { StreamClient } from "./support/stream_client.ts";

/** A resource whose text begins with its name, as the client's decoder expects. */
const res = (typeUrl: string, name: string, value = "1") =>
  textResource(typeUrl, name, `${name}=${value}`, typeUrl === CLUSTER ? { warms: [name] } : {});

function source(): MemorySource {
  return new MemorySource()
    .change(CLUSTER, [res(CLUSTER, "a"), res(CLUSTER, "b")])
    .change(ENDPOINTS, [res(ENDPOINTS, "a"), res(ENDPOINTS, "b")])
    .change(LISTENER, [res(LISTENER, "l")])
    .change(ROUTE, [res(ROUTE, "80"), res(ROUTE, "90")]);
}
const names = StreamClient.names;

for (const delta of [false, true]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: a first request without names for clusters is answered with all, and the ACK with nothing`, () => {
    const client = new StreamClient(source(), delta);
    client.ask(CLUSTER);
    assert.deepEqual(names(client.accept()), ["a", "b"]);
    assert.equal(client.inbox.length, 0);
    assert.ok(client.settled > 0);
  });

  Deno.test(`${variant}: a wildcard type with nothing in it is answered with nothing, so that the client can go on`, () => {
    const client = new StreamClient(new MemorySource().serve(CLUSTER, LISTENER), delta);
    client.ask(CLUSTER);
    client.ask(LISTENER);
    assert.deepEqual(client.inbox.map((r) => [r.typeUrl, r.resources.size]), [[CLUSTER, 0], [LISTENER, 0]]);
  });

  Deno.test(`${variant}: a type that is not served is not answered, and harms no other type`, () => {
    const client = new StreamClient(source(), delta);
    client.ask("type.googleapis.com/unknown.Type", { names: ["x"] });
    client.ask("type.googleapis.com/unknown.Type");
    client.ask(CLUSTER);
    assert.deepEqual(client.inbox.map((r) => r.typeUrl), [CLUSTER]);
  });

  Deno.test(`${variant}: endpoints are sent for the requested names; a first request without names requests no endpoints`, () => {
    const client = new StreamClient(source(), delta);
    client.ask(ENDPOINTS);
    assert.equal(client.inbox.length, 0);
    client.ask(ENDPOINTS, { names: ["b"] });
    assert.deepEqual(names(client.accept(ENDPOINTS, ["b"])), ["b"]);
  });

  Deno.test(`${variant}: a change is sent to clients that see it; the same content is not sent again`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(ENDPOINTS, { names: ["b"] });
    client.accept(ENDPOINTS, ["b"]);
    from.change(ENDPOINTS, [res(ENDPOINTS, "a", "2"), res(ENDPOINTS, "b")]);
    client.stream.reconcile();
    assert.equal(client.inbox.length, 0, "b is the same, a is not asked for");
    from.change(ENDPOINTS, [res(ENDPOINTS, "b", "2")]);
    client.stream.reconcile();
    assert.deepEqual(names(client.accept(ENDPOINTS, ["b"])), ["b"]);
  });

  Deno.test(`${variant}: one response of a type is in flight; changes meanwhile are merged into the next`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(ROUTE, { names: ["80"] });
    for (const value of ["2", "3", "4"]) {
      from.change(ROUTE, [res(ROUTE, "80", value)]);
      client.stream.reconcile();
    }
    assert.equal(client.inbox.length, 1);
    client.accept(ROUTE, ["80"]);
    assert.equal(client.accept(ROUTE, ["80"]).resources.get("80")!.value, "80=4");
    assert.equal(client.inbox.length, 0);
  });

  Deno.test(`${variant}: a rejected response is not sent again until something changes`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(LISTENER);
    client.reject(LISTENER, "bad listener l: no");
    client.stream.reconcile();
    assert.equal(client.inbox.length, 0);
    assert.equal(client.stream.watches.get(LISTENER)!.resources.lastError, "bad listener l: no");
    assert.deepEqual(client.rejects[0]!.resources, ["l"]);
    from.change(LISTENER, [res(LISTENER, "l", "2")]);
    client.stream.reconcile();
    assert.equal(client.accept(LISTENER).resources.get("l")!.value, "l=2");
    assert.equal(client.stream.watches.get(LISTENER)!.resources.lastError, "");
  });

  Deno.test(`${variant}: a rejection that names one of many has the others sent again without it`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(ENDPOINTS, { names: ["a", "b"] });
    client.reject(ENDPOINTS, "malformed endpoints b", ["a", "b"]);
    assert.deepEqual(names(client.accept(ENDPOINTS, ["a", "b"])), ["a"]);
    assert.equal(client.inbox.length, 0);
    from.change(ENDPOINTS, [res(ENDPOINTS, "a", "2")]);
    client.stream.reconcile();
    assert.deepEqual(names(client.accept(ENDPOINTS, ["a", "b"])), ["a"], "b is still the rejected version");
    assert.deepEqual([client.accepted, client.stream.watches.get(ENDPOINTS)!.resources.lastError], [
      [],
      "malformed endpoints b",
    ]);
    from.change(ENDPOINTS, [res(ENDPOINTS, "b", "2")]);
    client.stream.reconcile();
    assert.deepEqual(names(client.accept(ENDPOINTS, ["a", "b"])), ["b"]);
    assert.deepEqual([client.accepted, client.stream.watches.get(ENDPOINTS)!.resources.lastError], [[ENDPOINTS], ""]);
  });

  Deno.test(`${variant}: after a rejection of clusters that names nothing, the next change brings all of it`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(CLUSTER);
    const all = names(client.reject(CLUSTER, "no"));
    // An incremental client gets the resources in parts, until the bad resources are known: here all resources are bad.
    while (client.inbox.length > 0) client.reject(CLUSTER, "no");
    from.change(CLUSTER, all.map((name) => res(CLUSTER, name, "2")));
    client.stream.reconcile();
    while (client.inbox.length > 0) client.accept(CLUSTER);
    assert.deepEqual([...client.has.get(CLUSTER)!.keys()].sort(), all);
  });

  Deno.test(`${variant}: an answer with a stale nonce counts and answers nothing`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(CLUSTER);
    const first = client.accept(CLUSTER);
    from.change(CLUSTER, [res(CLUSTER, "c")]);
    client.stream.reconcile();
    client.ask(CLUSTER, { nonce: first.nonce });
    assert.equal(client.counts.get("pilot_xds_expired_nonce"), 1);
    assert.equal(client.inbox.length, 1);
    assert.notEqual(
      client.stream.watches.get(CLUSTER)!.resources.inFlight,
      undefined,
      "the second is still unanswered",
    );
  });

  Deno.test(`${variant}: a first request with a nonce of an earlier stream is answered`, () => {
    const client = new StreamClient(source(), delta);
    client.ask(CLUSTER, { nonce: "of-another-stream" });
    assert.equal(client.inbox.length, 1);
  });

  Deno.test(`${variant}: a changed cluster has its endpoints sent again, because it warms on them`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(CLUSTER);
    client.accept(CLUSTER);
    client.ask(ENDPOINTS, { names: ["a", "b"] });
    client.accept(ENDPOINTS, ["a", "b"]);
    from.change(CLUSTER, [res(CLUSTER, "b", "2")]);
    client.stream.reconcile();
    assert.deepEqual(client.inbox.map((r) => r.typeUrl), [CLUSTER, ENDPOINTS]);
    assert.deepEqual(names(client.inbox[1]!), ["b"]);
  });

  Deno.test(`${variant}: types go out in order, and listeners and routes wait for the answer to changed clusters`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(ROUTE, { names: ["80"] });
    client.ask(LISTENER);
    client.ask(CLUSTER);
    client.accept(ROUTE, ["80"]);
    client.accept(LISTENER);
    client.accept(CLUSTER);
    from.change(ROUTE, [res(ROUTE, "80", "2")]).change(LISTENER, [res(LISTENER, "l", "2")]);
    from.change(CLUSTER, [res(CLUSTER, "c")]);
    client.stream.reconcile();
    assert.deepEqual(client.inbox.map((r) => r.typeUrl), [CLUSTER]);
    client.accept(CLUSTER);
    assert.deepEqual(client.inbox.map((r) => r.typeUrl), [LISTENER, ROUTE]);
    client.stream.close();
  });

  Deno.test(`${variant}: "*" beside names subscribes to all; without it only the names remain`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(CLUSTER, { names: ["*", "a"] });
    const response = client.take();
    client.apply(response);
    assert.deepEqual(names(response), ["a", "b"]);
    client.ask(
      CLUSTER,
      delta ? { nonce: response.nonce, unsubscribe: ["*"] } : { nonce: response.nonce, names: ["a"] },
    );
    assert.equal(client.inbox.length, 0, "dropping a subscription asks for nothing");
    from.change(CLUSTER, [res(CLUSTER, "b", "2")]);
    client.stream.reconcile();
    assert.equal(client.inbox.length, 0, "b is no longer wanted");
    from.change(CLUSTER, [res(CLUSTER, "a", "2")]);
    client.stream.reconcile();
    assert.deepEqual(names(client.take()), ["a"]);
  });

  Deno.test(`${variant}: responses above the limit are split where the protocol allows it, clusters never`, () => {
    const from = new MemorySource();
    const many = Array.from({ length: 100 }, (_, i) => `r${i}`);
    from.change(ENDPOINTS, many.map((name) => res(ENDPOINTS, name))).change(CLUSTER, many.map((n) => res(CLUSTER, n)));
    const client = new StreamClient(from, delta, { maxResponseBytes: 1000 });
    client.ask(CLUSTER);
    assert.equal(client.accept(CLUSTER).resources.size, 100);
    client.ask(ENDPOINTS, { names: many });
    let responses = 0;
    while (client.inbox.length > 0) {
      client.accept(ENDPOINTS, many);
      responses++;
    }
    assert.ok(responses > 3);
    assert.deepEqual([...client.has.get(ENDPOINTS)!.keys()].sort(), many.toSorted());
  });

  Deno.test(`${variant}: nonces are unique`, () => {
    const from = source();
    const client = new StreamClient(from, delta);
    client.ask(CLUSTER);
    client.ask(LISTENER);
    client.ask(ROUTE, { names: ["80"] });
    const nonces = client.inbox.map((r) => r.nonce);
    assert.equal(new Set(nonces).size, 3);
  });
}

Deno.test("state of the world: a removed cluster is missing from the next response, which holds all others", () => {
  const from = source();
  const client = new StreamClient(from, false);
  client.ask(CLUSTER);
  client.accept();
  from.change(CLUSTER, [], ["a"]);
  client.stream.reconcile();
  client.accept();
  assert.deepEqual([...client.has.get(CLUSTER)!.keys()], ["b"]);
  from.change(CLUSTER, [], ["b"]);
  client.stream.reconcile();
  assert.equal(client.accept().resources.size, 0, "an empty response says that all are gone");
});

Deno.test("state of the world: only the changed route configuration is sent", () => {
  const from = source();
  const client = new StreamClient(from, false);
  client.ask(ROUTE, { names: ["80", "90"] });
  client.accept(ROUTE, ["80", "90"]);
  from.change(ROUTE, [res(ROUTE, "90", "2")]);
  client.stream.reconcile();
  assert.deepEqual(names(client.take(ROUTE)), ["90"]);
});

Deno.test("state of the world: a name that is dropped and asked for again is sent again", () => {
  const client = new StreamClient(source(), false);
  client.ask(ENDPOINTS, { names: ["a", "b"] });
  const first = client.accept(ENDPOINTS, ["a", "b"]);
  client.ask(ENDPOINTS, { names: ["a"], nonce: first.nonce });
  assert.equal(client.inbox.length, 0);
  client.ask(ENDPOINTS, { names: ["a", "b"], nonce: first.nonce });
  assert.deepEqual(names(client.take(ENDPOINTS)), ["b"]);
});

Deno.test("state of the world: after names were given, an empty list unsubscribes from all", () => {
  const from = source();
  const client = new StreamClient(from, false);
  client.ask(CLUSTER, { names: ["a"] });
  const first = client.accept(CLUSTER, ["a"]);
  client.ask(CLUSTER, { nonce: first.nonce });
  from.change(CLUSTER, [res(CLUSTER, "a", "2")]);
  client.stream.reconcile();
  assert.equal(client.inbox.length, 0);
});

Deno.test("state of the world: the version is the same for the same content, and differs for different content", () => {
  const from = source();
  const versions = [1, 2].map(() => {
    const client = new StreamClient(from, false);
    client.ask(CLUSTER);
    return client.take().version;
  });
  assert.equal(versions[0], versions[1]);
  from.change(CLUSTER, [res(CLUSTER, "c")]);
  const client = new StreamClient(from, false);
  client.ask(CLUSTER);
  assert.notEqual(client.take().version, versions[0]);
});

Deno.test("incremental: removals are sent by name", () => {
  const from = source();
  const client = new StreamClient(from, true);
  client.ask(CLUSTER);
  client.accept();
  from.change(CLUSTER, [], ["a"]);
  client.stream.reconcile();
  const response = client.accept();
  assert.deepEqual([response.removed, response.resources.size], [["a"], 0]);
});

Deno.test("incremental: a cluster goes with the next response when its client drops the route in the step that removes it", () => {
  const from = source();
  const client = new StreamClient(from, true);
  client.ask(ROUTE, { names: ["80"] });
  client.accept();
  client.ask(CLUSTER);
  client.accept();
  client.ask(LISTENER);
  client.accept();
  from.change(CLUSTER, [], ["a"]).change(ROUTE, [res(ROUTE, "80", "2")]);
  client.stream.reconcile();
  assert.deepEqual(client.inbox.map((r) => [r.typeUrl, r.removed]), [[ROUTE, []]], "the cluster stays for the route");
  const { nonce } = client.take(ROUTE);
  client.ask(ROUTE, { nonce, unsubscribe: ["80"] });
  assert.deepEqual(client.inbox.map((r) => [r.typeUrl, r.removed]), [[CLUSTER, ["a"]]]);
});

Deno.test("incremental: a cluster that is removed while its client drops the route goes at once", () => {
  const from = source();
  const client = new StreamClient(from, true);
  client.ask(ROUTE, { names: ["80"] });
  client.accept();
  client.ask(CLUSTER);
  client.accept();
  from.change(CLUSTER, [], ["a"]);
  client.ask(ROUTE, { unsubscribe: ["80"] });
  assert.deepEqual(client.inbox.map((r) => [r.typeUrl, r.removed]), [[CLUSTER, ["a"]]]);
});

Deno.test("incremental: a name that does not exist is sent as removed, and as a resource when it comes to exist", () => {
  const from = source();
  const client = new StreamClient(from, true);
  client.ask(ENDPOINTS, { names: ["a", "ghost"] });
  const response = client.accept();
  assert.deepEqual([names(response), response.removed], [["a"], ["ghost"]]);
  from.change(ENDPOINTS, [res(ENDPOINTS, "ghost")]);
  client.stream.reconcile();
  assert.deepEqual(names(client.accept()), ["ghost"]);
});

Deno.test("incremental: a removed extension configuration is not removed from the client, because chains may use it; a name that never existed is absent", () => {
  const from = new MemorySource().change(EXTENSION_CONFIG, [res(EXTENSION_CONFIG, "a"), res(EXTENSION_CONFIG, "b")]);
  const client = new StreamClient(from, true);
  client.ask(EXTENSION_CONFIG, { names: ["a", "b", "ghost"] });
  const first = client.accept();
  assert.deepEqual([names(first), first.removed], [["a", "b"], ["ghost"]]);
  from.change(EXTENSION_CONFIG, [res(EXTENSION_CONFIG, "b", "2")], ["a"]);
  client.stream.reconcile();
  const second = client.accept();
  assert.deepEqual([names(second), second.removed], [["b"], []]);
  from.change(EXTENSION_CONFIG, [], ["b"]);
  client.stream.reconcile();
  assert.equal(client.inbox.length, 0);
  from.change(EXTENSION_CONFIG, [res(EXTENSION_CONFIG, "a")]);
  client.stream.reconcile();
  assert.deepEqual(names(client.accept()), ["a"]);
});

Deno.test("incremental: a name that is subscribed again is sent again, though nothing changed", () => {
  const client = new StreamClient(source(), true);
  client.ask(ENDPOINTS, { names: ["a", "b"] });
  client.accept();
  client.ask(ENDPOINTS, { names: ["a"] });
  assert.deepEqual(names(client.accept()), ["a"]);
});

Deno.test("incremental: subscriptions count even with a stale nonce", () => {
  const client = new StreamClient(source(), true);
  client.ask(ENDPOINTS, { names: ["a"] });
  client.accept();
  client.ask(ENDPOINTS, { names: ["b"], nonce: "stale" });
  assert.deepEqual(names(client.accept()), ["b"]);
  assert.equal(client.counts.get("pilot_xds_expired_nonce"), 1);
});

Deno.test("incremental: unsubscribing needs no answer and ends the updates", () => {
  const from = source();
  const client = new StreamClient(from, true);
  client.ask(ENDPOINTS, { names: ["a", "b"] });
  client.accept();
  client.ask(ENDPOINTS, { unsubscribe: ["a", "phantom"] });
  from.change(ENDPOINTS, [res(ENDPOINTS, "a", "2")]);
  client.stream.reconcile();
  assert.equal(client.inbox.length, 0);
});

Deno.test("incremental: the answer to an unsubscription under a wildcard says whether the wildcard covers the name", () => {
  const client = new StreamClient(source(), true);
  client.ask(CLUSTER, { names: ["*", "a", "ghost"] });
  client.accept();
  client.ask(CLUSTER, { unsubscribe: ["a", "ghost"] });
  const response = client.accept();
  assert.deepEqual([names(response), response.removed], [["a"], ["ghost"]]);
});

Deno.test("incremental: a reconnecting client gets only resources that differ from the versions that it names", () => {
  const from = source();
  const one = new StreamClient(from, true);
  one.ask(CLUSTER);
  one.accept();
  const versions = Object.fromEntries([...one.has.get(CLUSTER)!].map(([name, { version }]) => [name, version]));
  const two = new StreamClient(from, true);
  two.ask(CLUSTER, { versions });
  const nothing = two.accept();
  assert.deepEqual([nothing.resources.size, nothing.removed], [0, []], "an answer, but an empty one");

  from.change(CLUSTER, [res(CLUSTER, "b", "2"), res(CLUSTER, "c")], ["a"]);
  const three = new StreamClient(from, true);
  three.ask(CLUSTER, { versions });
  const response = three.accept();
  assert.deepEqual([names(response), response.removed], [["b", "c"], ["a"]]);
});

Deno.test("incremental: a reconnecting client gets the endpoints of changed clusters even when it knows them", () => {
  const from = source();
  const versions = (type: string) => Object.fromEntries([...from.shared.get(type)!].map((r) => [r.name, r.version]));
  const known = versions(CLUSTER);
  from.change(CLUSTER, [res(CLUSTER, "b", "2")]);
  for (const order of [[CLUSTER, ENDPOINTS], [ENDPOINTS, CLUSTER]]) {
    const client = new StreamClient(from, true);
    const sent: string[] = [];
    for (const type of order) {
      if (type === CLUSTER) client.ask(CLUSTER, { versions: known });
      else client.ask(ENDPOINTS, { names: ["a", "b"], versions: versions(ENDPOINTS) });
    }
    while (client.inbox.length > 0) {
      const response = client.accept();
      if (response.typeUrl === ENDPOINTS) sent.push(...names(response));
    }
    assert.deepEqual(sent, ["b"], order.join(", "));
  }
});

Deno.test("incremental: a client whose stream broke between a cluster and its endpoints gets these when it comes back", () => {
  const from = source();
  const table = new InternedNames();
  const first = new StreamClient(from, true, { names: table });
  first.ask(CLUSTER);
  first.accept(CLUSTER);
  first.ask(ENDPOINTS, { names: ["a", "b"] });
  first.accept(ENDPOINTS);
  assert.equal(first.stream.owed.size, 0, "all was acknowledged");
  from.change(CLUSTER, [res(CLUSTER, "b", "2")]);
  first.stream.reconcile();
  first.accept(CLUSTER);
  first.stream.close();
  assert.deepEqual([...first.stream.owed], ["b"]);

  const versions = (type: string) => Object.fromEntries([...from.shared.get(type)!].map((r) => [r.name, r.version]));
  const second = new StreamClient(from, true, { names: table, owed: first.stream.owed });
  second.ask(CLUSTER, { versions: versions(CLUSTER) });
  assert.equal(second.accept(CLUSTER).resources.size, 0);
  second.ask(ENDPOINTS, { names: ["a", "b"], versions: versions(ENDPOINTS) });
  assert.deepEqual(names(second.accept(ENDPOINTS)), ["b"]);
  assert.equal(second.stream.owed.size, 0);
});

Deno.test("incremental: clusters that are gone are removed after the routes that used them", () => {
  const from = source();
  const client = new StreamClient(from, true);
  client.ask(CLUSTER);
  client.accept();
  client.ask(ROUTE, { names: ["80"] });
  client.accept();
  from.change(CLUSTER, [res(CLUSTER, "c")], ["a"]).change(ROUTE, [res(ROUTE, "80", "c")]);
  client.stream.reconcile();
  const added = client.accept(CLUSTER);
  assert.deepEqual([names(added), added.removed], [["c"], []]);
  assert.deepEqual(client.inbox.map((r) => r.typeUrl), [ROUTE]);
  client.accept(ROUTE);
  const removed = client.accept(CLUSTER);
  assert.deepEqual([names(removed), removed.removed], [[], ["a"]]);
  assert.equal(client.inbox.length, 0);
});

Deno.test("incremental: a resource that moves from the shared to the own set is neither removed nor sent again", () => {
  const from = source();
  const client = new StreamClient(from, true);
  client.view.own.set(CLUSTER, from.table.from([res(CLUSTER, "own")]));
  client.ask(CLUSTER);
  assert.deepEqual(names(client.accept()), ["a", "b", "own"]);
  from.change(CLUSTER, [res(CLUSTER, "own")], ["b"]);
  client.view.own.set(CLUSTER, from.table.from([res(CLUSTER, "b")]));
  client.stream.reconcile();
  assert.equal(client.inbox.length, 0);
});

Deno.test("a name in two resource sets is sent once, as the later set has it", () => {
  for (const delta of [true, false]) {
    const from = source();
    const client = new StreamClient(from, delta);
    client.view.own.set(CLUSTER, from.table.from([res(CLUSTER, "b", "own")]));
    client.ask(CLUSTER);
    assert.equal(client.accept().resources.get("b")!.value, "b=own");
  }
});

Deno.test("incremental: virtual hosts come for every route configuration that is subscribed, also for later ones", () => {
  const from = source();
  for (const rc of ["80", "90"]) from.changeHosts(rc, [res(VIRTUAL_HOST, `${rc}/x`), res(VIRTUAL_HOST, `${rc}/y`)]);
  const client = new StreamClient(from, true);
  client.ask(ROUTE, { names: ["80"] });
  client.accept();
  client.ask(VIRTUAL_HOST);
  assert.deepEqual(names(client.accept(VIRTUAL_HOST)), ["80/x", "80/y"]);
  client.ask(ROUTE, { names: ["90"] });
  assert.deepEqual(client.inbox.map((r) => r.typeUrl), [ROUTE, VIRTUAL_HOST], "routes first");
  client.accept(ROUTE);
  assert.deepEqual(names(client.accept(VIRTUAL_HOST)), ["90/x", "90/y"]);

  from.changeHosts("80", [res(VIRTUAL_HOST, "80/x", "2")], ["80/y"]);
  client.stream.reconcile();
  const response = client.accept(VIRTUAL_HOST);
  assert.deepEqual([names(response), response.removed], [["80/x"], ["80/y"]]);
});

Deno.test("incremental: virtual hosts of a dropped route configuration are forgotten, and come again with it", () => {
  const from = source().changeHosts("80", [res(VIRTUAL_HOST, "80/x")]).changeHosts("90", [res(VIRTUAL_HOST, "90/x")]);
  const client = new StreamClient(from, true);
  client.ask(ROUTE, { names: ["80", "90"] });
  client.accept();
  client.ask(VIRTUAL_HOST);
  client.accept();
  client.ask(ROUTE, { unsubscribe: ["80"] });
  assert.equal(client.inbox.length, 0, "nothing is said of what the client itself dropped");
  client.ask(ROUTE, { names: ["80"] });
  assert.deepEqual(names(client.accept(ROUTE)), ["80"]);
  assert.deepEqual(names(client.accept(VIRTUAL_HOST)), ["80/x"]);
  client.ask(ROUTE, { names: ["90"] });
  assert.deepEqual(names(client.accept(ROUTE)), ["90"], "subscribed again without having been dropped");
  assert.deepEqual(names(client.accept(VIRTUAL_HOST)), ["90/x"]);
});

Deno.test("incremental: an empty first answer for virtual hosts is given, so that the listener can finish warming", () => {
  const client = new StreamClient(source(), true);
  client.ask(ROUTE, { names: ["80"] });
  client.accept();
  client.ask(VIRTUAL_HOST);
  assert.equal(client.accept(VIRTUAL_HOST).resources.size, 0);
});

Deno.test("secrets are sent for the names asked for", () => {
  const client = new StreamClient(source().change(SECRET, [res(SECRET, "s"), res(SECRET, "t")]), true);
  client.ask(SECRET, { names: ["s"] });
  assert.deepEqual(names(client.accept()), ["s"]);
});

Deno.test("secrets come one a response, so that one that is refused does not take others with it", () => {
  for (const delta of [true, false]) {
    const client = new StreamClient(source().change(SECRET, [res(SECRET, "s"), res(SECRET, "t")]), delta);
    client.ask(SECRET, { names: ["s", "t"] });
    const first = names(client.accept(SECRET, ["s", "t"]));
    const both = [...first, ...names(client.accept(SECRET, ["s", "t"]))];
    assert.equal(first.length, 1);
    assert.deepEqual(both.sort(), ["s", "t"]);
  }
});
