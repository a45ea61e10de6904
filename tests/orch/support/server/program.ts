/**
 * A program of a test. The log of the program is a file, and the program ends with the test, however the test ends.
 *
 * Permissions: read (its log), run (setpriv).
 * @module
 */

/** Time for a program to end after a polite signal, ms. */
const GRACE = 5_000;

/** Characters of a log in an error. */
const SHOWN = 3_000;

export class StartedProgram {
  readonly #process: Deno.ChildProcess;
  readonly #log: string;
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>;

  /**
   * Starts the program.
   *
   * @param folder Working directory of the program; the log is appended to `NAME.log` there.
   */
  constructor(readonly name: string, path: string, args: readonly string[], folder: string) {
    this.#log = `${folder}/${name}.log`;
    // The system ends the program with the thread that started it: a killed test leaves nothing behind.
    const line = 'log=$1; shift; exec "$@" >>"$log" 2>&1';
    this.#process = new Deno.Command("setpriv", {
      args: ["--pdeathsig", "KILL", "--", "sh", "-c", line, name, this.#log, path, ...args],
      ...{ cwd: folder, stdin: "null", stdout: "null", stderr: "null" },
    }).spawn();
    this.ended = this.#process.status.then(() => {});
  }

  /** The end of the log. */
  async log(): Promise<string> {
    return (await Deno.readTextFile(this.#log).catch(() => "")).slice(-SHOWN);
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#process.kill(signal);
  }

  /** Ends the program: politely, and by force after {@linkcode GRACE}, or at once. */
  async stop(how: "politely" | "at once"): Promise<void> {
    const kill = (signal: Deno.Signal) => {
      try {
        this.#process.kill(signal);
      } catch { /* The program has ended already. */ }
    };
    kill(how === "politely" ? "SIGTERM" : "SIGKILL");
    const timer = setTimeout(() => kill("SIGKILL"), GRACE);
    await this.ended;
    clearTimeout(timer);
  }
}
