/** The printed JSON Schemas agree with decoding: a foreign validator and the decoder judge alike. */
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { Findings } from "../../lib/finding/findings.ts";
import { type Kind, KINDS } from "../../lib/config/kinds/kinds.ts";
import { KIND_TABLE } from "../../lib/config/kinds/table.ts";
import { parseObject } from "../../lib/config/object.ts";
import { DecodeContext, isObject } from "../../lib/config/schema/field.ts";
import { parseYaml } from "../../lib/config/yaml/parse.ts";
import { splitDocuments } from "../../lib/config/yaml/split.ts";
import { inFile } from "./origins.ts";
import { runs } from "../properties.ts";

const REFERENCE = new URL("../../docs/reference/schemas/", import.meta.url);
const DATA = new URL("../testdata/config/", import.meta.url);

interface Printed {
  readonly whole: ValidateFunction;
  readonly spec: ValidateFunction;
}

const printed = new Map<Kind, Printed>(KINDS.map((kind) => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
  const schema = JSON.parse(Deno.readTextFileSync(new URL(`${kind}.json`, REFERENCE)));
  const whole = ajv.compile(schema);
  const spec = ajv.compile({ $ref: `${schema.$id}#/$defs/${kind}Spec` });
  return [kind, { whole, spec }];
}));

/** Decoding alone of a spec; rules across fields are another matter. */
function decodes(kind: Kind, spec: unknown): boolean {
  const report = new Findings();
  KIND_TABLE[kind].schema.decode(spec, new DecodeContext("spec", report));
  return !report.failed;
}

function validates(validate: ValidateFunction, value: unknown): boolean {
  return validate(value) as boolean;
}

interface Sample {
  readonly name: string;
  readonly spec: unknown;
}

/** Samples beyond the reach of the schema. */
const UNSAID = new Set(["more than the proxy can count"]);

function samplesOf(kind: Kind): Sample[] {
  const parsed = parseYaml(Deno.readTextFileSync(new URL(`kinds/${kind}.yaml`, DATA)));
  assert.ok("tree" in parsed);
  const cases = parsed.tree as { readonly case: string; readonly spec: unknown }[];
  return cases.map(({ case: name, spec }) => ({ name, spec }));
}

for (const kind of KINDS) {
  Deno.test(`${kind}: the schema judges every sample of a spec as decoding does`, () => {
    const { spec: validate } = printed.get(kind)!;
    const samples = samplesOf(kind).filter(({ name, spec }) => isObject(spec) && !UNSAID.has(name));
    const differ = samples.filter(({ spec }) => decodes(kind, spec) !== validates(validate, spec));
    assert.deepEqual(differ.map(({ name, spec }) => `${name}: decodes ${decodes(kind, spec)}`), []);
    assert.ok(samples.some(({ spec }) => decodes(kind, spec)));
  });
}

Deno.test("whole objects of the samples are valid, and refused under another kind, version or field", () => {
  const folder = new URL("samples/", DATA);
  let count = 0;
  for (const { name } of Deno.readDirSync(folder)) {
    const bytes = Deno.readFileSync(new URL(name, folder));
    for (const { start, end } of splitDocuments(bytes)) {
      const parsed = parseYaml(new TextDecoder().decode(bytes.subarray(start, end)));
      const tree = "tree" in parsed ? parsed.tree : undefined;
      const { object } = parseObject(tree, inFile(name), { defaultNamespace: "default" });
      if (object === undefined || !isObject(tree)) continue;
      const { whole } = printed.get(object.kind)!;
      assert.ok(validates(whole, tree), `${object.key}: ${JSON.stringify(whole.errors)}`);
      assert.ok(!validates(whole, { ...tree, apiVersion: "apps/v1" }));
      assert.ok(!validates(whole, { ...tree, kind: "Deployment" }));
      assert.ok(!validates(whole, { ...tree, specs: {} }));
      assert.ok(!validates(whole, { ...tree, metadata: {} }));
      count += 1;
    }
  }
  assert.ok(count > 10, `${count} objects`);
});

/** Replacements for a value. */
const VALUES = [null, true, 0, 1, -1, 1.5, 4294967296, "", "a", "1", "5s", "x1", [], [null], [""], {}, { a: "b" }, {
  exact: "",
}];

/** All places in a tree, as paths. */
function paths(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  const inside = Array.isArray(value)
    ? value.flatMap((part, index) => paths(part, [...path, index]))
    : isObject(value)
    ? Object.entries(value).flatMap(([key, part]) => paths(part, [...path, key]))
    : [];
  return path.length === 0 ? inside : [path, ...inside];
}

