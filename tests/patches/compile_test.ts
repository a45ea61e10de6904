/** The applicable parts of a ProxyFilter, and the reasons for the others. */
import assert from "node:assert/strict";
import { FINDING_NAMES, FINDING_ROWS } from "../../lib/finding/codes.ts";
import { compileFilter } from "../../lib/patches/compile.ts";
import { patchesFor } from "../../lib/patches/for_proxy.ts";
import { compiledOf, filterOf, patchesOf, type WrittenPatch } from "./patches.ts";

const cluster = (value: object): WrittenPatch => ({ applyTo: "CLUSTER", patch: { operation: "MERGE", value } });
const lua = (more: object, type = "envoy.extensions.filters.http.lua.v3.Lua"): WrittenPatch => ({
  applyTo: "HTTP_FILTER",
  patch: {
    operation: "INSERT_FIRST",
    value: { name: "lua", typed_config: { "@type": `type.googleapis.com/${type}`, ...more } },
  },
});

const CASES: readonly (readonly [string, WrittenPatch, readonly [number, RegExp?]])[] = [
  ["names of fields in snake_case", cluster({ connect_timeout: "1s" }), [1]],
  ["names of fields in camelCase", cluster({ connectTimeout: "1s" }), [1]],
  ["numbers of enums", cluster({ lb_policy: 2 }), [1]],
  [
    "a field that Envoy lacks in a part that refuses nothing",
    cluster({ circuit_breakers: { tresholds: [] } }),
    [1, /left out.*CircuitBreakers.*tresholds/],
  ],
  ["a field that Envoy lacks", cluster({ connect_timeot: "1s" }), [
    1,
    /refused.*Cluster.*connect_timeot.*admit nothing/,
  ]],
  ["a name that an enum lacks", cluster({ lb_policy: "BEST" }), [1, /left out.*lb_policy.*"BEST"/]],
  ["a duration of another form", cluster({ connect_timeout: "1 minute" }), [0, /refused.*Duration.*1 minute/]],
  ["a value of another kind", cluster({ circuit_breakers: 3 }), [
    0,
    /refused.*circuit_breakers|refused.*CircuitBreakers/,
  ]],
  ["a filter that the programs do not build", lua({ inline_code: "x" }), [1]],
  ["a field that such a filter lacks", lua({ inline: "x" }), [1, /refused.*Lua.*inline/]],
  ["a message that Envoy lacks", lua({}, "envoy.config.filter.http.lua.v2.Lua"), [1, /refused.*lua\.v2\.Lua/]],
  [
    "two fields of which one may be",
    { applyTo: "HTTP_ROUTE", patch: { operation: "MERGE", value: { route: {}, redirect: {} } } },
    [1, /refused/],
  ],
  ["a cluster without a name", { applyTo: "CLUSTER", patch: { operation: "ADD", value: {} } }, [0, /refused.*name/]],
  ["a merge that renames", cluster({ name: "x" }), [1, /left out.*name.*"x"/]],
  [
    "a merge with the name that it matches",
    { ...cluster({ name: "x" }), match: { cluster: { name: "x" } } },
    [1],
  ],
  ["the bootstrap", { applyTo: "BOOTSTRAP", patch: { operation: "MERGE", value: { node: { id: "x" } } } }, [0]],
  [
    "the bootstrap, with a field that it lacks",
    { applyTo: "BOOTSTRAP", patch: { operation: "MERGE", value: { nodes: 1 } } },
    [0, /left out.*Bootstrap.*nodes/],
  ],
  ["a removal with a value that says nothing", {
    applyTo: "VIRTUAL_HOST",
    patch: { operation: "REMOVE", value: { nope: 1 } },
  }, [1]],
  ["a removal, which needs no value", { applyTo: "CLUSTER", patch: { operation: "REMOVE" } }, [1]],
];

Deno.test("a value is checked against the messages of Envoy, and unknown fields are reported", () => {
  for (const [name, patch, [count, problem]] of CASES) {
    const { patches, problems } = compiledOf(patch);
    assert.equal(patches.length, count, name);
    assert.equal(problems.length, problem === undefined ? 0 : 1, `${name}: ${JSON.stringify(problems)}`);
    if (problem) assert.match(`${problems[0]!.what}: ${problems[0]!.text}`, problem, name);
  }
});

Deno.test("a struct with the name of its type is read as that type, and stays a struct where Envoy can read it", () => {
  const LIMIT = "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";
  const struct = (value: object, type = LIMIT) => {
    const typed_config = {
      "@type": "type.googleapis.com/udpa.type.v1.TypedStruct",
      type_url: `type.googleapis.com/${type}`,
      value,
    };
    const patch = { operation: "INSERT_FIRST", value: { name: "l", typed_config } };
    const { patches, problems } = compiledOf({ applyTo: "HTTP_FILTER", patch });
    const packed = (patches[0]?.value as { typed_config?: { type_url: string } } | undefined)?.typed_config?.type_url;
    return { packed: packed?.split(".").at(-1), problems: problems.map(({ what, text }) => `${what} ${text}`) };
  };
  const bucket = (fill_interval: string) => ({ stat_prefix: "x", token_bucket: { max_tokens: 1, fill_interval } });
  assert.deepEqual(struct(bucket("60s")), { packed: "TypedStruct", problems: [] });
  assert.deepEqual(struct(bucket("1m")), { packed: "LocalRateLimit", problems: [] }, "Envoy knows seconds alone");
  assert.deepEqual(struct({ any: 1 }, "of.another.Build"), { packed: "TypedStruct", problems: [] });
  const unknown = struct({ ...bucket("60s"), nope: 1 });
  assert.equal(unknown.packed, "Status", "a part that is rejected");
  assert.match(unknown.problems.join(), /^refused .*nope/);
  const wrong = struct({ stat_prefix: { a: 1 } });
  assert.equal(wrong.packed, "Status");
  assert.match(wrong.problems.join(), /^refused .*stat_prefix/);
});

