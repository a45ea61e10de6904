/**
 * Runs tests in groups, two groups at a time, each group with only the permissions that the group needs.
 *
 *     deno task test                    everything
 *     deno task test tests/mesh ...     some files or folders
 *     deno task test tests/mesh --filter 'two rules'    tests with that text in their names; /.../ is an expression
 *
 * Ends with a line, `N passed, N failed, N skipped`. Exits with 1 if a test failed, did not end in time, or was skipped
 * while `CI` is set: with `CI`, every component must be present.
 *
 * Properties take the same random values in each run. `MESH_PROPERTY_RUNS=1000` takes new and longer ones, and at least so
 * many of them. Such a run names its seed, and `MESH_PROPERTY_SEED` takes the values of that run again.
 *
 * Permissions: read and write (a temporary file), run (deno), env (CI, MESH_PROPERTY_RUNS, MESH_PROPERTY_SEED).
 *
 * @module
 */
import { existsSync } from "node:fs";
import { API_SERVER_PROGRAMS, CLUSTER_PROGRAMS, CONFORMANCE_PROGRAMS, TOOL_PROGRAMS } from "./orchestrator/binaries.ts";
import { reasonIgnored } from "./test/reasons.ts";
import { isolatesOf, lastTests, testFiles, writeIsolates } from "./test/isolates.ts";
import { slowest, type TestCase, testCases } from "./test/junit.ts";
import { type ClusterProcess, startClusterProcess } from "./test/cluster_process.ts";
import { type TestGroup, testGroups } from "./test/groups.ts";
import { type PropertyValues, propertyValues, withPropertyValues } from "./test/property_values.ts";
import { GroupQueue } from "./test/queue.ts";
import { isWanted, type WantedTests, wantedTests } from "./test/wanted.ts";

const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

/**
 * A group that takes longer hangs, ms. Usually the longest plain group takes five minutes and the groups with API
 * servers eight. On two busy cores, beside another group and a build, each group needs several times as much.
 */
const GROUP_DEADLINE = {
  plain: 16 * 60_000,
  ...{ "API server": 20 * 60_000, tools: 20 * 60_000, cluster: 20 * 60_000, suite: 20 * 60_000 },
};

/** The same for a run with the long tests of clusters, or with more values of properties, ms. */
const LONG_DEADLINE = 60 * 60_000;

/** On two slow cores, with all modules to fetch, beside tests: ten minutes and some more, ms. */
const BUILD_DEADLINE = 25 * 60_000;

/** The slow tests that a run names: a test of at least so many seconds, and at most so many tests. */
const SLOW = { atLeast: 20, most: 15 };

interface GroupResult {
  readonly cases: readonly TestCase[];
  /** The output of the group. */
  readonly output: string;
  /** Why the group counts as failed without a failed test. */
  readonly trouble?: string;
  readonly seconds: number;
}

async function deno(args: readonly string[], deadline: number, env: Readonly<Record<string, string>> = {}) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: root,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1", ...env },
  }).spawn();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, deadline);
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  clearTimeout(timer);
  return { code: status.code, late, text: out + err };
}

