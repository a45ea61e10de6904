/**
 * A program of this runtime that answers each line of standard input with a line.
 *
 * Permissions: run (this runtime).
 *
 * @module
 */
import { readLines } from "./lines.ts";

/** A running program. */
export interface LineChild {
  readonly pid: number;
  /** Rejects when the program ends; never resolves. */
  readonly ended: Promise<never>;
  /** Sends a line. Resolves with the next printed line. One at a time. */
  ask(line: string): Promise<string>;
  /** Sends a line without an answer. */
  tell(line: string): Promise<void>;
  /** Closes the input and waits for the program's end. With `signal`, also sends the signal. */
  stop(signal?: Deno.Signal): Promise<void>;
}

/** How a program is started. */
export interface LineChildOptions {
  /** The working directory. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Which lines are answers. Default: all. */
  readonly isAnswer?: (line: string) => boolean;
  /** Receives the other lines. Default: printed to standard error. */
  readonly other?: (line: string) => void;
}

/** Starts this runtime with arguments. The child ends with the benchmark, even if the benchmark is interrupted. */
export function startLineChild(args: readonly string[], { cwd, env, isAnswer, other }: LineChildOptions): LineChild {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    ...env && { env },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  let answer = Promise.withResolvers<string>();
  answer.promise.catch(() => {});
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  let ended = false;
  const reading = readLines(child.stdout, (line) => {
    if (isAnswer?.(line) ?? true) answer.resolve(line);
    else if (other) other(line);
    else console.error(line);
  });
  const interrupted = () => {
    child.kill("SIGTERM");
    Deno.exit(130);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, interrupted);
  const status = child.status.then(({ code }) => {
    ended = true;
    for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.removeSignalListener(signal, interrupted);
    const error = new Error(`the program ended with exit status ${code}: ${args.join(" ")}`);
    over.reject(error);
    answer.reject(error);
  });
  const tell = async (line: string) => {
    await writer.write(new TextEncoder().encode(`${line}\n`));
  };
  return {
    pid: child.pid,
    ended: over.promise,
    tell,
    async ask(line) {
      if (ended) return await answer.promise;
      answer = Promise.withResolvers();
      answer.promise.catch(() => {});
      await tell(line);
      return await answer.promise;
    },
    async stop(signal) {
      await writer.close().catch(() => {}); // The program has already ended.
      if (signal !== undefined && !ended) child.kill(signal);
      await reading;
      await status;
    },
  };
}
