import assert from "node:assert/strict";
import { propertyValues, withPropertyValues } from "../../scripts/test/property_values.ts";

const root = new URL("../..", import.meta.url).pathname;

const valuesOf = (variables: Readonly<Record<string, string>>) => propertyValues((name) => variables[name], 42);

/** The settings of properties in a process of a group. */
async function settings(permissions: readonly string[], variables: Readonly<Record<string, string>>): Promise<unknown> {
  const values = valuesOf(variables);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", ...values.options, ...withPropertyValues(permissions, values), "-"],
    ...{ cwd: root, env: values.variables, stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(
    'import fc from "fast-check"; console.log(JSON.stringify(fc.readConfigureGlobal()));',
  ));
  await writer.close();
  const { stdout, stderr } = await child.output();
  const text = new TextDecoder().decode(stdout);
  assert.notEqual(text, "", new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

for (const permissions of [[], ["--allow-env"], ["--allow-read"]]) {
  Deno.test(`a run that looks for faults gives properties new and longer values in a group with ${permissions[0] ?? "nothing"}`, async () => {
    const longer = { defaultSizeToMaxWhenMaxSpecified: true };
    assert.deepEqual(await settings(permissions, { MESH_PROPERTY_RUNS: "700" }), { seed: 42, numRuns: 700, ...longer });
    const again = { MESH_PROPERTY_RUNS: "700", MESH_PROPERTY_SEED: "0" };
    assert.deepEqual(await settings(permissions, again), { seed: 0, numRuns: 700, ...longer });
    assert.deepEqual(await settings(permissions, {}), { seed: 1 });
  });
}

Deno.test("a run that looks for faults may read two variables, and other runs may read no more than before", () => {
  const looking = valuesOf({ MESH_PROPERTY_RUNS: "700" });
  assert.equal(looking.seed, 42);
  assert.deepEqual(withPropertyValues([], looking), ["--allow-env=MESH_PROPERTY_RUNS,MESH_PROPERTY_SEED"]);
  assert.deepEqual(withPropertyValues(["--allow-env"], looking), ["--allow-env"]);
  assert.equal(valuesOf({}).seed, undefined);
  assert.deepEqual(withPropertyValues(["--allow-read"], valuesOf({})), ["--allow-read"]);
});

Deno.test("a number of runs that is none, and a seed without a number of runs, are refused", () => {
  for (const text of ["", "0", "-1", "1e3", "many"]) {
    assert.throws(() => valuesOf({ MESH_PROPERTY_RUNS: text }), {
      message: `MESH_PROPERTY_RUNS: expected a number from 1 to 999999999, got ${JSON.stringify(text)}`,
    });
  }
  assert.throws(() => valuesOf({ MESH_PROPERTY_SEED: "3" }), {
    message: "MESH_PROPERTY_SEED: expected MESH_PROPERTY_RUNS beside it, got none",
  });
});