Deno.test("one patch that cannot be read leaves the others in force, with their places", () => {
  const { patches, problems } = compiledOf(
    cluster({ connect_timeout: "soon" }),
    cluster({ connect_timeout: "1s" }),
    cluster({ circuit_breakers: { tresholds: [] } }),
  );
  assert.deepEqual(patches.map(({ index }) => index), [1, 2]);
  assert.deepEqual(problems.map(({ index, what }) => [index, what]), [[0, "refused"], [2, "left out"]]);
});

Deno.test("a value with a field that the encoders of builders lack, at any depth, needs the encoder of the whole API", () => {
  const route = (value: object): WrittenPatch => ({ applyTo: "HTTP_ROUTE", patch: { operation: "MERGE", value } });
  const needs = ([patch]: ReturnType<typeof patchesOf>) => patch?.needsApi;
  const cases: readonly (readonly [WrittenPatch, boolean])[] = [
    [cluster({ connect_timeout: "1s", per_connection_buffer_limit_bytes: 0 }), false],
    [cluster({ stats_matcher: { reject_all: true } }), true],
    [cluster({ stats_matcher: {} }), true],
    [cluster({ load_assignment: { endpoints: [{ lb_endpoints: [{ load_balancing_weight: 3 }] }] } }), false],
    [route({ match: { prefix: "/", headers: [{ name: "a", present_match: true }] } }), false],
    [route({ match: { cookies: [{ name: "a", string_match: { exact: "b" } }] } }), true],
    [lua({ inline_code: "x" }), false],
    [{ applyTo: "CLUSTER", patch: { operation: "REMOVE" } }, false],
  ];
  for (const [patch, expected] of cases) assert.equal(needs(patchesOf(patch)), expected, JSON.stringify(patch));
});

Deno.test("inserting what has no order adds it", () => {
  const operations = ["CLUSTER", "LISTENER", "HTTP_FILTER"].map((applyTo) =>
    compiledOf({ applyTo, patch: { operation: "INSERT_FIRST", value: { name: "x" } } }).patches[0]?.operation
  );
  assert.deepEqual(operations, ["ADD", "ADD", "INSERT_FIRST"]);
});

Deno.test("a ProxyFilter is read once", () => {
  const filter = filterOf(cluster({ connect_timeout: "1s" }));
  assert.equal(compileFilter(filter), compileFilter(filter));
});

Deno.test("a patch may match a version, found anywhere in the proxy's version, and metadata, with each key equal", () => {
  const asks = (proxy: object) => filterOf({ ...cluster({}), match: { proxy } });
  const is = (version: string, metadata: Readonly<Record<string, unknown>>) => ({
    version,
    metadata: (key: string) => metadata[key],
  });
  const cases: readonly (readonly [object, ReturnType<typeof is>, number])[] = [
    [{ proxyVersion: "27" }, is("1.27.3", {}), 1],
    [{ proxyVersion: "^27" }, is("1.27.3", {}), 0],
    [{ proxyVersion: "^1\\.27.*" }, is("1.27.3", {}), 1],
    [{ proxyVersion: ".*" }, is("", {}), 0],
    [{ metadata: { A: "x" } }, is("", { A: "x", B: "y" }), 1],
    [{ metadata: { A: "x", C: "z" } }, is("", { A: "x", B: "y" }), 0],
    [{ metadata: { A: "x" } }, is("", { A: "xx" }), 0],
    [{ metadata: { A: "1" } }, is("", { A: 1 }), 0],
  ];
  for (const [asked, proxy, count] of cases) {
    assert.equal(patchesFor([asks(asked)], proxy).length, count, JSON.stringify([asked, proxy.version]));
  }
});

Deno.test("durations may be written as in other kinds, also in packed messages, lists and maps", () => {
  const of = (value: object) => patchesOf({ applyTo: "CLUSTER", patch: { operation: "MERGE", value } })[0]!.value;
  assert.deepEqual(of({ connect_timeout: "500ms" }), of({ connect_timeout: "0.5s" }));
  assert.deepEqual(of({ connectTimeout: "1m30s" }), of({ connect_timeout: "90s" }));
  const check = (timeout: string) => ({
    health_checks: [{
      ...{ timeout, interval: "1s", healthy_threshold: 1, unhealthy_threshold: 1 },
      tcp_health_check: {},
    }],
  });
  assert.deepEqual(of(check("250ms")), of(check("0.250s")));
  const options = (idle_timeout: string) => ({
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        common_http_protocol_options: { idle_timeout },
      },
    },
  });
  assert.deepEqual(of(options("1500ms")), of(options("1.5s")));
  const { problems } = compiledOf({
    applyTo: "CLUSTER",
    patch: { operation: "MERGE", value: { connect_timeout: "soon" } },
  });
  assert.equal(problems[0]?.what, "refused");
});

Deno.test("only findings that name a field tell to change the field that the message names", () => {
  const names = FINDING_NAMES.filter((name) => {
    const { title, meaning, effect, fix } = FINDING_ROWS[name];
    return /field that the message names/.test([title, meaning, effect, fix].join(" "));
  });
  assert.deepEqual(names, ["patch-refused"]);
  assert.equal(FINDING_ROWS["not-as-written"].code, "MSH1021");
});
