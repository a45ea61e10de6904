/**
 * `pilot-discovery` as a child process, with exactly its permission set.
 *
 * Permissions: run (deno), net (loopback).
 *
 * @module
 */

/** A running discovery server. */
export interface DemoServer {
  readonly grpcPort: number;
  readonly httpPort: number;
  /** Resolves with the first log line that has all these words and comes after the call. */
  line(...words: readonly string[]): Promise<string>;
  /** Resolves with the exit code. */
  stop(): Promise<number>;
}

/** Starts the server on a folder; resolves when it is ready. */
export async function startServer(
  folder: string,
  ports: { readonly grpc: number; readonly http: number; readonly monitoring: number },
): Promise<DemoServer> {
  const root = new URL("../..", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "-P=pilot-discovery",
      "cmd/pilot-discovery/main.ts",
      "discovery",
      "--registries=Mock",
      `--configDir=${folder}`,
      `--grpcAddr=127.0.0.1:${ports.grpc}`,
      `--httpAddr=127.0.0.1:${ports.http}`,
      `--monitoringAddr=127.0.0.1:${ports.monitoring}`,
      "--ctrlz_port=0",
    ],
    cwd: root,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const waiting = new Set<{ words: readonly string[]; resolve: (line: string) => void }>();
  const line = (...words: readonly string[]) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    waiting.add({ words, resolve });
    return promise;
  };
  const ready = line("serving");
  const reading = readLines(child.stdout, (text) => {
    for (const wait of waiting) {
      if (!wait.words.every((word) => text.includes(word))) continue;
      waiting.delete(wait);
      wait.resolve(text);
    }
  });
  const ended = child.status.then(({ code }) => {
    throw new Error(`the discovery server ended early with exit code ${code}`);
  });
  await Promise.race([ready, ended]);
  ended.catch(() => {}); // from here on its end is the caller's doing
  return {
    grpcPort: ports.grpc,
    httpPort: ports.http,
    line,
    stop: async () => {
      child.kill("SIGTERM");
      await reading;
      return (await child.status).code;
    },
  };
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  }
}
