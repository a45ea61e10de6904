import assert from "node:assert/strict";
import { Findings } from "../../../lib/finding/findings.ts";
import { labels, list, map, struct } from "../../../lib/config/schema/containers.ts";
import { DecodeContext, type Field, keepZero, required, withDefault } from "../../../lib/config/schema/field.ts";
import { message } from "../../../lib/config/schema/message.ts";
import {
  bool,
  bytes,
  double,
  duration,
  enumOf,
  int32,
  string,
  uint32,
  uint64,
} from "../../../lib/config/schema/scalars.ts";

function decode<T>(field: Field<T>, value: unknown, unknown: "error" | "warning" = "error") {
  const report = new Findings();
  return { value: field.decode(value, new DecodeContext("spec", report, unknown)), findings: report.list };
}

const example = message({
  retryOn: string(),
  perTryTimeout: duration(),
  consecutive5xxErrors: uint32(),
  enableMeshTags: keepZero(bool()),
  mode: withDefault(enumOf("OFF", "MESH_MUTUAL"), "OFF"),
  tags: list(string()),
  extra: struct(),
});

Deno.test({
  name: "snake case, camel case and Istio's names of a field mean the same field",
  permissions: "none",
  fn() {
    const written = {
      retry_on: "5xx",
      per_try_timeout: "2s",
      consecutive_5xx_errors: "7",
      enableIstioTags: false,
      mode: "ISTIO_MUTUAL",
    };
    const { value, findings } = decode(example, written);
    assert.deepEqual(findings, []);
    assert.deepEqual(value, {
      retryOn: "5xx",
      perTryTimeout: 2000,
      consecutive5xxErrors: 7,
      enableMeshTags: false,
      mode: "MESH_MUTUAL",
    });
  },
});

Deno.test({
  name: "a field in both spellings is refused",
  permissions: "none",
  fn() {
    const { findings } = decode(example, { retryOn: "a", retry_on: "b" });
    assert.deepEqual(findings.map((one) => one.place.field), ["spec.retry_on"]);
  },
});

Deno.test({
  name: "an unknown field names the nearest known one, as error or warning",
  permissions: "none",
  fn() {
    const [found] = decode(example, { retriesOn: "x" }).findings;
    assert.equal(found?.place.field, "spec.retriesOn");
    assert.match(found?.expected ?? "", /did you mean retryOn\?/);
    assert.equal(decode(example, { retriesOn: "x" }, "warning").findings[0]?.severity, "warning");
    const [far] = decode(example, { zzzzzzzz: 1 }).findings;
    assert.match(far?.expected ?? "", /a known field: retryOn, perTryTimeout/);
  },
});

Deno.test({
  name: "null and zero values count as not written, unless zero is kept",
  permissions: "none",
  fn() {
    const zero = {
      retryOn: "",
      perTryTimeout: "0s",
      consecutive5xxErrors: 0,
      enableMeshTags: false,
      tags: [],
      extra: null,
    };
    assert.deepEqual(decode(example, zero).value, { perTryTimeout: 0, enableMeshTags: false, mode: "OFF" });
  },
});

Deno.test({
  name: "fields come out in the order of the schema and map keys sorted, so equal objects have equal texts",
  permissions: "none",
  fn() {
    const field = message({ a: int32(), b: map(int32()) });
    const one = decode(field, { b: { y: 1, x: 2 }, a: 1 }).value;
    const two = decode(field, { a: "1", b: { x: 2.0, y: 1 } }).value;
    assert.equal(JSON.stringify(one), JSON.stringify(two));
    assert.equal(JSON.stringify(one), '{"a":1,"b":{"x":2,"y":1}}');
  },
});

Deno.test({
  name: "all mistakes are reported at once, each with path and value, and the rest still decodes",
  permissions: "none",
  fn() {
    const { value, findings } = decode(
      message({ list: list(message({ n: required(uint32(), "a number of things"), s: string() })), flag: bool() }),
      { list: [{ n: "x" }, { s: 1 }, null, 5], flag: "true" },
    );
    assert.deepEqual(findings.map((one) => [one.place.field, one.value]), [
      ["spec.list[0].n", '"x"'],
      ["spec.list[1].n", ""],
      ["spec.list[1].s", "1"],
      ["spec.list[2]", "null"],
      ["spec.list[3]", "5"],
      ["spec.flag", '"true"'],
    ]);
    assert.deepEqual(value, { list: [{ n: 0 }, { n: 0 }, { n: 0 }, { n: 0 }] });
  },
});

const SCALARS: readonly (readonly [string, Field<unknown>, unknown, unknown])[] = [
  ["an integer as text", int32(), "-5", -5],
  ["an integer as a float without fraction", int32(), 5.0, 5],
  ["a fraction", int32(), 5.5, undefined],
  ["beyond 32 bits", int32(), 2 ** 31, undefined],
  ["negative where none can be", uint32(), -1, undefined],
  ["a large integer", uint64(), "9007199254740991", 9007199254740991],
  ["an integer that a number cannot hold", uint64(), "9007199254740993", undefined],
  ["a number as text", double(), "1.5e2", 150],
  ["not a number", double(), "NaN", undefined],
  ["text for a number", double(), "", undefined],
  ["a boolean as text", bool(), "true", undefined],
  ["a number for text", string(), 1, undefined],
  ["an enumeration by number", enumOf("A", "B"), 1, "B"],
  ["an enumeration by an unknown number", enumOf("A", "B"), 2, undefined],
  ["an enumeration in other case", enumOf("A", "B"), "a", undefined],
  ["a name of an object's prototype as enumeration", enumOf("A", "B"), "constructor", undefined],
  ["base64", bytes(), "YQ==", "YQ=="],
  ["not base64", bytes(), "é", undefined],
  ["an object for a list", list(string()), {}, undefined],
  ["a list for a map", map(string()), [], undefined],
  ["a list for a free object", struct(), [], undefined],
];

for (const [name, field, written, expected] of SCALARS) {
  Deno.test({
    name: `${name} ${expected === undefined ? "is refused" : "is taken"}`,
    permissions: "none",
    fn() {
      const { value, findings } = decode(field, written);
      assert.deepEqual(value, expected);
      assert.equal(findings.length, expected === undefined ? 1 : 0);
    },
  });
}

Deno.test({
  name: "labels get our spelling; names of an object's prototype are plain keys, and only __proto__ is refused",
  permissions: "none",
  fn() {
    const written = JSON.parse(
      '{"istio.io/rev":"a","security.istio.io/tlsMode":"istio","constructor":"b","x.example.istio.io.org/y":"c"}',
    );
    const { value } = decode(labels(), written);
    assert.deepEqual(Object.entries(value ?? {}).sort(), [
      ["constructor", "b"],
      ["mesh.io/rev", "a"],
      ["security.mesh.io/tlsMode", "mesh"],
      ["x.example.istio.io.org/y", "c"],
    ]);
    const hostile = decode(labels(), JSON.parse('{"__proto__":"x"}'));
    assert.equal(hostile.findings.length, 1);
    assert.equal(Object.getPrototypeOf(hostile.value), Object.prototype);
  },
});

Deno.test({
  name: "of a thousand mistakes a hundred are reported, and a remark",
  permissions: "none",
  fn() {
    const { findings } = decode(list(string()), new Array(1000).fill(1));
    assert.equal(findings.length, 101);
    assert.match(findings.at(-1)?.message ?? "", /more than 100 errors/);
  },
});
