/**
 * A shell in a network namespace for all commands of a call. To enter a namespace and to start a process from this
 * runtime costs more than the commands.
 *
 * Commands are in two lanes, and the lanes run at the same time. In a lane the commands run in order. A shell has two
 * ways out, standard output for one lane and standard error for the other, so there are at most two lanes.
 *
 * Permissions: run (nsenter).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { spawnNsenter } from "./enter.ts";
import { enterWords, NOT_FOUND, type Ran, type RuleNamespace } from "../../iptables/run.ts";

export type Lane = 0 | 1;

/** A command line of plain words or of our own shell syntax, and the command's standard input. Default: empty. */
export interface ShellCommand {
  readonly line: string;
  readonly input?: string;
}

/**
 * Line after the answer of a command, and after the answers of all commands of a script. No tool prints such a line.
 */
const MARK = "====mesh-cni====";
const MARKED_CODE = /\n?====mesh-cni==== (\d+)\n/;
const END = "====mesh-cni-end====";

/** Line after a command's input. */
const INPUT_END = "====mesh-cni-input====";

/** The shell; started by the first question. */
export class NamespaceShell {
  #process: ShellProcess | string | undefined;

  readonly #place: RuleNamespace & { readonly networkNamespace: string };

  /** @param place The namespace, and the lock file of the tools. */
  constructor(place: RuleNamespace & { readonly networkNamespace: string }) {
    this.#place = place;
  }

  /** Runs commands in a lane, after earlier commands of the lane. Resolves with an answer for each command. */
  async ask(lane: Lane, commands: readonly ShellCommand[]): Promise<Ran[]> {
    this.#process ??= start(this.#place);
    const process = this.#process;
    if (typeof process === "string") return commands.map(() => ({ code: NOT_FOUND, stdout: "", stderr: process }));
    const ran = ranOf(await process.run(lane, scriptOf(lane, commands)));
    return commands.map(({ line }, i) => ran[i] ?? process.unanswered(line));
  }

  /** Ends a running shell. */
  async end(): Promise<void> {
    if (this.#process instanceof ShellProcess) await this.#process.end();
  }
}

/** The process, or why there is none. */
function start(place: RuleNamespace & { readonly networkNamespace: string }): ShellProcess | string {
  try {
    return new ShellProcess(place);
  } catch (error) {
    return `nsenter: ${errorMessage(error)}`;
  }
}

/** The process: scripts in, the output of each lane out. */
class ShellProcess {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #readers: Record<Lane, ReadableStreamDefaultReader<Uint8Array>>;
  readonly #rest: Record<Lane, string> = { 0: "", 1: "" };
  readonly #before: Record<Lane, Promise<unknown>> = { 0: Promise.resolve(), 1: Promise.resolve() };
  #running = 0;
  #ended = false;

  constructor(place: RuleNamespace & { readonly networkNamespace: string }) {
    this.#child = spawnNsenter({
      args: [...enterWords(place.networkNamespace), "sh"],
      env: place.lockFile === undefined ? {} : { XTABLES_LOCKFILE: place.lockFile },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    this.#writer = this.#child.stdin.getWriter();
    this.#readers = { 0: this.#child.stdout.getReader(), 1: this.#child.stderr.getReader() };
  }

  /** Runs a script after earlier scripts of the lane. Never rejects: an ended shell gives an empty answer. */
  run(lane: Lane, script: string): Promise<string> {
    const said = this.#before[lane].then(async () => {
      this.#running++;
      // A shell that has ended gives the reason in its output, and the output is read below.
      this.#writer.write(new TextEncoder().encode(script)).catch(() => {});
      const text = await this.#read(lane);
      this.#running--;
      return text;
    });
    this.#before[lane] = said;
    return said;
  }

  /** The answer for a command that the shell did not reach. */
  unanswered(line: string): Ran {
    const stderr = this.#ended ? `${this.#rest[0]}${this.#rest[1]}`.trim() : "";
    return { code: 1, stdout: "", stderr: stderr || `${line}: no answer` };
  }

  /**
   * Ends the shell. Commands with changes have been waited for. The other commands only read, and are no longer needed.
   */
  async end(): Promise<void> {
    if (this.#running > 0) this.#child.kill("SIGKILL");
    else {
      await this.#writer.write(new TextEncoder().encode("wait\n")).then(() => this.#writer.close()).catch(() => {
        // The shell has ended before.
      });
    }
    await Promise.all([...([0, 1] as const).map((lane) => this.#readers[lane].cancel()), this.#child.status]);
  }

  /** A lane's words until the end of a script. */
  async #read(lane: Lane): Promise<string> {
    const decoder = new TextDecoder();
    for (;;) {
      const at = this.#rest[lane].indexOf(`${END}\n`);
      if (at >= 0) {
        const said = this.#rest[lane].slice(0, at);
        this.#rest[lane] = this.#rest[lane].slice(at + END.length + 1);
        return said;
      }
      const { value, done } = await this.#readers[lane].read().catch(() => ({ value: undefined, done: true as const }));
      if (done) {
        this.#ended = true;
        // Why a namespace could not be entered is on the other way out.
        if (lane === 0) await this.#read(1);
        return "";
      }
      this.#rest[lane] += decoder.decode(value, { stream: true });
    }
  }
}

/** A script that the shell runs in the background, so that it can begin together with the other lane's script. */
function scriptOf(lane: Lane, commands: readonly ShellCommand[]): string {
  return `{\n${commandText(commands)}printf '%s\\n' ${END}\n} </dev/null ${lane === 1 ? ">&2 " : ""}&\n`;
}

/** Commands as a shell's text, with a mark after the answer of each. */
export function commandText(commands: readonly ShellCommand[]): string {
  return commands.map(({ line, input }) => {
    const reads = input === undefined ? "" : ` <<'${INPUT_END}'`;
    const given = input === undefined ? "" : `${input.endsWith("\n") ? input : `${input}\n`}${INPUT_END}\n`;
    return `${line} 2>&1${reads}\n${given}printf '\\n%s %s\\n' ${MARK} $?\n`;
  }).join("");
}

/** The answers in the output of {@link commandText}, in order. */
export function ranOf(said: string): Ran[] {
  const parts = said.split(MARKED_CODE);
  return Array.from({ length: (parts.length - 1) / 2 }, (_, i) => {
    const [text = "", code = "1"] = parts.slice(2 * i, 2 * i + 2);
    return code === "0" ? { code: 0, stdout: text, stderr: "" } : { code: Number(code), stdout: "", stderr: text };
  });
}
