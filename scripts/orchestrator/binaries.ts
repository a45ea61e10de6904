/**
 * The orchestrator's programs for tests: built from Go modules, once per machine and version.
 *
 * Built programs are in the user's cache folder, shared by all trees of the machine. Concurrent builds take turns by a
 * system lock, which ends with its owner. A finished program is renamed into place, so a killed build leaves no file
 * that looks complete.
 *
 * Permissions: env (XDG_CACHE_HOME, HOME, GO), read (this tree), read and write (the cache folder), run (go).
 *
 * @module
 */
import { findGo } from "../go.ts";

/** The Go module that pins the version. */
const MODULE = new URL("../../tests/orch/kubernetes/", import.meta.url).pathname;

/** The version of the orchestrator. */
function orchestratorVersion(): string {
  const version = /^require k8s\.io\/kubernetes (v\S+)$/m.exec(Deno.readTextFileSync(`${MODULE}go.mod`))?.[1];
  if (version === undefined) throw new Error(`${MODULE}go.mod requires no k8s.io/kubernetes`);
  return version;
}

/** The programs that can be built. */
export const ORCHESTRATOR_PROGRAMS = ["kube-apiserver", "kube-controller-manager"] as const;
export type OrchestratorProgram = typeof ORCHESTRATOR_PROGRAMS[number];

/** Suffix of files of unfinished builds. */
const UNFINISHED = ".unfinished";

/** The folder of this machine's programs. Undefined if the environment has no cache folder. */
export function orchestratorFolder(): string | undefined {
  const home = Deno.env.get("HOME");
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? (home === undefined ? undefined : `${home}/.cache`);
  return cache === undefined ? undefined : `${cache}/mesh-tests/kubernetes-${orchestratorVersion()}`;
}

/** The path of a built program. Undefined if not built. */
export function builtProgram(program: OrchestratorProgram): string | undefined {
  const path = `${orchestratorFolder()}/${program}`;
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
  programs: readonly OrchestratorProgram[],
  say: (line: string) => void,
): Promise<void> {
  if (programs.every((program) => builtProgram(program) !== undefined)) return;
  const folder = orchestratorFolder();
  if (folder === undefined) throw new Error("neither XDG_CACHE_HOME nor HOME is set: expected one, for a cache folder");
  await Deno.mkdir(folder, { recursive: true });
  using lock = await Deno.open(`${folder}/lock`, { create: true, write: true });
  await lock.lock(true);
  for (const program of programs) {
    if (builtProgram(program) === undefined) await build(program, folder, say);
  }
}

async function build(program: OrchestratorProgram, folder: string, say: (line: string) => void): Promise<void> {
  const go = await findGo();
  if (go === undefined) throw new Error(`${program}: no Go toolchain on the path or in /usr/local/go; GO may name one`);
  const [started, version] = [performance.now(), orchestratorVersion()];
  say(`${program} ${version}: built from Go modules, some minutes the first time ...`);
  for (const { name } of Deno.readDirSync(folder)) if (name.endsWith(UNFINISHED)) Deno.removeSync(`${folder}/${name}`);
  // A Go process that outlives its starter writes to a separate file.
  const unfinished = `${folder}/${program}-${Deno.pid}${UNFINISHED}`;
  const { success, stderr } = await new Deno.Command(go, {
    args: [...buildArguments(version, unfinished), `k8s.io/kubernetes/cmd/${program}`],
    cwd: MODULE,
    // Without cgo no C compiler is needed. Less garbage collection makes the Go compiler faster.
    env: { CGO_ENABLED: "0", GOGC: Deno.env.get("GOGC") ?? "400" },
    stdin: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${program} was not built:\n${new TextDecoder().decode(stderr).trimEnd()}`);
  await Deno.rename(unfinished, `${folder}/${program}`);
  say(`${program} ${version}: ready (${((performance.now() - started) / 1000).toFixed(0)} s)`);
}

/** Debug information and inlining would take half of the build time. Clients refuse a server without a version. */
function buildArguments(release: string, out: string): string[] {
  const [major, minor] = release.slice(1).split(".");
  const version = { gitVersion: release, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const variables = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((place) =>
    Object.entries(version).map(([name, value]) => `-X ${place}.${name}=${value}`)
  );
  const linker = `-ldflags=-s -w ${variables.join(" ")}`;
  return ["build", "-trimpath", "-buildvcs=false", "-gcflags=all=-l -dwarf=false", linker, "-o", out];
}
