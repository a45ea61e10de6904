import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";
import { watchArguments } from "../../scripts/dev.ts";
import { type TestGroup, testGroups } from "../../scripts/test/groups.ts";
import { isolatesOf, lastTests, testFiles } from "../../scripts/test/isolates.ts";
import { slowest, testCases } from "../../scripts/test/junit.ts";
import { GroupQueue } from "../../scripts/test/queue.ts";
import { reasonIgnored } from "../../scripts/test/reasons.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const tests = sourceFiles(root, ["tests"]).filter((file) => /_test\.ts$/.test(file));

Deno.test("a report's tests are counted without their steps, unless they were skipped; names as they were written", () => {
  const one = (name: string, body = "") =>
    `<testcase name="${name}" classname="./tests/a_test.ts" time="1.5">${body}</testcase>`;
  const xml = one("a &amp; &lt;b&gt;") + one("a &amp; &lt;b&gt; &gt; a step") + one("x &gt; y", "<skipped/>") +
    one("a &amp; &lt;b&gt; &gt; an ignored step", "<skipped/>") +
    one("bad", '<failure message="m">text</failure>') + one("bad &gt; step", "<failure/>");
  assert.deepEqual(testCases(xml), [
    { name: "a & <b>", file: "tests/a_test.ts", result: "passed", seconds: 1.5 },
    { name: "x > y", file: "tests/a_test.ts", result: "skipped", seconds: 1.5 },
    { name: "a & <b> > an ignored step", file: "tests/a_test.ts", result: "skipped", seconds: 1.5 },
    { name: "bad", file: "tests/a_test.ts", result: "failed", seconds: 1.5 },
  ]);
});

Deno.test("a run names the tests that took longest, the longest first", () => {
  const cases = [3, 40, 21, 30].map((seconds) => ({
    name: `n${seconds}`,
    file: "f",
    result: "passed" as const,
    seconds,
  }));
  assert.deepEqual(slowest(cases, { atLeast: 20, most: 2 }), ["40 s  f: n40", "30 s  f: n30"]);
});

Deno.test("every test file is in one group", () => {
  const groups = testGroups(root, []);
  for (const file of tests) {
    const having = groups.filter(({ paths }) => paths.some((path) => file.startsWith(`${path}/`)));
    assert.equal(having.length, 1, `${file} is in ${having.length} groups`);
  }
  assert(groups.every(({ permissions }) => !permissions.includes("-A") && !permissions.includes("--allow-all")));
});

Deno.test("each file of a group is in one isolate, files that measure the heap alone, and others share a few", () => {
  for (const { name } of testGroups(root, []).filter(({ shares }) => shares)) {
    const files = testFiles(root, [`tests/${name}`]);
    assert.deepEqual(files, tests.filter((file) => file.startsWith(`tests/${name}/`)).sort());
  }
  const files = [..."abcdefgh"].map((name) => `tests/x/${name}_test.ts`);
  const isolates = isolatesOf(files, 1, (file) => file.includes("/d_") ? "Deno.memoryUsage()" : "");
  assert.deepEqual(isolates.map((one) => one.map((file) => file[8]).join("")), ["d", "aeh", "bf", "cg"]);
  assert.deepEqual(isolatesOf([], 2, () => ""), []);
});

Deno.test("a group that computes starts beside a group that waits; groups with a build to come are last", async () => {
  const group = (name: string, more: Partial<TestGroup> = {}) => ({ name, paths: [], permissions: [], ...more });
  const groups = [
    ...[group("a"), group("b", { waits: true }), group("c", { needs: "cluster", waits: true }), group("d")],
    group("e", { needs: "API server" }),
  ];
  const [server, cluster] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const queue = new GroupQueue(groups, {
    "API server": server.promise,
    tools: cluster.promise,
    cluster: cluster.promise,
    suite: cluster.promise,
  });
  const names: (string | undefined)[] = [];
  for (const waiting of [true, false, true]) names.push((await queue.take(waiting))?.name);
  assert.deepEqual(names, ["b", "a", "d"]);
  const [next, last] = [queue.take(false), queue.take(true)];
  server.resolve();
  assert.equal((await next)?.name, "e");
  cluster.resolve();
  assert.equal((await last)?.name, "c");
  assert.equal(await queue.take(true), undefined);
});

Deno.test("nothing starts any more after the types were found wrong", async () => {
  const built = Promise.resolve();
  const group = { name: "a", paths: [], permissions: [] };
  const queue = new GroupQueue([group], { "API server": built, tools: built, cluster: built, suite: built });
  queue.clear();
  assert.equal(await queue.take(false), undefined);
});

Deno.test("of a killed group each isolate's last test is named", () => {
  const output = "../tmp/isolate-1.js => one => two ... ok (1ms)\n./tests/b_test.ts => three ... ok (1ms)\n";
  assert.equal(
    lastTests(["/tmp/isolate-1.js", "tests/b_test.ts", "/tmp/isolate-3.js"], [["a", "c"], ["b"], ["d"]], output),
    "\n  last test of a, c: one => two ... ok (1ms)\n  last test of b: three ... ok (1ms)\n  last test of d: none",
  );
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
