/** Ports with a database filter, by settings and by the proxy's build. */
import assert from "node:assert/strict";
import type { Protocol } from "../../../lib/registry/types.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { databaseFilters } from "../../../lib/translate/filters/network/databases.ts";
import { isUnderstood } from "../../../lib/translate/filters/understood.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { translateSettings } from "../../../lib/discovery/settings/settings.ts";
import { meshReader } from "../mesh_reader.ts";

const ALL: readonly Protocol[] = ["Mongo", "MySQL", "Redis"];
const filter = (name: string) => `envoy.filters.network.${name}_proxy`;

function names(protocol: Protocol, databases: readonly Protocol[], extensions?: readonly string[]) {
  const properties = extensions === undefined ? {} : { properties: { extensions: new Set(extensions) } };
  const read = meshReader({ settings: { databases }, ...properties });
  const plan = { statPrefix: "p", protocol, clusters: [{ name: "a", weight: 1 }, { name: "b", weight: 2 }] };
  const { before, instead } = databaseFilters(read, plan);
  assert.equal(isUnderstood(read, protocol), before.length > 0 || instead !== undefined);
  return [...before.map(({ name }) => name), instead?.name ?? "tcp"];
}

Deno.test("MongoDB and MySQL are understood in front of the TCP proxy, Redis in its place", () => {
  const mysql = filter("mysql");
  assert.deepEqual(names("Mongo", ALL), [filter("mongo"), "tcp"]);
  assert.deepEqual(names("Redis", ALL), [filter("redis")]);
  assert.deepEqual(names("MySQL", ALL, [mysql]), [mysql, "tcp"]);
  assert.deepEqual(names("TCP", ALL), ["tcp"]);
});

Deno.test("a filter that a setting turns off, or that the proxy's build lacks, is left out", () => {
  for (const protocol of ALL) assert.deepEqual(names(protocol, []), ["tcp"]);
  for (const protocol of ALL) assert.deepEqual(names(protocol, ALL, ["envoy.filters.network.tcp_proxy"]), ["tcp"]);
  assert.deepEqual(names("MySQL", ALL), ["tcp"], "stock Envoy lacks it, and a proxy that lists nothing may be one");
});

Deno.test("commands of Redis go to the first cluster of several, within 5 s", () => {
  const read = meshReader({ settings: { databases: ALL } });
  const plan = {
    statPrefix: "p",
    protocol: "Redis",
    clusters: [{ name: "a", weight: 1 }, { name: "b", weight: 2 }],
  } as const;
  const { instead } = databaseFilters(read, plan);
  assert.deepEqual(
    decode("envoy.extensions.filters.network.redis_proxy.v3.RedisProxy", instead!.typed_config!.value!),
    {
      stat_prefix: "p",
      latency_in_micros: true,
      settings: { op_timeout: { seconds: 5 } },
      prefix_routes: { catch_all_route: { cluster: "a" } },
    },
  );
});

Deno.test("PILOT_ENABLE_MONGO_FILTER is on, PILOT_ENABLE_MYSQL_FILTER and PILOT_ENABLE_REDIS_FILTER are for who asks", () => {
  const databases = (settings: Parameters<typeof defaultSettings<"pilot-discovery">>[1]) =>
    translateSettings(defaultSettings("pilot-discovery", settings), "cluster.local").databases;
  assert.deepEqual(databases({}), ["Mongo"]);
  const others = { PILOT_ENABLE_MYSQL_FILTER: true, PILOT_ENABLE_REDIS_FILTER: true };
  assert.deepEqual(databases({ PILOT_ENABLE_MONGO_FILTER: false, ...others }), ["MySQL", "Redis"]);
});