async function runGroup(
  group: TestGroup,
  filter: string | undefined,
  values: PropertyValues,
): Promise<GroupResult> {
  const started = performance.now();
  const long = Deno.env.get("MESH_TEST_LONG") === "1" || values.seed !== undefined;
  const deadline = long ? LONG_DEADLINE : GROUP_DEADLINE[group.needs ?? "plain"];
  await using folder = await temporaryFolder();
  const report = `${folder.path}/report.xml`;
  const isolates = group.shares
    ? isolatesOf(
      testFiles(root, group.paths),
      navigator.hardwareConcurrency,
      (file) => Deno.readTextFileSync(`${root}/${file}`),
    )
    : undefined;
  const paths = isolates === undefined ? group.paths : await writeIsolates(root, folder.path, isolates);
  // Examples are not modules of the tree, so the check of the tree does not cover them.
  const kind = group.examples ? ["--doc", "--permit-no-files"] : ["--no-check"];
  // The tests of a cluster share the cluster, one file after the other.
  const parallel = group.needs === "cluster" ? [] : ["--parallel"];
  const args = ["test", "--quiet", "--no-prompt", ...parallel, `--junit-path=${report}`, ...kind, ...values.options];
  if (filter !== undefined) args.push(`--filter=${filter}`);
  await using cluster = group.needs === "cluster" ? await sharedCluster() : undefined;
  const env = { ...values.variables, ...(cluster !== undefined && { MESH_TEST_CLUSTER: cluster.folder }) };
  const permissions = withPropertyValues(group.permissions, values);
  const { code, late, text } = await deno([...args, ...permissions, ...paths], deadline, env);
  const cases = testCases(existsSync(report) ? await Deno.readTextFile(report) : "")
    .filter(({ name }) => isWanted(name, filter));
  const seconds = (performance.now() - started) / 1000;
  const done = { cases, output: text, seconds };
  if (late) {
    return {
      ...done,
      trouble: `killed after ${deadline / 60_000} minutes; ${
        isolates === undefined ? `in: ${unfinished(group, text)}` : lastTests(paths, isolates, text)
      }`,
    };
  }
  if (code !== 0 && !cases.some((c) => c.result === "failed")) return { ...done, trouble: `exit code ${code}` };
  if (cases.length === 0 && filter === undefined) return { ...done, trouble: "no tests were found" };
  return done;
}

/**
 * The cluster that the files of a group share: the cluster of the variable `MESH_TEST_CLUSTER`, else a new cluster.
 * Undefined where no cluster starts: the tests are ignored or fail, with the reason.
 */
async function sharedCluster(): Promise<ClusterProcess | undefined> {
  const folder = Deno.env.get("MESH_TEST_CLUSTER");
  if (folder !== undefined) return { folder, [Symbol.asyncDispose]: () => Promise.resolve() };
  return await startClusterProcess(root).catch((error) => void console.log(error.message));
}

async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** Files without a result in a killed group. */
function unfinished(group: TestGroup, text: string): string {
  const files: string[] = [];
  const walk = (path: string) => {
    if (/\.ts$/.test(path)) return void files.push(path);
    for (const entry of Deno.readDirSync(`${root}/${path}`)) {
      if (entry.isDirectory || /_test\.ts$/.test(entry.name)) walk(`${path}/${entry.name}`);
    }
  };
  group.paths.forEach(walk);
  return files.filter((file) => !text.includes(file)).join(", ") || "unknown";
}

/**
 * Builds the programs that a group starts, beside the tests of other groups. On a machine that cannot build the
 * programs, the tests are ignored or fail, with the reason.
 */
async function buildPrograms(programs: readonly string[]): Promise<void> {
  if (programs.length === 0) return;
  const permissions = ["--allow-read", "--allow-write", "--allow-env", "--allow-run"];
  await deno(
    ["run", "--quiet", "--no-prompt", "--no-check", ...permissions, "scripts/orchestrator/main.ts", ...programs],
    BUILD_DEADLINE,
  );
}

/** The builds for each need of a group. One build runs at a time; the API server, with more tests, comes first. */
function startBuilds(groups: readonly TestGroup[]): Readonly<Record<NonNullable<TestGroup["needs"]>, Promise<void>>> {
  const needs = new Set(groups.map((group) => group.needs));
  const needed = (programs: readonly string[], ...by: NonNullable<TestGroup["needs"]>[]) =>
    buildPrograms(by.some((need) => needs.has(need)) ? programs : []);
  const server = needed(API_SERVER_PROGRAMS, "API server", "tools", "cluster", "suite");
  const tools = server.then(() => needed(TOOL_PROGRAMS, "tools"));
  const cluster = tools.then(() => needed(CLUSTER_PROGRAMS, "cluster", "suite"));
  return { "API server": server, tools, cluster, suite: cluster.then(() => needed(CONFORMANCE_PROGRAMS, "suite")) };
}

