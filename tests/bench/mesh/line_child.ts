/**
 * A program of this runtime that takes one line at a time on standard input and answers each with one line.
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
  /** Sends a line; resolves with the next line that the program prints. One at a time. */
  ask(line: string): Promise<string>;
  /** Sends a line that has no answer. */
  tell(line: string): Promise<void>;
  /** Ends its input and waits for its end; with `signal` it is sent that as well. */
  stop(signal?: Deno.Signal): Promise<void>;
}

/** How a program is started. */
export interface LineChildOptions {
  /** The folder in which it runs. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Which lines are answers. Default: all. */
  readonly isAnswer?: (line: string) => boolean;
  /** Takes the other lines. Default: they go to standard error. */
  readonly other?: (line: string) => void;
}

/** Starts this runtime with some arguments. The child ends with the benchmark, also when that is interrupted. */
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
      await writer.close().catch(() => {}); // it has ended by itself
      if (signal !== undefined && !ended) child.kill(signal);
      await reading;
      await status;
    },
  };
}
