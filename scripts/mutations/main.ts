/**
 * Plants each mistake of `list.ts` in a copy of the tree and tells whether the tests notice: `deno task mutations`.
 *
 *     deno task mutations                     every row, the tests under tests/translate
 *     deno task mutations --tests tests/x     other tests
 *     deno task mutations --only cluster      the rows whose file has that text in its path
 *
 * One line a row, `caught` or `SURVIVED`. Only test files that load the changed file run, up to the first failure, and
 * without Envoy. Exits with 1 when a row survives, and with 2 when a row does not fit the tree any more.
 *
 * Permissions: read, write of the temporary folder, run (deno, cp, ln).
 *
 * @module
 */
import { parseArgs } from "node:util";
import { reachedFrom, sourceFiles } from "../imports.ts";
import { testGroups } from "../test/groups.ts";
import { mutated } from "./apply.ts";
import { type Mutation, MUTATIONS } from "./list.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** What a tree needs to run its tests. */
const COPIED = ["lib", "cmd", "proto", "scripts", "tests", "mod.ts", "deno.json", "deno.lock", "package.json"];

/** The test of goldens. */
const GOLDENS = "tests/translate/golden_test.ts";

/** A mistake can make a loop endless: the tests of a row are killed after this time, ms. That counts as caught. */
const DEADLINE = 180_000;

const { values } = parseArgs({
  args: Deno.args,
  options: { tests: { type: "string", default: "tests/translate" }, only: { type: "string", default: "" } },
});

/** A copy of the tree, in which files may be changed. */
async function copyTree(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "mutations-" });
  const there = COPIED.filter((name) => exists(`${root}/${name}`)).map((name) => `${root}/${name}`);
  // A link is made by a program, for Deno.symlink asks for permission to write everywhere.
  for (const [program, ...args] of [["cp", "-r", ...there, folder], ["ln", "-s", `${root}/node_modules`, folder]]) {
    const { success } = await new Deno.Command(program!, { args }).output();
    if (!success) throw new Error(`the tree cannot be copied to ${folder}`);
  }
  return folder;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Topics of goldens that show what a room of `lib/translate` builds; others: all. */
const TOPICS: Readonly<Record<string, string>> = {
  route: "route,gateway,listener",
  cluster: "cluster",
  endpoint: "cluster",
  gateway: "gateway",
  extension: "extension",
  proxyless: "proxyless",
  listener: "listener",
  filters: "listener,route",
  telemetry: "listener",
  tls: "listener,cluster",
};

/** Runs test files of the copy. @param topics Of goldens; empty: all. @returns Whether all passed. */
async function pass(copy: string, files: readonly string[], topics = ""): Promise<boolean> {
  const permissions = testGroups(root, [values.tests]).flatMap((group) => group.permissions);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", "--no-prompt", "--no-check", "--parallel", "--fail-fast", ...permissions, ...files],
    cwd: copy,
    env: { NO_COLOR: "1", ENVOY: `${copy}/no-envoy`, GOLDEN_TOPICS: topics },
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(DEADLINE),
  }).output();
  return success;
}

/** Plants one mistake, runs the tests, and takes it back. @returns Whether a test failed. */
async function isCaught(copy: string, mutation: Mutation, files: readonly string[]): Promise<boolean> {
  const path = `${copy}/${mutation.file}`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, mutated(text, mutation));
  try {
    // Goldens of the same subject notice most; the others are asked only where these do not.
    const topics = TOPICS[mutation.file.split("/")[2] ?? ""];
    if (topics !== undefined && files.includes(GOLDENS) && !await pass(copy, [GOLDENS], topics)) return true;
    return !(await pass(copy, files));
  } finally {
    await Deno.writeTextFile(path, text);
  }
}

const rows = MUTATIONS.filter(({ file }) => file.includes(values.only));
if (rows.length === 0) {
  console.error(`--only: got ${JSON.stringify(values.only)}, expected a part of the path of a row's file`);
  Deno.exit(2);
}
try {
  for (const row of rows) mutated(Deno.readTextFileSync(`${root}/${row.file}`), row);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  Deno.exit(2);
}
const tests = sourceFiles(root, [values.tests]).filter((file) => file.endsWith("_test.ts"));
const reached = tests.map((test) => ({ test, files: new Set(reachedFrom(root, test)) }));
const copy = await copyTree();
let survivors = 0;
try {
  if (!await pass(copy, tests)) throw new Error(`the tests of ${values.tests} fail without any mistake`);
  for (const row of rows) {
    const started = performance.now();
    const files = reached.filter(({ files }) => files.has(row.file)).map(({ test }) => test);
    const caught = files.length > 0 && await isCaught(copy, row, files);
    if (!caught) survivors++;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${caught ? "caught  " : "SURVIVED"} ${seconds.padStart(5)} s  ${row.file}: ${row.breaks}`);
  }
} finally {
  await Deno.remove(copy, { recursive: true });
}
console.log(`${rows.length - survivors} of ${rows.length} caught`);
Deno.exit(survivors > 0 ? 1 : 0);
