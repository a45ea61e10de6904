/**
 * The node tunnel as a process, and what it tells.
 *
 * Permissions: run (deno).
 *
 * @module
 */
import { until } from "../../patience.ts";
import type { ConnectionEvent, TunnelEvent } from "../path/log.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** A running tunnel. */
export class TunnelProcess implements AsyncDisposable {
  readonly events: TunnelEvent[] = [];
  /** What is not an event. */
  complaints = "";
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;

  /** @param env The variables of `main.ts`. */
  constructor(env: Readonly<Record<string, string>>) {
    const words = ["run", "--quiet", "--no-prompt", "--cached-only", "--no-check", `--config=${ROOT}deno.json`];
    const rights = ["--allow-ffi", "--allow-net", "--allow-env", "--allow-read"];
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...words, ...rights, `${ROOT}tests/tunnel/main.ts`],
      env,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#reading = Promise.all([this.#read(), this.#complain()]);
  }

  /** The connections so far. */
  get connections(): ConnectionEvent[] {
    return this.events.filter((event) => event.event === "connection");
  }

  /** Resolves when an event of a name has come. */
  async until(event: TunnelEvent["event"]): Promise<void> {
    const hasCome = () => this.events.some((one) => one.event === event);
    await until(`event "${event}" of the tunnel`, hasCome).catch((error) => {
      throw new Error(`${error.message}\n${JSON.stringify(this.events)}\n${this.complaints}`);
    });
  }

  /** Resolves when everything that has happened so far is told. */
  async settled(): Promise<void> {
    const marks = () => this.events.filter(({ event }) => event === "mark").length;
    const before = marks();
    this.#child.kill("SIGUSR1");
    await until("a mark of the tunnel", () => marks() > before);
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const part of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.events.push(JSON.parse(line));
    }
  }

  async #complain(): Promise<void> {
    for await (const part of this.#child.stderr.pipeThrough(new TextDecoderStream())) this.complaints += part;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#child.status;
    await this.#reading;
  }
}
