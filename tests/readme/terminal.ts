/**
 * A terminal: a shell that runs block after block, so that variables, functions and programs in the background stay.
 *
 * Permissions: run (setsid, bash), write (a temporary folder).
 *
 * @module
 */
import { until } from "../patience.ts";

/** The end of a block. */
export interface BlockEnd {
  /** Exit code of the last command. */
  readonly code: number;
  /** Output and errors, as on a terminal. */
  readonly text: string;
}

/** A running shell. */
export class Terminal implements AsyncDisposable {
  readonly #shell: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #outputs: string;
  #blocks = 0;

  /** @param folder The shell's present folder. */
  constructor(folder: string) {
    this.#outputs = Deno.makeTempDirSync({ prefix: "mesh-terminal-" });
    // A session of its own can be ended with everything that it started.
    this.#shell = new Deno.Command("setsid", {
      args: ["bash", "--noprofile", "--norc"],
      cwd: folder,
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    this.#input = this.#shell.stdin.getWriter();
  }

  /** Types a block, and waits for its end. Programs in the background go on. */
  async run(block: string): Promise<BlockEnd> {
    const [output, end] = ["out", "end"].map((name) => `${this.#outputs}/${++this.#blocks}.${name}`);
    const typed = `{\n${block}\n} > ${output} 2>&1 < /dev/null\necho $? > ${end}.new; mv ${end}.new ${end}\n`;
    await this.#input.write(new TextEncoder().encode(typed));
    await until(block, () => Deno.stat(end!).then(() => true, () => false));
    return { code: Number(await Deno.readTextFile(end!)), text: await Deno.readTextFile(output!) };
  }

  /** Ends the shell, and whatever it started. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    try {
      Deno.kill(-this.#shell.pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) && (error as { code?: string }).code !== "ESRCH") throw error;
    }
    await this.#shell.status;
    await Deno.remove(this.#outputs, { recursive: true });
  }
}
