import assert from "node:assert/strict";
import { isWanted, wantedTests as wantedIn } from "../../scripts/test/wanted.ts";

const wantedTests = (args: readonly string[]) => wantedIn(args, (path) => path.length === 1);

Deno.test("the test command takes paths, and a filter in either form and in any place", () => {
  const filter = "two rules";
  assert.deepEqual(wantedTests([]), { paths: [], filter: undefined });
  for (
    const args of [["a", "--filter", filter, "b"], ["--filter=two rules", "a", "b"], ["a", "b", "--filter", filter]]
  ) {
    assert.deepEqual(wantedTests(args), { paths: ["a", "b"], filter });
  }
  assert.equal(wantedTests(["--filter=/^a=b$/"]).filter, "/^a=b$/");
});

Deno.test("an option that there is not, and a filter without a text, are refused by name", () => {
  assert.throws(() => wantedTests(["--filtr", "x"]), {
    message: "option --filtr: expected --filter TEXT, or only paths",
  });
  for (const args of [["--filter"], ["--filter="]]) {
    assert.throws(() => wantedTests(args), {
      message: "option --filter: expected a text of the tests' names, got none",
    });
  }
});

Deno.test("paths that lead nowhere are refused, all of them at once", () => {
  assert.throws(() => wantedTests(["a", "tests/bb", "--filter", "x", "cc"]), {
    message: "no file or folder of this tree: tests/bb, cc",
  });
});

Deno.test("a filter is a text, or an expression between slashes", () => {
  const wanted = (filter: string | undefined) =>
    ["two rules", "one rule", "a/b"].filter((name) => isWanted(name, filter));
  assert.deepEqual(wanted(undefined), ["two rules", "one rule", "a/b"]);
  assert.deepEqual(wanted("rule"), ["two rules", "one rule"]);
  assert.deepEqual(wanted("/"), ["a/b"]);
  assert.deepEqual(wanted("/rules?$/"), ["two rules", "one rule"]);
  assert.deepEqual(wanted("/^one/"), ["one rule"]);
});
