import assert from "node:assert/strict";
import fc from "fast-check";

Deno.test("the values of properties are the same in each run, unless a run asks for more", () => {
  const seed = Deno.env.has("MESH_PROPERTY_RUNS") ? undefined : 1;
  assert.equal(fc.readConfigureGlobal()?.seed, seed);
});
