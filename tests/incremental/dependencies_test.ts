import assert from "node:assert/strict";
import { Dependencies } from "../../lib/incremental/dependencies.ts";
import { InvalidatedKeys } from "../../lib/incremental/keys.ts";

function keys(...pairs: readonly (readonly [kind: string, name: string])[]): InvalidatedKeys {
  const changed = new InvalidatedKeys();
  for (const [kind, name] of pairs) changed.add(kind, name);
  return changed;
}

Deno.test("a change names each result that depends on it once, and forgets it until it is set again", () => {
  const results = new Dependencies();
  results.set("a", ["host", "x", "host", "y"]);
  results.set("b", ["host", "x", "rule", "x"]);
  results.set("c", ["rule", "y"]);
  results.set("d", []);
  assert.deepEqual([...results.invalidate(keys(["host", "x"], ["host", "y"], ["rule", "x"]))], ["a", "b"]);
  assert.deepEqual([...results.invalidate(keys(["host", "x"], ["host", "y"], ["rule", "x"]))], []);
  results.set("a", ["host", "y"]);
  assert.deepEqual([...results.invalidate(keys(["host", "x"]))], []);
  assert.deepEqual([...results.invalidate(keys(["host", "y"], ["rule", "y"]))], ["a", "c"]);
});

Deno.test("a result that is set again or deleted depends on nothing that it did before", () => {
  const results = new Dependencies();
  results.set("a", ["host", "x"]);
  results.set("a", ["host", "y"]);
  results.set("b", ["host", "x"]);
  results.delete("b");
  assert.deepEqual([...results.invalidate(keys(["host", "x"]))], []);
  const all = new InvalidatedKeys();
  all.addPattern("host", () => true);
  assert.deepEqual([...results.invalidate(all)], ["a"]);
});

Deno.test("the list of things is copied: to change it afterwards changes nothing", () => {
  const results = new Dependencies();
  const things = ["host", "x"];
  results.set("a", things);
  things.push("host", "y");
  assert.deepEqual([...results.invalidate(keys(["host", "y"]))], []);
  assert.deepEqual([...results.invalidate(keys(["host", "x"]))], ["a"]);
});

Deno.test("a key may have many dependents: each dependent is named once, and deleted dependents are not named", () => {
  for (const count of [2, 7, 8, 9, 40]) {
    const results = new Dependencies();
    const names = Array.from({ length: count }, (_, i) => `r${i}`);
    for (const name of names) results.set(name, ["host", "x", "host", "x", "host", "y"]);
    for (const name of names.slice(1)) results.set(name, ["host", "x"]);
    results.delete("r1");
    const all = new InvalidatedKeys();
    all.addPattern("host", () => true);
    assert.deepEqual([...results.invalidate(keys(["host", "y"]))], ["r0"]);
    assert.deepEqual([...results.invalidate(all)], names.slice(2));
    assert.deepEqual([...results.invalidate(all)], []);
  }
});
