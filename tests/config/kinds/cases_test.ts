/**
 * Runs the case tables of tests/testdata/config/kinds: one file per kind, each case a spec with exactly the reported
 * fields. The texts of all findings are a golden file; `UPDATE_GOLDENS=1` rewrites the golden.
 */
import assert from "node:assert/strict";
import { isClusterWideKind, isGatewayApiKind, type Kind, KINDS } from "../../../lib/config/kinds/kinds.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { isObject } from "../../../lib/config/schema/field.ts";
import { apiGroupOfKind, spellingsOfKind, versionsOfKind } from "../../../lib/config/spelling/spelling.ts";
import { parseYaml } from "../../../lib/config/yaml/parse.ts";
import { inFile } from "../origins.ts";

const FOLDER = new URL("../../testdata/config/kinds/", import.meta.url);
const update = Deno.env.get("UPDATE_GOLDENS") === "1";

interface Case {
  readonly case: string;
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly spec: unknown;
}

for (const kind of KINDS) {
  const parsed = parseYaml(Deno.readTextFileSync(new URL(`${kind}.yaml`, FOLDER)));
  assert.ok("tree" in parsed, JSON.stringify(parsed));
  const cases = parsed.tree as readonly Case[];
  const lines: string[] = [];

  for (const { case: name, errors = [], warnings = [], meta = {}, spec } of cases) {
    const expected = [...errors.map((field) => `error ${field}`), ...warnings.map((field) => `warning ${field}`)];
    const verdict = errors.length > 0 ? "is refused" : warnings.length > 0 ? "is taken with warnings" : "is taken";
    const tree = {
      ...headOf(kind, "mesh.io", versionsOfKind(kind)[0]!),
      metadata: { name: "case", ...(isClusterWideKind(kind) ? {} : { namespace: "here" }), ...meta },
      spec,
    };
    const result = parseObject(tree, inFile("case.yaml"), { defaultNamespace: "default" });
    lines.push(`# ${name}`, ...result.findings.map((found) => `${found.severity}: ${found.message}`), "");

    Deno.test({
      name: `${kind}: "${name}" ${verdict}`,
      permissions: "none",
      fn() {
        const got = new Set(result.findings.map((found) => `${found.severity} ${found.place.field}`));
        assert.deepEqual([...got].sort(), expected.sort());
        assert.equal(result.object === undefined, errors.length > 0);
        for (const found of result.findings) {
          assert.ok(found.expected !== "" && found.message.includes(found.place.field));
        }
      },
    });
  }

  const golden = new URL(`${kind}.findings.txt`, FOLDER);
  const text = lines.join("\n");
  if (update) Deno.writeTextFileSync(golden, text);
  const kept = Deno.readTextFileSync(golden);
  Deno.test({
    name: `${kind}: the texts of all findings are as in the golden file`,
    permissions: "none",
    fn: () => assert.equal(text, kept),
  });
  Deno.test({
    name: `${kind}: accepted specs survive a second pass unchanged`,
    permissions: "none",
    fn() {
      const durations = isGatewayApiKind(kind) ? GATEWAY_API_DURATIONS : DURATION_FIELDS;
      for (const { spec, meta = {}, errors = [] } of cases) {
        if (errors.length > 0) continue;
        const version = versionsOfKind(kind).includes("v1beta1") ? "v1beta1" : versionsOfKind(kind)[0]!;
        const head = { ...headOf(kind, "istio.io", version), metadata: { name: "case", ...meta } };
        const origin = inFile("case.yaml");
        const first = parseObject({ ...head, spec }, origin, { defaultNamespace: "here" }).object;
        assert.ok(first !== undefined && isObject(first.spec));
        const respelled = { ...head, spec: withDurations(first.spec, durations) };
        const second = parseObject(respelled, origin, { defaultNamespace: "here" }).object;
        assert.deepEqual(second?.spec, first.spec);
        assert.equal(second?.hash, first.hash);
      }
    },
  });
}

function headOf(kind: Kind, domain: "mesh.io" | "istio.io", version: string) {
  return { apiVersion: `${apiGroupOfKind(kind, domain)}/${version}`, kind: spellingsOfKind(kind)[0]! };
}

const DURATION_FIELDS =
  /^(?:timeout|perTryTimeout|backoff|fixedDelay|maxAge|ttl|connectTimeout|maxConnectionDuration|idleTimeout|time|interval|baseEjectionTime|duration|warmupDurationSecs|reportingInterval)$/;

const GATEWAY_API_DURATIONS = /^(?:request|backendRequest|backoff|absoluteTimeout|interval)$/;

/** Typed specs hold durations in ms; users write units. */
function withDurations(value: unknown, fields: RegExp): unknown {
  if (Array.isArray(value)) return value.map((one) => withDurations(one, fields));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      typeof part === "number" && fields.test(key)
        ? part % 1000 === 0 ? `${part / 1000}s` : `${part}ms`
        : withDurations(part, fields),
    ]),
  );
}
