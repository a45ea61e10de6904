/**
 * Applications with gRPC for Go, as processes: see `xds_app/main.go`.
 *
 * Permissions: run (the program), env.
 *
 * @module
 */
import { buildGo } from "../../wire_conformance/support/go.ts";

let built: Promise<string> | undefined;

/** A running application. */
export class GoApp implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;
  /** All printed lines. */
  readonly printed: string[] = [];

  private constructor(program: string, bootstrap: string, args: readonly string[]) {
    this.#child = new Deno.Command(program, {
      args: [...args],
      env: { GRPC_XDS_BOOTSTRAP: bootstrap },
      ...{ stdin: "piped", stdout: "piped", stderr: "null" },
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = linesOf(this.#child.stdout);
  }

  /** A client of a target. The first client builds the program. */
  static async client(bootstrap: string, target: string): Promise<GoApp> {
    return new GoApp(await (built ??= buildGo(new URL("xds_app/", import.meta.url))), bootstrap, ["call", target]);
  }

  /** A server that answers with its name. */
  static async server(bootstrap: string, name: string, port: number): Promise<GoApp> {
    const program = await (built ??= buildGo(new URL("xds_app/", import.meta.url)));
    return new GoApp(program, bootstrap, ["serve", name, `127.0.0.1:${port}`]);
  }

  /** Waits until the application prints a line with the pattern. */
  async prints(pattern: RegExp): Promise<void> {
    while (!pattern.test(await this.#line())) { /* not yet */ }
  }

  /** Calls a method of `test.Echo`. Returns the answer, or the code and text of the error. */
  async call(method: string, metadata: Readonly<Record<string, string>> = {}): Promise<string> {
    const words = [method, "20s", ...Object.entries(metadata).map(([key, value]) => `${key}=${value}`)];
    await this.#input.write(new TextEncoder().encode(`${words.join(" ")}\n`));
    return await this.#line();
  }

  async #line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(`the application has ended: ${this.printed.join("\n")}`);
    this.printed.push(value);
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#input.abort().catch(() => {});
    await this.#child.status;
    await this.#lines.return?.();
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}
