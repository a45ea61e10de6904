/**
 * A program that a test starts: its log is a file, and it ends with the test, however that ends.
 *
 * Permissions: read (its log), run (setpriv).
 *
 * @module
 */

/** How long a program may take to end by itself, ms. */
const GRACE = 5_000;

/** Characters of a log that an error shows. */
const SHOWN = 3_000;

/** See the module. */
export class StartedProgram {
  readonly #process: Deno.ChildProcess;
  readonly #log: string;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;

  /**
   * Starts it.
   *
   * @param folder Its working directory; its log lies there as `NAME.log`, after what is in it already.
   */
  constructor(readonly name: string, path: string, args: readonly string[], folder: string) {
    this.#log = `${folder}/${name}.log`;
    // The system ends it with the thread that has started it: a test that is killed leaves nothing behind.
    const line = 'log=$1; shift; exec "$@" >>"$log" 2>&1';
    this.#process = new Deno.Command("setpriv", {
      args: ["--pdeathsig", "KILL", "--", "sh", "-c", line, name, this.#log, path, ...args],
      ...{ cwd: folder, stdin: "null", stdout: "null", stderr: "null" },
    }).spawn();
    this.ended = this.#process.status.then(() => {});
  }

  /** The end of its log. */
  async log(): Promise<string> {
    return (await Deno.readTextFile(this.#log).catch(() => "")).slice(-SHOWN);
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#process.kill(signal);
  }

  /** Ends it: politely, and by force when that takes too long, or at once. */
  async stop(how: "politely" | "at once"): Promise<void> {
    const kill = (signal: Deno.Signal) => {
      try {
        this.#process.kill(signal);
      } catch { /* it has ended */ }
    };
    kill(how === "politely" ? "SIGTERM" : "SIGKILL");
    const timer = setTimeout(() => kill("SIGKILL"), GRACE);
    await this.ended;
    clearTimeout(timer);
  }
}
