/**
 * The official conformance suite of Gateway API as a program: its list of tests, and runs on a cluster.
 *
 * Permissions: env (HOME, XDG_CACHE_HOME), read and write (temp folder), run (the suite, nsenter).
 *
 * @module
 */
import {
  builtProgram,
  CONFORMANCE_PROGRAMS,
  type OrchestratorProgram,
} from "../../../scripts/orchestrator/binaries.ts";
import type { ClusterHandle } from "../../cluster/support/handle.ts";
import { ROLLOUT } from "../../cluster/support/mesh.ts";
import type { GatewayApiVersion } from "./definitions.ts";
import { SuiteOutput, type TestEnd } from "./output.ts";

/** A group of features with a common purpose. */
export interface SuiteProfile {
  readonly name: string;
  /** Features that the profile asks for. */
  readonly core: readonly string[];
  /** Features that are optional in the profile. */
  readonly extended: readonly string[];
}

/** One of the suite's tests. */
export interface SuiteTest {
  readonly name: string;
  readonly features: readonly string[];
  /** Provisional tests may still change, and do not count. */
  readonly provisional: boolean;
}

/** What the suite consists of. */
export interface SuiteList {
  readonly profiles: readonly SuiteProfile[];
  readonly tests: readonly SuiteTest[];
}

/** The programs of a version: the suite first. */
export const SUITE_PROGRAMS: Readonly<Record<GatewayApiVersion, readonly OrchestratorProgram[]>> = {
  "v1.6.1": CONFORMANCE_PROGRAMS,
  "v1.3.0": ["conformance-suite-v1.3", "conformance-server-v1.3", "conformance-echo"],
  inference: ["conformance-suite-inference", "conformance-server"],
};

/** Name of the GatewayClass that the server makes. */
const GATEWAY_CLASS = "mesh";

/** The suite of this machine. */
function suiteProgram(version: GatewayApiVersion): string {
  const [name] = SUITE_PROGRAMS[version];
  const path = builtProgram(name!);
  if (path === undefined) throw new Error(`${name} is not built: deno task orchestrator ${name}`);
  return path;
}

/** The profiles and tests of the suite, as the suite itself lists them. */
export async function suiteList(version: GatewayApiVersion): Promise<SuiteList> {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const { success, stdout } = await new Deno.Command(suiteProgram(version), {
      args: ["-test.run=^TestList$"],
      env: { CONFORMANCE_LIST: file },
      ...{ stdin: "null", stderr: "inherit" },
    }).output();
    if (!success) throw new Error(`the suite lists no tests:\n${new TextDecoder().decode(stdout)}`);
    return JSON.parse(await Deno.readTextFile(file));
  } finally {
    await Deno.remove(file);
  }
}

/** Which of the suite's tests run. */
export type Choice =
  /** A single test, whatever features it needs. */
  | { readonly test: string }
  /** All tests whose features are in one of the profiles. */
  | { readonly profiles: readonly SuiteProfile[] };

/** Settings of a run. */
export interface RunOptions {
  readonly version: GatewayApiVersion;
  readonly choice: Choice;
  /** File of the official report. */
  readonly report?: string | undefined;
  /** Further flags of the suite. */
  readonly flags: readonly string[];
  /** Receives each line. */
  readonly log: (line: string) => void;
  /** Receives each test when the test has ended. */
  readonly ended: (end: TestEnd) => void;
}

/** The result of a run. */
export interface RunResult {
  readonly ends: readonly TestEnd[];
  /** Lines outside of tests: they tell why the suite did not come to a test. */
  readonly otherLines: readonly string[];
}

/** Runs the suite in the network of the control plane, from where load balancers and pods can be reached. */
export async function runSuite(cluster: ClusterHandle, options: RunOptions): Promise<RunResult> {
  const child = new Deno.Command("nsenter", {
    args: [
      `--target=${cluster.controlPid}`,
      "--net",
      "--",
      suiteProgram(options.version),
      ...suiteFlags(cluster, options),
    ],
    env: {
      KUBECONFIG: `${cluster.folder}/control/admin.kubeconfig`,
      // In place of flags, which the suite v1.3.0 does not have.
      CONFORMANCE_USABLE_ADDRESS: cluster.network.balancer(USABLE),
      CONFORMANCE_UNUSABLE_ADDRESS: UNUSABLE,
    },
    ...{ stdin: "null", stdout: "piped", stderr: "piped" },
  }).spawn();
  const output = new SuiteOutput();
  const take = (line: string) => {
    options.log(line.replaceAll("\x16", ""));
    const end = output.take(line, performance.now());
    if (end !== undefined) options.ended(end);
  };
  const errors = eachLine(child.stderr, options.log);
  await eachLine(child.stdout, take);
  await errors;
  await child.status;
  return { ends: output.ends, otherLines: output.otherLines };
}

