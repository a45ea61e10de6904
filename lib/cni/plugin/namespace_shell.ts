/**
 * One shell in a network namespace for all commands of a call: entering a namespace and starting a process of this runtime
 * cost more than the commands do.
 *
 * Commands are in two lanes, which run at the same time; in a lane one follows the other. There are two ways out of a
 * shell, so that two lanes are the most: one answers on standard output, the other on standard error.
 *
 * Permissions: run (nsenter).
 *
 * @module
 */
import { enterWords, NOT_FOUND, type Place, type Ran } from "../../iptables/run.ts";

/** A lane. */
export type Lane = 0 | 1;

/** A command line of plain words or shell syntax of our own, and the text that it reads; nothing by default. */
export interface ShellCommand {
  readonly line: string;
  readonly input?: string;
}

/** Line after the answer of a command, and after those of all commands that were sent together; no tool prints the like. */
const MARK = "====mesh-cni====";
const END = "====mesh-cni-end====";

/** Line after a command's input. */
const INPUT_END = "====mesh-cni-input====";

interface Asked {
  readonly commands: readonly ShellCommand[];
  readonly answer: (ran: Ran[]) => void;
}

/** The shell; started by the first question. */
export class NamespaceShell {
  private process: ShellProcess | undefined;
  private waiting: Record<Lane, Asked[]> = { 0: [], 1: [] };
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param place The namespace, and the file by which tools lock each other out. */
  constructor(private readonly place: Place & { readonly networkNamespace: string }) {}

  /** Runs commands in a lane; what is asked for at the same time is sent together. Resolves with an answer for each. */
  ask(lane: Lane, commands: readonly ShellCommand[]): Promise<Ran[]> {
    this.timer ??= setTimeout(() => this.send());
    return new Promise((answer) => this.waiting[lane].push({ commands, answer }));
  }

  /** Sends what was asked, without waiting for more. */
  send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const asked = this.waiting;
    this.waiting = { 0: [], 1: [] };
    const reply = (lane: Lane, ran: Ran[], missing: (line: string) => Ran) => {
      for (const { commands, answer } of asked[lane]) answer(commands.map(({ line }) => ran.shift() ?? missing(line)));
    };
    let process: ShellProcess;
    try {
      process = this.process ??= new ShellProcess(this.place);
    } catch (error) {
      const stderr = `nsenter: ${error instanceof Error ? error.message : String(error)}`;
      for (const lane of [0, 1] as const) reply(lane, [], () => ({ code: NOT_FOUND, stdout: "", stderr }));
      return;
    }
    const script = scriptOf(asked[0].flatMap((a) => a.commands), asked[1].flatMap((a) => a.commands));
    process.run(script).then((said) => {
      for (const lane of [0, 1] as const) reply(lane, answersOf(said[lane]), (line) => process.unanswered(line));
    });
  }

  /** Ends the shell, when there is one. */
  async end(): Promise<void> {
    await this.process?.end();
  }
}

/** The process: scripts in, what each lane said out. */
class ShellProcess {
  private readonly child: Deno.ChildProcess;
  private readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  private readonly readers: Record<Lane, ReadableStreamDefaultReader<Uint8Array>>;
  private readonly rest: Record<Lane, string> = { 0: "", 1: "" };
  private before: Promise<unknown> = Promise.resolve();
  private running = 0;
  private ended = false;

  constructor(place: Place & { readonly networkNamespace: string }) {
    this.child = new Deno.Command("nsenter", {
      args: [...enterWords(place.networkNamespace), "sh"],
      env: place.lockFile === undefined ? {} : { XTABLES_LOCKFILE: place.lockFile },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.writer = this.child.stdin.getWriter();
    this.readers = { 0: this.child.stdout.getReader(), 1: this.child.stderr.getReader() };
  }

  /** Runs a script after those before it. Never rejects: a shell that ended has said nothing. */
  run(script: string): Promise<Record<Lane, string>> {
    this.writer.write(new TextEncoder().encode(script)).catch(() => {
      // The shell ended; what it said on its way is what is read.
    });
    this.running++;
    const said = this.before.then(async () => {
      const [first, second] = await Promise.all([this.read(0), this.read(1)]);
      this.running--;
      return { 0: first, 1: second };
    });
    this.before = said;
    return said;
  }

  /** What is answered for a command that the shell did not come to. */
  unanswered(line: string): Ran {
    const stderr = this.ended ? `${this.rest[0]}${this.rest[1]}`.trim() : "";
    return { code: 1, stdout: "", stderr: stderr || `${line}: no answer` };
  }

  /** Ends the shell. Whoever changes something waits for it; what still runs only looks, and nobody needs its answer. */
  async end(): Promise<void> {
    if (this.running > 0) this.child.kill("SIGKILL");
    else {
      await this.writer.close().catch(() => {
        // It ended before.
      });
    }
    await Promise.all([...([0, 1] as const).map((lane) => this.readers[lane].cancel()), this.child.status]);
  }

  /** A lane's words until the end of a script. */
  private async read(lane: Lane): Promise<string> {
    const decoder = new TextDecoder();
    for (;;) {
      const at = this.rest[lane].indexOf(`${END}\n`);
      if (at >= 0) {
        const said = this.rest[lane].slice(0, at);
        this.rest[lane] = this.rest[lane].slice(at + END.length + 1);
        return said;
      }
      const { value, done } = await this.readers[lane].read().catch(() => ({ value: undefined, done: true as const }));
      if (done) {
        this.ended = true;
        return "";
      }
      this.rest[lane] += decoder.decode(value, { stream: true });
    }
  }
}

/** A script that runs two lanes at the same time. */
function scriptOf(first: readonly ShellCommand[], second: readonly ShellCommand[]): string {
  const aside = second.length === 0 ? "" : `{\n${laneText(second)}} </dev/null >&2 &\n`;
  const here = first.length === 0 ? "" : `{\n${laneText(first)}} </dev/null\n`;
  return `${aside}${here}wait\nprintf '%s\\n' ${END}\nprintf '%s\\n' ${END} >&2\n`;
}

function laneText(commands: readonly ShellCommand[]): string {
  return commands.map(({ line, input }) => {
    const reads = input === undefined ? "" : ` <<'${INPUT_END}'`;
    const text = input === undefined ? "" : `${input.endsWith("\n") ? input : `${input}\n`}${INPUT_END}\n`;
    return `${line} 2>&1${reads}\n${text}printf '\\n%s %s\\n' ${MARK} $?\n`;
  }).join("");
}

/** Answers in what a lane said, in order. */
function answersOf(said: string): Ran[] {
  const parts = said.split(new RegExp(`\\n?${MARK} (\\d+)\\n`));
  return Array.from({ length: (parts.length - 1) / 2 }, (_, i) => {
    const [text = "", code = "1"] = parts.slice(2 * i, 2 * i + 2);
    return code === "0" ? { code: 0, stdout: text, stderr: "" } : { code: Number(code), stdout: "", stderr: text };
  });
}
