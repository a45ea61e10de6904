import assert from "node:assert/strict";
import { any, encode } from "../../lib/pb/codec.ts";
import { decode, readable } from "../../lib/pb/reflect.ts";
import { duration, fromStruct, struct, wrap } from "../../lib/pb/wellknown.ts";
import type { envoy } from "../../proto/gen/types.ts";

Deno.test("a cluster survives encode and decode with its snake_case names", () => {
  const cluster: envoy.config.cluster.v3.Cluster = {
    name: "outbound|80||a.b.svc.cluster.local",
    connect_timeout: duration(1500),
    per_connection_buffer_limit_bytes: wrap(0),
    type: 3,
  };
  const back = decode<envoy.config.cluster.v3.Cluster>(
    "envoy.config.cluster.v3.Cluster",
    encode("envoy.config.cluster.v3.Cluster", cluster),
  );
  assert.deepEqual(back, {
    name: "outbound|80||a.b.svc.cluster.local",
    connect_timeout: { seconds: 1, nanos: 500_000_000 },
    per_connection_buffer_limit_bytes: {},
    type: 3,
  });
});

Deno.test("messages are encoded one after the other into separate bytes, also after a message that cannot be encoded", () => {
  const name = "envoy.config.cluster.v3.Cluster";
  const cluster = (letter: string) => ({ name: letter.repeat(5000), connect_timeout: duration(1500) });
  const first = encode(name, cluster("a"));
  const broken = {
    name: "x".repeat(9000),
    get connect_timeout(): never {
      throw new TypeError("broken");
    },
  };
  assert.throws(() => encode(name, broken), /broken/);
  const second = encode(name, cluster("b"));
  for (const [bytes, letter] of [[first, "a"], [second, "b"]] as const) {
    assert.equal(decode<{ name: string }>(name, bytes).name, letter.repeat(5000));
  }
  assert.deepEqual(encode(name, cluster("a")), first);
});

Deno.test("readable opens Any and names enums", () => {
  const filter = {
    name: "envoy.filters.http.router",
    typed_config: any("envoy.extensions.filters.http.router.v3.Router"),
  };
  const name = "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter";
  assert.deepEqual(readable(name, encode(name, filter)), {
    name: "envoy.filters.http.router",
    typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
  });
});

Deno.test("a struct survives the way there and back", () => {
  const data = { a: "x", b: 1, c: true, d: null, e: [1, { f: "g" }] };
  assert.deepEqual(fromStruct(struct(data)), data);
});