function suiteFlags(cluster: ClusterHandle, { version, choice, report, flags }: RunOptions): string[] {
  // Objects of the base manifests stay for the next run.
  const base = [
    ...["-test.run=^TestConformance$", "-test.v=test2json", "-test.timeout=180m", "-test.parallel=2"],
    ...[`-gateway-class=${GATEWAY_CLASS}`, "-cleanup-base-resources=false"],
  ];
  const newer = version !== "v1.6.1"
    ? []
    : [CONSECUTIVE, `-usable-address=${cluster.network.balancer(USABLE)}`, `-unusable-address=${UNUSABLE}`];
  return [...base, ...newer, ...choiceFlags(choice), ...report === undefined ? [] : reportFlags(report), ...flags];
}

/**
 * By default the suite is content with three right answers in a row. Without any route, two pods that answer in turn often
 * give three right answers by chance.
 */
const CONSECUTIVE = "-timeout-config-overrides=RequiredConsecutiveSuccesses:10";

/** Number of the address that a test asks the load balancer for. Other Services get the lowest numbers. */
const USABLE = 250;

/** An address that no load balancer of a cluster has. */
const UNUSABLE = "192.0.2.1";

function choiceFlags(choice: Choice): string[] {
  if ("test" in choice) {
    const mesh = choice.test.startsWith("Mesh");
    return [`-run-test=${choice.test}`, ...mesh ? [MESH_NAMESPACES] : []];
  }
  const { profiles } = choice;
  return [
    `-conformance-profiles=${profiles.map(({ name }) => name).join(",")}`,
    `-supported-features=${featuresOf(profiles).join(",")}`,
    ...profiles.some(isMesh) ? [MESH_NAMESPACES] : [],
  ];
}

/** All features of profiles. */
function featuresOf(profiles: readonly SuiteProfile[]): string[] {
  return [...new Set(profiles.flatMap(({ core, extended }) => [...core, ...extended]))];
}

/** Whether the tests of a profile are about a mesh. */
export function isMesh({ core }: SuiteProfile): boolean {
  return core.includes("Mesh");
}

/** The names of the tests that a choice runs. */
export function chosenNames(choice: Choice, tests: readonly SuiteTest[]): readonly string[] {
  if ("test" in choice) return [choice.test];
  const features = new Set(featuresOf(choice.profiles));
  return tests.filter((test) => test.features.every((feature) => features.has(feature))).map(({ name }) => name);
}

/**
 * Applies the manifests for tests of a mesh, by one such test, and waits for the pods: the suite v1.3.0 begins its tests
 * before the first pod exists. Also applies the manifests for tests of gateways, because tests of a mesh wait for their pods.
 */
export async function applyBase(cluster: ClusterHandle, version: GatewayApiVersion): Promise<void> {
  const tests = [
    { namespace: "gateway-conformance-web-backend", test: "GatewayObservedGenerationBump", flags: [] },
    { namespace: MESH_NAMESPACE, test: "MeshBasic", flags: ["-supported-features=Mesh"] },
  ];
  // The suite v1.3.0 has no such flag.
  const wait = version === "v1.3.0" ? [] : ["-timeout-config-overrides=NamespacesMustBeReady:60"];
  for (const { namespace, test, flags } of tests) {
    const { success } = await cluster.tryKubectl(["get", "namespace", namespace]);
    if (success) continue;
    await runSuite(cluster, { version, choice: { test }, flags: [...wait, ...flags], log: () => {}, ended: () => {} });
  }
  await cluster.kubectl([
    "--namespace",
    MESH_NAMESPACE,
    "wait",
    "--for=condition=Available",
    "deployments",
    "--all",
    ROLLOUT,
  ]);
}

/** The namespace of the servers in tests of a mesh. */
const MESH_NAMESPACE = "gateway-conformance-mesh";

/** Pods of the tests of a mesh have proxies. */
const MESH_NAMESPACES = "-namespace-labels=mesh-injection=enabled";

function reportFlags(path: string): string[] {
  const { version } = JSON.parse(Deno.readTextFileSync(new URL("../../../deno.json", import.meta.url)));
  return [
    `-report-output=${path}`,
    ...["-organization=mesh", "-project=mesh", "-url=https://mesh.io", `-version=${version}`, "-contact=@mesh"],
  ];
}

async function eachLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) take(line);
  }
  if (rest !== "") take(rest);
}
