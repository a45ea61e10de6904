/**
 * Linux namespaces that act as a separate machine: mounts, network, processes and host name. Processes inside end with
 * the namespaces. The namespaces end with the process that made them, however that process ends.
 *
 * Permissions: run (setpriv, nsenter, cat, ip).
 *
 * @module
 */
import { StartedProgram } from "../../orch/support/server/program.ts";

/** The first process: takes over orphans, and waits for ever. */
const FIRST_PROCESS = "mount --make-rshared / && echo ready; while :; do sleep 100000 & wait; done";

export class Namespaces {
  readonly #holder: Deno.ChildProcess;
  /** Process id of the first process, as the host sees the process. */
  readonly pid: number;

  private constructor(holder: Deno.ChildProcess, pid: number) {
    this.#holder = holder;
    this.pid = pid;
  }

  static async make(): Promise<Namespaces> {
    const kinds = ["--mount", "--net", "--pid", "--uts", "--ipc"];
    const holder = new Deno.Command("setpriv", {
      args: [
        ...["--pdeathsig", "KILL", "--", "unshare", ...kinds, "--fork", "--kill-child", "--mount-proc"],
        ...["--propagation", "private", "--", "sh", "-c", FIRST_PROCESS],
      ],
      ...{ stdin: "null", stdout: "piped", stderr: "inherit" },
    }).spawn();
    const { value } = await holder.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    if (value !== "ready\n") throw new Error("no namespaces: see the message of unshare above; root is needed");
    // Deno reads /proc only with all permissions, `cat` needs none.
    const children = new Deno.Command("cat", { args: [`/proc/${holder.pid}/task/${holder.pid}/children`] });
    return new Namespaces(holder, Number(new TextDecoder().decode((await children.output()).stdout).trim()));
  }

  /**
   * Runs a shell script inside.
   *
   * @returns standard output
   * @throws {Error} with the output, when the script fails
   */
  async shell(script: string): Promise<string> {
    return await shellAt(this.pid, script);
  }

  /** Starts a program inside. The log is `FOLDER/NAME.log`; the folder has the same path inside and outside. */
  start(name: string, path: string, args: readonly string[], folder: string): InnerProgram {
    return new InnerProgram(this, name, path, args, folder);
  }

  /** Ends everything inside, at once. */
  async end(): Promise<void> {
    try {
      this.#holder.kill("SIGKILL");
    } catch { /* The holder has ended already. */ }
    await this.#holder.status;
    await this.#holder.stdout.cancel().catch(() => {});
  }
}

/** Arguments for `nsenter` that run a program in the namespaces of a process. */
function entering(pid: number, ...program: readonly string[]): string[] {
  return [`--target=${pid}`, "--mount", "--net", "--pid", "--uts", "--ipc", "--", ...program];
}

/**
 * Runs a shell script in the namespaces of a process.
 *
 * @returns standard output
 * @throws {Error} with the output, when the script fails
 */
export async function shellAt(pid: number, script: string): Promise<string> {
  return await output("nsenter", entering(pid, "sh", "-euc", script), script);
}

/** The end of a wire: the name of a network device in the namespaces of a process. */
export interface WireEnd {
  readonly pid: number;
  readonly device: string;
}

/** Lays a wire between two networks: a pair of network devices. */
export async function layWire(one: WireEnd, other: WireEnd): Promise<void> {
  const ends = [one, other].map(({ pid, device }) => [device, "netns", String(pid)]);
  const args = ["link", "add", ...ends[0]!, "type", "veth", "peer", "name", ...ends[1]!];
  await output("ip", args, `ip ${args.join(" ")}`);
}

async function output(path: string, args: readonly string[], what: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(path, { args: [...args], stdin: "null" }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`${what}\nfailed:\n${out}${err}`);
  return out!;
}

/** A program in namespaces. */
export class InnerProgram {
  readonly #namespaces: Namespaces;
  readonly #program: StartedProgram;
  readonly #pidFile: string;
  readonly name: string;

  constructor(namespaces: Namespaces, name: string, path: string, args: readonly string[], folder: string) {
    this.name = name;
    this.#namespaces = namespaces;
    this.#pidFile = `${folder}/${name}.pid`;
    // The process id in the inner process namespace.
    const script = 'cd "$0" && echo $$ >"$1" && shift && exec "$@"';
    const inner = ["sh", "-c", script, folder, this.#pidFile, path, ...args];
    this.#program = new StartedProgram(name, "nsenter", entering(namespaces.pid, ...inner), folder);
  }

  /** Resolves when the program has ended. */
  get ended(): Promise<void> {
    return this.#program.ended;
  }

  /** The end of the log. */
  async log(): Promise<string> {
    return await this.#program.log();
  }

  /** Sends a signal to the program. Nothing happens if the program has ended. */
  async signal(signal: "TERM" | "KILL" | "STOP" | "CONT"): Promise<void> {
    await this.#namespaces.shell(`kill -${signal} "$(cat ${this.#pidFile})" || true`);
  }

  /** Ends the program by a signal, and waits for the end. */
  async stop(signal: "TERM" | "KILL" = "TERM"): Promise<void> {
    await this.signal(signal);
    await this.#program.ended;
  }
}
