/**
 * The Go client of this folder as a process.
 *
 * Permissions: env (GO), read and write (temp folder), run (go, the client), net (its server).
 * @module
 */
import assert from "node:assert/strict";
import { buildGo } from "./go.ts";

let built: Promise<string> | undefined;

/** A line of the client's output. */
export interface ClientEvent {
  event: "response" | "end" | "method" | "error" | "check" | "list" | "watch";
  resources?: number;
  removed?: number;
  bytes?: number;
  code?: string;
  message?: string;
}

/** A running client. The test reads event after event. */
export class GoClient {
  readonly #lines: ReadableStreamDefaultReader<string>;
  private constructor(private readonly process: Deno.ChildProcess) {
    this.#lines = process.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(splitLines()).getReader();
  }

  /** @param target a port of this machine, or a target of gRPC such as `unix:///path` */
  static async start(target: number | string, ...args: string[]): Promise<GoClient> {
    const command = new Deno.Command(await (built ??= buildGo(new URL("../go/", import.meta.url))), {
      args: ["-target", typeof target === "number" ? `127.0.0.1:${target}` : target, ...args],
      stdin: "piped",
      stdout: "piped",
    });
    return new GoClient(command.spawn());
  }

  async next(): Promise<ClientEvent> {
    const { value } = await this.#lines.read();
    assert.ok(value !== undefined, "the client ended");
    return JSON.parse(value);
  }

  async stop(): Promise<void> {
    await this.process.stdin.close();
    while (!(await this.#lines.read()).done) { /* the last events */ }
    await this.process.status;
  }
}

function splitLines(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) controller.enqueue(line);
    },
  });
}