/** The tree with something else at a place: another value, none, or the same under another name. */
function changed(tree: unknown, path: readonly (string | number)[], change: (old: unknown) => unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return change(tree);
  if (Array.isArray(tree)) return tree.map((part, index) => (index === first ? changed(part, rest, change) : part));
  const next = changed((tree as Record<string, unknown>)[first], rest, change);
  const others = Object.entries(tree as object).filter(([key]) => key !== first);
  return Object.fromEntries(next === undefined ? others : [...others, [first, next]]);
}

function renamed(tree: unknown, path: readonly (string | number)[], name: (old: string) => string): unknown {
  const last = path.at(-1);
  if (typeof last !== "string") return tree;
  return changed(
    tree,
    path.slice(0, -1),
    (object) =>
      Object.fromEntries(Object.entries(object as object).map(([key, part]) => [key === last ? name(key) : key, part])),
  );
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

Deno.test("after any change of one place in a sample, schema and decoding still judge alike", () => {
  const samples = KINDS.flatMap((kind) =>
    samplesOf(kind).filter(({ spec }) => isObject(spec) && decodes(kind, spec)).map(({ spec }) => ({ kind, spec }))
  );
  const arbitrary = fc.record({
    sample: fc.nat(samples.length - 1),
    place: fc.nat(1_000_000),
    change: fc.oneof(
      fc.nat(VALUES.length - 1).map((at) => ({ value: VALUES[at] })),
      fc.constantFrom("remove" as const, "snake" as const, "misspell" as const),
    ),
  });
  fc.assert(
    fc.property(arbitrary, ({ sample, place, change }) => {
      const { kind, spec } = samples[sample]!;
      const all = paths(spec);
      const path = all[place % all.length];
      if (path === undefined) return;
      const next = change === "remove"
        ? changed(spec, path, () => undefined)
        : change === "snake"
        ? renamed(spec, path, snake)
        : change === "misspell"
        ? renamed(spec, path, (name) => `${name}q`)
        : changed(spec, path, () => change.value);
      if (next === undefined) return;
      const [mine, theirs] = [decodes(kind, next), validates(printed.get(kind)!.spec, next)];
      assert.equal(theirs, mine, `${kind} ${path.join(".")}: ${JSON.stringify(next)}`);
    }),
    { numRuns: runs(3000) },
  );
});

Deno.test("the schema lacks the rules that its module names, and no others", () => {
  const rule = (trafficPolicy: object) => ({ host: "a", trafficPolicy });
  const pool = (http: object) => rule({ connectionPool: { http } });
  for (
    const [spec, what] of [
      [pool({ maxRetries: "99999999999" }), "a number in quotes that is out of range"],
      [pool({ idleTimeout: "9999999999h" }), "a duration beyond 292 years"],
      [pool({ maxRetries: 1, max_retries: 1 }), "two spellings"],
    ] as const
  ) {
    assert.deepEqual([decodes("DestinationRule", spec), validates(printed.get("DestinationRule")!.spec, spec)], [
      false,
      true,
    ], what);
  }
});

Deno.test("every definition and every field has a description", () => {
  const silent: string[] = [];
  for (const kind of KINDS) {
    const { $defs } = JSON.parse(Deno.readTextFileSync(new URL(`${kind}.json`, REFERENCE))) as {
      readonly $defs: Record<string, { description?: string; properties: Record<string, Record<string, unknown>> }>;
    };
    for (const [name, { description, properties }] of Object.entries($defs)) {
      if (!description) silent.push(`${kind} ${name}`);
      for (const [field, schema] of Object.entries(properties)) {
        // Other spellings refer to the field.
        if (!schema["description"] && !("$ref" in schema)) silent.push(`${kind} ${name}.${field}`);
      }
    }
  }
  assert.deepEqual(silent, []);
});

/** Fields of a schema without a description, by path; conditions next to fields describe nothing. */
function undescribed(schema: unknown, path = ""): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => undescribed(one, path));
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, inside]) => {
    if (["allOf", "not", "if", "then"].includes(key)) return [];
    if (key !== "properties" || !isObject(inside)) return undescribed(inside, `${path}/${key}`);
    return Object.entries(inside).flatMap(([name, field]) => {
      const described = isObject(field) && ("description" in field || "$ref" in field);
      return [...described ? [] : [`${path}/${name}`], ...undescribed(field, `${path}/${name}`)];
    });
  });
}

Deno.test("every field has a description for editors: of kinds, of the mesh files, of types within types", () => {
  const files = [...Deno.readDirSync(REFERENCE)].map(({ name }) => name).sort();
  const found = files.flatMap((name) =>
    undescribed(JSON.parse(Deno.readTextFileSync(new URL(name, REFERENCE)))).map((path) => `${name} ${path}`)
  );
  assert.ok(files.length > 15);
  assert.deepEqual(found, []);
});
