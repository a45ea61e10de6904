/**
 * Runs the official conformance suite of Gateway API against the mesh of this tree, on a real cluster.
 *
 *     deno task conformance                            all profiles
 *     deno task conformance --profile GATEWAY-HTTP     a profile; may be given many times
 *     deno task conformance --run NAME                 a single test; may be given many times
 *     deno task conformance --list                     the profiles and the names of the tests
 *     deno task conformance --suite v1.3.0             the suite of an earlier version
 *     deno task conformance --suite inference          the suite of the Inference Extension
 *     deno task conformance --keep                     a prepared cluster until interrupted; prints its folder
 *     deno task conformance --cluster FOLDER ...       on a kept cluster
 *     deno task conformance --cluster FOLDER --update  first replaces the servers of a kept cluster
 *     deno task conformance --write                    keeps the official reports in docs/conformance
 *     deno task conformance --run NAME -- -debug       further flags of the suite
 *
 * Prints the end of each test, the counts by profile, and what differs from `known.ts`. The exit code is 0 if nothing
 * differs.
 *
 * Permissions: the permissions of `deno task cluster`; write (docs/conformance, dist/conformance).
 *
 * @module
 */
import { parseArgs } from "node:util";
import { API_SERVER_PROGRAMS, buildPrograms, CLUSTER_PROGRAMS } from "../../scripts/orchestrator/binaries.ts";
import { ClusterHandle } from "../cluster/support/handle.ts";
import { noCluster } from "../cluster/support/programs.ts";
import { KNOWN } from "./known.ts";
import { GATEWAY_API_VERSIONS } from "./support/definitions.ts";
import type { Outcome, TestEnd } from "./support/output.ts";
import { prepare, startConformanceCluster, updateMesh } from "./support/prepare.ts";
import {
  applyBase,
  type Choice,
  chosenNames,
  isMesh,
  runSuite,
  SUITE_PROGRAMS,
  type SuiteList,
  suiteList,
} from "./support/suite.ts";
import { differences, summaryLines, testsOf } from "./support/summary.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Folder of whole outputs. */
const LOGS = `${ROOT}dist/conformance`;

/** Folder of official reports. */
const REPORTS = `${ROOT}docs/conformance`;

/** Lines of a failed test that are printed. */
const SHOWN_LINES = 12;

