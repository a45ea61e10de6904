/**
 * Builds the three programs as standalone executables into `dist/`, each with exactly its permission set of deno.json.
 *
 * `deno task compile [program...]`. `deno compile` uses a base binary of the runtime, which is downloaded unless
 * `DENORT_BIN` gives its path. Without a base binary, the script reports the problem at once and exits with 1.
 *
 * Permissions: read (deno.json, the base binary), write (dist), env (DENORT_BIN), net (the host of the download), run
 * (deno).
 *
 * @module
 */

import { baseProblem, baseSources, unreachableText } from "./compile_base.ts";
import { engineFlags } from "./program_args.ts";

/** A permission set of deno.json. */
export interface PermissionSet {
  readonly [kind: string]: boolean | readonly string[];
}

/** The programs, in order of building. */
export const compiledPrograms = ["pilot-discovery", "pilot-agent", "install-cni"] as const;

/** Modules that a program imports by a computed name, invisible to `deno compile`. */
export const lateModules: Readonly<Record<string, readonly string[]>> = {
  "pilot-discovery": [
    "cmd/pilot-discovery/start.ts",
    "cmd/pilot-discovery/bug_report_command.ts",
    "cmd/pilot-discovery/check_command.ts",
    "cmd/pilot-discovery/dashboard_command.ts",
    "cmd/pilot-discovery/describe_command.ts",
    "cmd/pilot-discovery/diff_command.ts",
    "cmd/pilot-discovery/explain_command.ts",
    "cmd/pilot-discovery/manifests_command.ts",
    "cmd/pilot-discovery/names_for_completion.ts",
    "cmd/pilot-discovery/precheck_command.ts",
    "cmd/pilot-discovery/proxy_config_command.ts",
    "cmd/pilot-discovery/proxy_log_command.ts",
    "cmd/pilot-discovery/proxy_status_command.ts",
    "cmd/pilot-discovery/remote_secret_command.ts",
    "cmd/pilot-discovery/rollout_command.ts",
    "cmd/pilot-discovery/scope_command.ts",
    "cmd/pilot-discovery/size_command.ts",
    "cmd/pilot-discovery/tag_command.ts",
    "cmd/pilot-discovery/translate_command.ts",
    "cmd/pilot-discovery/wait_command.ts",
    "cmd/pilot-discovery/waypoint_command.ts",
    "lib/offline/preview/worker.ts",
    "lib/webhook/review_worker.ts",
  ],
  "install-cni": [
    "cmd/install-cni/node.ts",
    "cmd/install-cni/plugin.ts",
    "cmd/install-cni/start.ts",
    "cmd/install-cni/zds.ts",
  ],
};

/** Kinds of permissions that `deno compile` accepts as `--allow-<kind>`. */
const kinds = ["net", "read", "write", "env", "run", "sys", "ffi", "import"];

/**
 * The permission flags of a set: the executable gets the permissions of `deno run -P=<set>`.
 *
 * @throws {RangeError} For an unknown kind, which must not be omitted silently.
 */
export function permissionFlags(set: PermissionSet): string[] {
  const flags: string[] = ["--no-prompt"];
  for (const [kind, value] of Object.entries(set)) {
    if (!kinds.includes(kind)) throw new RangeError(`permission ${kind}: expected one of ${kinds.join(", ")}`);
    if (value === true) flags.push(`--allow-${kind}`);
    else if (Array.isArray(value) && value.length > 0) flags.push(`--allow-${kind}=${value.join(",")}`);
  }
  return flags;
}

/** Arguments of `deno compile` for a program. */
export function compileArguments(program: string, set: PermissionSet): string[] {
  const included = (lateModules[program] ?? []).flatMap((module) => ["--include", module]);
  const output = ["--output", `dist/${program}`];
  const flags = [...engineFlags(program), ...permissionFlags(set)];
  return ["compile", "--quiet", ...flags, ...included, ...output, `cmd/${program}/main.ts`];
}

/** Reads the permission sets of deno.json. */
export function permissionSets(): Record<string, PermissionSet> {
  return JSON.parse(Deno.readTextFileSync(new URL("../deno.json", import.meta.url))).permissions;
}

async function build(program: string): Promise<boolean> {
  const set = permissionSets()[program];
  if (set === undefined) throw new RangeError(`deno.json has no permission set ${program}`);
  const output = await new Deno.Command("deno", {
    args: compileArguments(program, set),
    cwd: new URL("..", import.meta.url),
    stdout: "inherit",
    stderr: "piped",
  }).output();
  if (output.success) {
    console.log(`dist/${program}`);
    return true;
  }
  const text = new TextDecoder().decode(output.stderr);
  const base = /https:\/\/\S*denort\S*\.zip/.exec(text)?.[0];
  console.error(
    base === undefined
      ? `${program}: deno compile failed:\n${text}`
      : `${program}: not built: ${unreachableText(base, "the download failed")}`,
  );
  return false;
}

if (import.meta.main) {
  const unknown = Deno.args.filter((arg) => !(compiledPrograms as readonly string[]).includes(arg));
  if (unknown.length > 0) {
    console.error(`unknown program ${unknown.join(", ")}; expected ${compiledPrograms.join(", ")}`);
    Deno.exit(1);
  }
  const problem = await baseProblem(await baseSources(Deno.env.get("DENORT_BIN") ?? ""));
  if (problem !== undefined) {
    console.error(`not built: ${problem}`);
    Deno.exit(1);
  }
  const wanted = Deno.args.length > 0 ? Deno.args : compiledPrograms;
  let built = true;
  for (const program of wanted) built = (await build(program)) && built;
  Deno.exit(built ? 0 : 1);
}
