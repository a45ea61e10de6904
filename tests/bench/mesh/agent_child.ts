/**
 * The measured agent, of this tree or another, and its use of resources.
 *
 * Permissions: run (this runtime, cat), read (the trees), write (temporary folders).
 *
 * @module
 */
import { envoyBinary } from "../../../scripts/envoy.ts";
import { permissionFlags, permissionSets } from "../../../scripts/compile.ts";
import { programArgs } from "../../../scripts/program_args.ts";
import { THIS_TREE } from "./server_child.ts";

/**
 * The program in the form for images: a tree's bundle, made if missing. For a tree without bundles: its sources.
 *
 * @param tree Root of the tree. Default: this tree.
 */
export async function agentProgram(tree = THIS_TREE): Promise<string[]> {
  const maker = `${tree}/scripts/bundle.ts`;
  if (!await Deno.stat(maker).then(() => true, () => false)) {
    const flags = programArgs("pilot-agent", tree).slice(1).filter((arg) => arg.startsWith("--v8-flags"));
    const permissions = permissionFlags(permissionSets()["pilot-agent"]!);
    const run = [Deno.execPath(), "run", "--quiet", "--config", `${tree}/deno.json`];
    return [...run, ...flags, ...permissions, `${tree}/cmd/pilot-agent/main.ts`];
  }
  const args = [
    "run",
    "--quiet",
    "--no-prompt",
    "--allow-read",
    "--allow-write=dist",
    "--allow-run=deno",
    maker,
    "pilot-agent",
  ];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: tree }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  if (!success) throw new Error(`${maker}: ${text(stderr)}`);
  return [`${tree}/${text(stdout)}`];
}

/** Memory of a process, MiB. */
export interface OwnMemory {
  /** Anonymous pages, which are never shared. */
  readonly anonymous: number;
  readonly resident: number;
}

/** Reads a process's memory from `/proc/PID/smaps_rollup`. */
export async function ownMemory(pid: number): Promise<OwnMemory> {
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/smaps_rollup`] }).output();
  const text = new TextDecoder().decode(stdout);
  const field = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
    if (kilobytes === undefined) throw new Error(`/proc/${pid}/smaps_rollup: no ${name} in ${JSON.stringify(text)}`);
    return Number(kilobytes) / 1024;
  };
  return { anonymous: field("Anonymous"), resident: field("Rss") };
}

/** A program `envoy` on the agent's PATH that notes its launch time and the agent's CPU use up to the launch. */
export interface StandIn {
  /** PATH for the agent. */
  readonly path: string;
  /** Epoch milliseconds, and the agent's CPU seconds since its start. Undefined before the launch. */
  launched(): Promise<{ readonly at: number; readonly cpu: number } | undefined>;
}

/**
 * Writes the program.
 *
 * @param folder An empty folder for the program.
 * @param isReal Whether the program then executes the real Envoy. Otherwise it waits, so another client may take
 * Envoy's place.
 */
export async function standInEnvoy(folder: string, isReal: boolean): Promise<StandIn> {
  const script = `#!/bin/sh
cat /proc/$PPID/stat > "${folder}/stat"
date +%s%N > "${folder}/at.new" && mv "${folder}/at.new" "${folder}/at"
exec ${isReal ? `"${envoyBinary()}" "$@"` : "sleep 100000"}
`;
  await Deno.writeTextFile(`${folder}/envoy`, script, { mode: 0o755 });
  return {
    path: `${folder}:${Deno.env.get("PATH") ?? ""}`,
    async launched() {
      const at = await Deno.readTextFile(`${folder}/at`).catch(() => undefined);
      if (at === undefined) return undefined;
      const stat = await Deno.readTextFile(`${folder}/stat`);
      const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
      return { at: Number(at) / 1e6, cpu: (Number(fields[11]) + Number(fields[12])) / 100 };
    },
  };
}