function count(cases: readonly TestCase[], result: TestCase["result"]): number {
  return cases.filter((c) => c.result === result).length;
}

/** The tests on the command line, and the values of properties. Ends the run if an argument or a variable is invalid. */
function asked(): WantedTests & { readonly values: PropertyValues } {
  try {
    const values = propertyValues(
      (name) => Deno.env.get(name),
      crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000_000,
    );
    return { ...wantedTests(Deno.args, (path) => existsSync(`${root}/${path}`)), values };
  } catch (error) {
    console.log((error as Error).message);
    Deno.exit(1);
  }
}

const { paths, filter, values } = asked();
const groups = testGroups(root, paths);
const ci = Deno.env.get("CI") !== undefined;
const wide = Math.max(...groups.map(({ name }) => name.length));
const queue = new GroupQueue(groups, startBuilds(groups));
const total = { passed: 0, failed: 0, skipped: 0 };
const ignored: string[] = [];
const all: TestCase[] = [];
let ended = 0;

/** Checks the types of the tree. If the types are wrong, no further group starts. */
async function checkTypes(): Promise<void> {
  const started = performance.now();
  const { code, text } = await deno(
    ["check", "--quiet", "mod.ts", "lib", "cmd", "scripts", "tests"],
    GROUP_DEADLINE.plain,
  );
  console.log(`types ${((performance.now() - started) / 1000).toFixed(1)} s${code === 0 ? "" : "   FAILED"}`);
  if (code === 0) return;
  queue.clear();
  total.failed++;
  console.log(`${text}\nthe tree does not type-check: no further test is run`);
}

/** Runs groups until no group is left. @param waiting see {@linkcode GroupQueue.take} */
async function work(waiting: boolean): Promise<void> {
  for (let group; (group = await queue.take(waiting)) !== undefined;) {
    tell(group, await runGroup(group, filter, values));
  }
}

/** Prints the result of a group, and adds it up. */
function tell(group: TestGroup, { cases, output, trouble, seconds }: GroupResult): void {
  const failed = count(cases, "failed") + (trouble === undefined ? 0 : 1);
  all.push(...cases);
  total.passed += count(cases, "passed");
  total.failed += failed;
  total.skipped += count(cases, "skipped");
  for (const test of cases.filter((c) => c.result === "skipped")) {
    ignored.push(`${test.file}: ${test.name}\n      ${reasonIgnored(root, test) ?? "it gives no reason"}`);
  }
  const label = `[${String(++ended).padStart(2)}/${groups.length}] ${group.name.padEnd(wide)}`;
  console.log(
    `${label} ${String(cases.length).padStart(4)} tests ${seconds.toFixed(1).padStart(6)} s${
      failed > 0 ? `   ${failed} FAILED` : ""
    }`,
  );
  if (failed > 0) console.log(`${output}\n${group.name}: ${trouble ?? `${failed} failed`}`);
}

if (values.seed !== undefined) console.log(`properties: new values, MESH_PROPERTY_SEED=${values.seed}`);
const whole = paths.length === 0 && filter === undefined;
if (!whole) console.log("types are not checked in a part of a run; deno task dev and deno task ok check them");
// A worker prefers groups that compute. The other worker prefers groups that wait, and checks the types before.
await Promise.all([work(false), (whole ? checkTypes() : Promise.resolve()).then(() => work(true))]);
if (filter !== undefined && total.passed + total.failed + total.skipped === 0) {
  console.log(`no test has ${JSON.stringify(filter)} in its name`);
  total.failed++;
}
const longest = slowest(all, SLOW);
if (longest.length > 0) console.log(`the tests that took longest:\n  - ${longest.join("\n  - ")}`);
if (ignored.length > 0) console.log(`ignored${ci ? ", which CI does not allow" : ""}:\n  - ${ignored.join("\n  - ")}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
Deno.exit(total.failed > 0 || (ci && total.skipped > 0) ? 1 : 0);
