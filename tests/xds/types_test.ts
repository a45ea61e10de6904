import assert from "node:assert/strict";
import { InternedNames } from "../../lib/resource/names.ts";
import { encode } from "../../lib/pb/codec.ts";
import { readRequest } from "../../lib/xds/ads/request.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, typeRules } from "../../lib/xds/protocol/types.ts";
import { calls } from "./support/counting.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { StreamClient } from "./support/stream_client.ts";

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: of the types that this server does not know a stream keeps 16, and goes on without the others`, () => {
    const source = new MemorySource().serve(CLUSTER, LISTENER);
    const client = new StreamClient(source, delta);
    const sorts = calls(Array.prototype, ["sort", "toSorted"]);
    for (let i = 0; i < 1000; i++) client.ask(`type.googleapis.com/t.${i}`, { names: ["a"] });
    assert.ok(sorts.stop() < 10, `${sorts.stop()} sorts`);
    assert.equal(client.stream.watches.size, 16);
    assert.equal(client.ignored.length, 1000 - 16);
    client.ask(LISTENER);
    client.ask(CLUSTER);
    assert.deepEqual(client.inbox.map((response) => response.typeUrl), [LISTENER, CLUSTER], "known types still count");
  });

  Deno.test(`${variant}: types are served by rank, in any order of requests`, () => {
    const source = new MemorySource().serve(CLUSTER, ENDPOINTS, LISTENER, ROUTE, "x.y/Last");
    const client = new StreamClient(source, delta);
    for (const type of ["x.y/Last", ROUTE, CLUSTER, LISTENER, ENDPOINTS]) client.ask(type, { names: ["*"] });
    while (client.inbox.length > 0) client.accept(undefined, ["*"]);
    for (const type of [ROUTE, ENDPOINTS, "x.y/Last", LISTENER, CLUSTER]) {
      source.change(type, [textResource(type, "*", "*=1")]);
    }
    client.stream.reconcile();
    const order = [];
    while (client.inbox.length > 0) order.push(client.accept(undefined, ["*"]).typeUrl);
    assert.deepEqual(order, [CLUSTER, ENDPOINTS, LISTENER, ROUTE, "x.y/Last"]);
    client.stream.close();
  });
}

Deno.test("an unknown type is `other` in metrics, under any name", () => {
  assert.equal(typeRules("type.googleapis.com/anything.At.All").short, "other");
  assert.equal(typeRules(CLUSTER).short, "cds");
});

Deno.test("a type URL longer than 256 bytes is refused with the length", () => {
  const bytes = encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", { type_url: "t".repeat(257) });
  assert.throws(
    () => readRequest(bytes, true, new InternedNames()),
    { code: 3, message: "type_url: expected at most 256 bytes, got 257" },
  );
});
