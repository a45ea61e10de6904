import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";
import { watchArguments } from "../../scripts/dev.ts";
import { testGroups } from "../../scripts/test/groups.ts";
import { testCases } from "../../scripts/test/junit.ts";
import { reasonIgnored } from "../../scripts/test/reasons.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const tests = sourceFiles(root, ["tests"]).filter((file) => /_test\.ts$/.test(file));

Deno.test("a report's tests are counted without their steps, unless they were skipped; names as they were written", () => {
  const one = (name: string, body = "") =>
    `<testcase name="${name}" classname="./tests/a_test.ts" time="0">${body}</testcase>`;
  const xml = one("a &amp; &lt;b&gt;") + one("a &amp; &lt;b&gt; &gt; a step") + one("x &gt; y", "<skipped/>") +
    one("a &amp; &lt;b&gt; &gt; an ignored step", "<skipped/>") +
    one("bad", '<failure message="m">text</failure>') + one("bad &gt; step", "<failure/>");
  assert.deepEqual(testCases(xml), [
    { name: "a & <b>", file: "tests/a_test.ts", result: "passed" },
    { name: "x > y", file: "tests/a_test.ts", result: "skipped" },
    { name: "a & <b> > an ignored step", file: "tests/a_test.ts", result: "skipped" },
    { name: "bad", file: "tests/a_test.ts", result: "failed" },
  ]);
});

Deno.test("every test file is in one group", () => {
  const groups = testGroups(root, []);
  for (const file of tests) {
    const having = groups.filter(({ paths }) => paths.some((path) => file.startsWith(`${path}/`)));
    assert.equal(having.length, 1, `${file} is in ${having.length} groups`);
  }
  assert(groups.every(({ permissions }) => !permissions.includes("-A") && !permissions.includes("--allow-all")));
});

Deno.test("the inner loop watches the tests of one group, with types and the group's permissions", () => {
  const args = watchArguments(testGroups(root, ["tests/mesh"]), "two");
  assert.deepEqual(args.slice(0, 2), ["test", "--watch"]);
  assert.ok(args.includes("--filter=two") && args.at(-1) === "tests/mesh" && !args.includes("--no-check"));
  assert.ok(!args.some((one) => one === "-A" || one.startsWith("--allow-net")), "tests of the mesh have no network");
  assert.throws(
    () => watchArguments(testGroups(root, ["tests/mesh", "tests/xds"]), undefined),
    /got those of mesh, xds/,
  );
  assert.throws(() => watchArguments([], undefined), /got those of none/);
});

Deno.test("a test that may be ignored has a reason", () => {
  const mute = tests.filter((file) => {
    const text = Deno.readTextFileSync(`${root}/${file}`);
    if (!/^\s*ignore:/m.test(text) || /\(ignored: /.test(text)) return false;
    return reasonIgnored(root, { name: "", file }) === undefined;
  });
  assert.deepEqual(mute, [], 'end the name with "(ignored: why)", or name the component in scripts/test/reasons.ts');
});
