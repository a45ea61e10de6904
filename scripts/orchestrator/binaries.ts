/**
 * Programs of the orchestrator for tests: built from Go modules, once per machine and version.
 *
 * Built programs are in the user's cache folder, shared by all trees of the machine. Concurrent builds take turns by a
 * system lock, which ends with its owner. A finished program is renamed into place, so a killed build leaves no file
 * that looks complete.
 *
 * Permissions: env (XDG_CACHE_HOME, HOME, GO), read (this tree), read and write (the cache folder), run (go).
 *
 * @module
 */
import { createHash } from "node:crypto";
import { requiredTestCache, testCache, withLock } from "../test/cache.ts";
import { findGo } from "./go.ts";

/** A program, and the Go module that pins its version. */
interface GoProgram {
  /** Folder of the Go module, below `tests`. */
  readonly module: string;
  /** The required module that gives the version and the folder in the cache. */
  readonly versionOf: string;
  /** The package with the program's `main`, or with the tests. A path that begins with `.` is in this tree. */
  readonly package: string;
  /** The program is the package's tests. */
  readonly tests?: true;
}

function kubernetes(program: string): GoProgram {
  return { module: "orch/kubernetes", versionOf: "k8s.io/kubernetes", package: `k8s.io/kubernetes/cmd/${program}` };
}

/** The conformance suite of Gateway API and its server, in the version that a Go module pins. */
function gatewayApi(module: string, versionOf: string) {
  const server = "sigs.k8s.io/gateway-api/conformance/echo-basic";
  return {
    suite: { module: `conformance/${module}`, versionOf, package: ".", tests: true },
    server: { module: `conformance/${module}`, versionOf, package: server },
  } as const;
}

const GATEWAY_API = gatewayApi("suite", "sigs.k8s.io/gateway-api");
const GATEWAY_API_V1_3 = gatewayApi("suite-v1.3", "sigs.k8s.io/gateway-api");

/** The programs that can be built, in the order of their need. */
const PROGRAMS = {
  "kube-apiserver": kubernetes("kube-apiserver"),
  "kube-controller-manager": kubernetes("kube-controller-manager"),
  kubectl: kubernetes("kubectl"),
  helm: { module: "charts/go", versionOf: "helm.sh/helm/v3", package: "helm.sh/helm/v3/cmd/helm" },
  "kube-scheduler": kubernetes("kube-scheduler"),
  kubelet: kubernetes("kubelet"),
  "kube-proxy": kubernetes("kube-proxy"),
  kwok: { module: "cluster/kwok", versionOf: "sigs.k8s.io/kwok", package: "sigs.k8s.io/kwok/cmd/kwok" },
  coredns: { module: "cluster/coredns", versionOf: "github.com/coredns/coredns", package: "." },
  "conformance-suite": GATEWAY_API.suite,
  "conformance-server": GATEWAY_API.server,
  "conformance-echo": { ...GATEWAY_API.server, package: "./echo" },
  "conformance-suite-v1.3": GATEWAY_API_V1_3.suite,
  "conformance-server-v1.3": GATEWAY_API_V1_3.server,
  "conformance-suite-inference": gatewayApi("suite-inference", "sigs.k8s.io/gateway-api-inference-extension").suite,
} as const satisfies Readonly<Record<string, GoProgram>>;

export type OrchestratorProgram = keyof typeof PROGRAMS;

/** Names of the programs. */
export const ORCHESTRATOR_PROGRAMS = Object.keys(PROGRAMS) as OrchestratorProgram[];

/** The programs of tests with an API server alone. */
export const API_SERVER_PROGRAMS: readonly OrchestratorProgram[] = ["kube-apiserver", "kube-controller-manager"];

/** The tools of operators that tests of the charts call. */
export const TOOL_PROGRAMS: readonly OrchestratorProgram[] = ["kubectl", "helm"];

/** The further programs of tests with a whole cluster. */
export const CLUSTER_PROGRAMS: readonly OrchestratorProgram[] = [
  "kubectl",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "coredns",
];

/** The further programs of the chosen tests of the Gateway API's conformance suite. */
export const CONFORMANCE_PROGRAMS: readonly OrchestratorProgram[] = [
  "conformance-suite",
  "conformance-server",
  "conformance-echo",
];

/** Suffix of files of unfinished builds. */
const UNFINISHED = ".unfinished";

function moduleFolder({ module }: GoProgram): string {
  return new URL(`../../tests/${module}/`, import.meta.url).pathname;
}

