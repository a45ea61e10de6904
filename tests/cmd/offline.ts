/**
 * Runs `pilot-discovery` as a process on files of a test.
 *
 * @module
 */
import { programArgs } from "../../scripts/program_args.ts";

const repository = new URL("../../", import.meta.url).pathname;
/**
 * The task's arguments for any working folder: the path of the program is absolute, and the program finds its settings
 * beside itself.
 */
const PROGRAM = programArgs("pilot-discovery").map((arg) => arg.startsWith("cmd/") ? `${repository}${arg}` : arg);

/** A program's output and exit code. */
export interface ProgramEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** How a program is run. */
export interface ProgramRun {
  /** Files in the program's folder, by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the program in a folder with the given files. */
export async function pilotDiscovery(args: readonly string[], run: ProgramRun = {}): Promise<ProgramEnd> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-cmd-" });
  try {
    for (const [path, text] of Object.entries(run.files ?? {})) {
      await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, text);
    }
    const [command, ...rest] = PROGRAM;
    const child = new Deno.Command(Deno.execPath(), {
      args: [command!, `--config=${repository}deno.json`, ...rest, ...args],
      cwd: folder,
      env: { NO_COLOR: "1", ...run.env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    // A program that ignores its input may be gone before the write.
    await writer.write(new TextEncoder().encode(run.stdin ?? "")).catch(() => {});
    await writer.close().catch(() => {});
    const { code, stdout, stderr } = await child.output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, out: text(stdout), err: text(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
