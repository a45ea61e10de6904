/**
 * `pilot-discovery` as a child process, with exactly its permission set.
 *
 * Permissions: run (deno), net (loopback), read (deno.json).
 *
 * @module
 */
import { programElsewhere } from "../program_elsewhere.ts";

/** A running discovery server. */
export interface DemoServer {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly monitoringPort: number;
  /** Resolves with the first later log line that has all the words. */
  line(...words: readonly string[]): Promise<string>;
  /** Resolves with the exit code. */
  stop(): Promise<number>;
  /** Kills the server without a graceful end. */
  kill(): Promise<void>;
}

/** How the server is started, besides the folder. */
export interface DemoServerOptions {
  /** Port for agents, over TLS. Default: none. */
  readonly securePort?: number;
  /** The working directory. Default: the folder. */
  readonly cwd?: string;
  /** Variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command for the program. Default: this runtime with the tree's sources. */
  readonly program?: readonly string[];
  /** Receives each line of the server's log. */
  readonly log?: (line: string) => void;
}

const fromSources = () => [Deno.execPath(), ...programElsewhere("pilot-discovery")];

/** Starts the server on a folder, on free ports. Resolves when the server serves. */
export async function startServer(
  folder: string,
  { securePort, cwd = folder, env = {}, log = () => {}, program = fromSources() }: DemoServerOptions = {},
): Promise<DemoServer> {
  const [command, ...args] = program;
  const child = new Deno.Command(command!, {
    args: [
      ...args,
      "discovery",
      "--registries=Mock",
      `--configDir=${folder}`,
      "--grpcAddr=127.0.0.1:0",
      "--httpAddr=127.0.0.1:0",
      "--monitoringAddr=127.0.0.1:0",
      `--secureGRPCAddr=${securePort === undefined ? "" : `127.0.0.1:${securePort}`}`,
      "--ctrlz_port=0",
    ],
    cwd,
    env,
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
    log(text);
    for (const wait of waiting) {
      if (!wait.words.every((word) => text.includes(word))) continue;
      waiting.delete(wait);
      wait.resolve(text);
    }
  });
  const ended = child.status.then(({ code }) => {
    throw new Error(`the discovery server ended early with exit code ${code}`);
  });
  const serving = await Promise.race([ready, ended]);
  ended.catch(() => {}); // Later ends are caused by the caller.
  return {
    grpcPort: portIn(serving, "grpc"),
    httpPort: portIn(serving, "http"),
    monitoringPort: portIn(serving, "monitoring"),
    line,
    stop: async () => {
      child.kill("SIGTERM");
      await reading;
      return (await child.status).code;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await reading;
      await child.status;
    },
  };
}

/** A port in the server's log line about serving: `... serving	grpc=36533	http=43105`. */
function portIn(line: string, name: string): number {
  const port = Number(new RegExp(`\\t${name}=(\\d+)`).exec(line)?.[1]);
  if (!Number.isInteger(port)) throw new Error(`${name}: got no port in ${JSON.stringify(line)}`);
  return port;
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  }
}