/** The version of the module that a program comes from. */
function versionOf(program: GoProgram): string {
  const required = `${moduleFolder(program)}go.mod`;
  const line = Deno.readTextFileSync(required).split("\n").find((line) => line.includes(`${program.versionOf} v`));
  const version = /\sv\S+/.exec(line ?? "")?.[0].trim();
  if (version === undefined) throw new Error(`${required} requires no ${program.versionOf}`);
  return version;
}

/** The folder of a built program and its version, for example `~/.cache/mesh-tests/kubernetes-v1.33.13`. */
function folderOf(program: GoProgram): string | undefined {
  const cache = testCache();
  // A path may end with the major version: helm.sh/helm/v3.
  const name = program.versionOf.replace(/\/v\d+$/, "").split("/").at(-1);
  return cache && `${cache}/${name}-${versionOf(program)}`;
}

/** The file of a program in its folder. Programs of this tree are told apart by their source. */
function fileOf(name: OrchestratorProgram): string {
  const program: GoProgram = PROGRAMS[name];
  if (!program.package.startsWith(".")) return name;
  const folder = `${moduleFolder(program)}${program.package}`;
  const hash = createHash("sha256");
  const sources = [...Deno.readDirSync(folder)].map((file) => file.name).filter((file) => file.endsWith(".go")).sort();
  for (const source of sources) hash.update(Deno.readFileSync(`${folder}/${source}`));
  return `${name}-${hash.digest("hex").slice(0, 8)}`;
}

/** The path of a built program. Undefined if not built. */
export function builtProgram(name: OrchestratorProgram): string | undefined {
  const path = `${folderOf(PROGRAMS[name])}/${fileOf(name)}`;
  try {
    return Deno.statSync(path).isFile ? path : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * Builds missing programs.
 *
 * @param say Receives a line before and a line after a build.
 * @throws {Error} With Go's output, or if Go or the cache folder is missing.
 */
export async function buildPrograms(
  names: readonly OrchestratorProgram[],
  say: (line: string) => void,
): Promise<void> {
  const missing = names.filter((name) => builtProgram(name) === undefined);
  if (missing.length === 0) return;
  requiredTestCache();
  for (const name of missing) {
    const folder = folderOf(PROGRAMS[name])!;
    await withLock(folder, async () => {
      if (builtProgram(name) === undefined) await build(name, folder, say);
    });
  }
}

async function build(name: OrchestratorProgram, folder: string, say: (line: string) => void): Promise<void> {
  const go = await findGo();
  if (go === undefined) throw new Error(`${name}: no Go toolchain on the path or in /usr/local/go; GO may name one`);
  const program: GoProgram = PROGRAMS[name];
  const [started, version] = [performance.now(), versionOf(program)];
  say(`${name} ${version}: built from Go modules, some minutes the first time ...`);
  for (const file of Deno.readDirSync(folder)) {
    if (file.name.endsWith(UNFINISHED)) Deno.removeSync(`${folder}/${file.name}`);
  }
  // A Go process that outlives its starter writes to a separate file.
  const unfinished = `${folder}/${name}-${Deno.pid}${UNFINISHED}`;
  const { success, stderr } = await new Deno.Command(go, {
    args: [...program.tests ? ["test", "-c"] : ["build"], ...buildArguments(version, unfinished), program.package],
    cwd: moduleFolder(program),
    // Without cgo no C compiler is needed. Less garbage collection makes the Go compiler faster.
    env: { CGO_ENABLED: "0", GOGC: Deno.env.get("GOGC") ?? "400" },
    stdin: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${name} was not built:\n${new TextDecoder().decode(stderr).trimEnd()}`);
  await Deno.rename(unfinished, `${folder}/${fileOf(name)}`);
  say(`${name} ${version}: ready (${((performance.now() - started) / 1000).toFixed(0)} s)`);
}

/** Debug information and inlining would take half of the build time. Clients refuse a server without a version. */
function buildArguments(release: string, out: string): string[] {
  const [major, minor] = release.slice(1).split(".");
  const version = { gitVersion: release, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const variables = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((place) =>
    Object.entries(version).map(([name, value]) => `-X ${place}.${name}=${value}`)
  );
  const linker = `-ldflags=-s -w ${variables.join(" ")}`;
  return ["-trimpath", "-buildvcs=false", "-gcflags=all=-l -dwarf=false", linker, "-o", out];
}