const { values, positionals } = parseArgs({
  options: {
    run: { type: "string", multiple: true, default: [] },
    profile: { type: "string", multiple: true, default: [] },
    suite: { type: "string", default: GATEWAY_API_VERSIONS[0]! },
    cluster: { type: "string" },
    keep: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

const version = GATEWAY_API_VERSIONS.find((known) => known === values.suite) ??
  refuse(`--suite=${values.suite}: expected ${GATEWAY_API_VERSIONS.join(" or ")}`);
if (noCluster !== undefined) refuse(`no cluster can run here: ${noCluster}`);
await buildPrograms([...SUITE_PROGRAMS[version], ...API_SERVER_PROGRAMS, ...CLUSTER_PROGRAMS], say);
const list = await suiteList(version);
if (values.list) printList(list);
else Deno.exitCode = await main(choices(list));

/** Prepares the cluster and runs the choices. @returns the exit code */
async function main(chosen: readonly Choice[]): Promise<number> {
  const { cluster: folder } = values;
  await using started = folder === undefined ? await startConformanceCluster(version) : undefined;
  const cluster = started?.handle ?? new ClusterHandle(folder!);
  say(`the cluster runs: ${cluster.folder}`);
  await prepare(cluster, version);
  if (values.update) await updateMesh(cluster, version);
  say(`Gateway API ${version} and the mesh are installed`);
  const runs = values.keep || (values.update && values.run.length + values.profile.length === 0) ? [] : chosen;
  const outcomes = new Map<string, Outcome>();
  for (const choice of runs) {
    for (const [name, outcome] of await run(cluster, choice)) outcomes.set(name, outcome);
  }
  const differing = differences(outcomes, KNOWN[version]);
  for (const line of [...summaryLines(list, outcomes), ...differing]) console.log(line);
  if (values.keep) await interrupted();
  return differing.length === 0 ? 0 : 1;
}

/** Runs a choice. @returns the outcomes of its tests; a test without an end has failed */
async function run(cluster: ClusterHandle, choice: Choice): Promise<Map<string, Outcome>> {
  const mesh = "test" in choice ? choice.test.startsWith("Mesh") : choice.profiles.some(isMesh);
  if (mesh) await applyBase(cluster, version);
  const name = "test" in choice ? choice.test : choice.profiles.map(({ name }) => name).join("+");
  await Deno.mkdir(LOGS, { recursive: true });
  if (values.write) await Deno.mkdir(REPORTS, { recursive: true });
  const path = `${LOGS}/${name}.log`;
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  const chosen = chosenNames(choice, list.tests);
  const { ends, otherLines } = await runSuite(cluster, {
    version,
    choice,
    report: values.write ? reportPath(choice) : undefined,
    flags: positionals,
    log: (line) => file.writeSync(new TextEncoder().encode(`${line}\n`)),
    ended: (end) => chosen.includes(end.name) && printEnd(end),
  });
  const outcomes = new Map(ends.map(({ name, outcome }) => [name, outcome]));
  const lacking = chosen.filter((name) => !outcomes.has(name));
  if (lacking.length > 0) {
    console.log([`the suite did not come to ${lacking.length} tests:`, ...otherLines.slice(-SHOWN_LINES)].join("\n"));
  }
  say(`the whole output: ${path}`);
  return new Map(chosen.map((name) => [name, outcomes.get(name) ?? "failed"]));
}

/** The file of the official report: of the profiles of gateways, of the profiles of a mesh, or of a single test. */
function reportPath(choice: Choice): string {
  const of = "test" in choice ? choice.test : choice.profiles.some(isMesh) ? "mesh" : "gateway";
  return `${REPORTS}/${version}-${of}.yaml`;
}

/** What the command line chooses; nothing: every profile. Profiles of gateways run together, as do those of a mesh. */
function choices({ profiles, tests }: SuiteList): readonly Choice[] {
  const { run, profile } = values;
  const single = run.map((name): Choice => {
    if (tests.some((test) => test.name === name)) return { test: name };
    return refuse(`--run=${name}: the suite ${version} has no such test; --list prints the names`);
  });
  const whole = profile.map((name) => {
    const found = profiles.find((profile) => profile.name === name);
    return found ?? refuse(`--profile=${name}: expected ${profiles.map(({ name }) => name).join(", ")}`);
  });
  const chosen = run.length + profile.length > 0 ? whole : profiles;
  const groups = [chosen.filter((profile) => !isMesh(profile)), chosen.filter(isMesh)];
  return [...single, ...groups.filter((group) => group.length > 0).map((profiles) => ({ profiles }))];
}

function printEnd({ name, outcome, seconds, lines }: TestEnd): void {
  console.log(`${outcome} ${name} (${seconds.toFixed(1)} s)`);
  if (outcome === "failed") { for (const line of lines.slice(-SHOWN_LINES)) console.log(`    ${line.trim()}`); }
}

function printList({ profiles, tests }: SuiteList): void {
  const listed = new Set<string>();
  for (const profile of profiles) {
    for (const [part, inside] of Object.entries(testsOf(profile, tests))) {
      console.log(`${profile.name} ${part}: ${inside.length}`);
      for (const { name } of inside) console.log(`  ${name}`);
      for (const { name } of inside) listed.add(name);
    }
  }
  console.log("in no profile:");
  for (const { name } of tests) if (!listed.has(name)) console.log(`  ${name}`);
}

function say(line: string): void {
  console.error(`${(performance.now() / 1000).toFixed(1)} s: ${line}`);
}

function refuse(message: string): never {
  console.error(message);
  Deno.exit(2);
}

async function interrupted(): Promise<void> {
  const signal = Promise.withResolvers<void>();
  for (const name of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(name, () => signal.resolve());
  await signal.promise;
}
