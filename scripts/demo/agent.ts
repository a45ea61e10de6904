/**
 * The program `pilot-agent proxy` as a process with exactly its permission set, in a folder in the role of a container.
 *
 * Permissions: run (deno), read, write (a temporary folder), net (loopback), env (PATH, HOME, DENO_DIR, ENVOY).
 *
 * @module
 */
import { programElsewhere } from "../program_elsewhere.ts";
import { envoyBinary } from "../envoy.ts";

/** The inputs for the start of an agent. */
export interface AgentProcessOptions {
  /** Files of the container, by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The program with its first arguments. Default: the tree's sources. */
  readonly program?: readonly string[];
  /** A program, with arguments, that executes the agent: `ip netns exec NAME`. Default: none. */
  readonly runner?: readonly string[];
  /** An existing folder in the role of the container, which is kept. Default: a new folder. */
  readonly folder?: string;
  /** Parent of the new folder. Default: the folder for temporary files. */
  readonly place?: string;
}

/** Longest time from the end of an agent to the end of its Envoy, ms. */
const OUTLIVED = 30_000;

/** Longest wait for an expected event of an agent, ms: for an agent that hangs. */
const PATIENCE = 90_000;

/** A running agent. */
export class AgentProcess implements AsyncDisposable {
  readonly folder: string;
  /** The output of the agent and its Envoy so far. */
  output = "";
  readonly ended: Promise<number>;
  readonly #child: Deno.ChildProcess;
  readonly #isOwn: boolean;
  #over = false;
  /** The agent and its Envoy have ended, and {@linkcode output} is complete. */
  #isComplete = false;
  #disposal: Promise<void> | undefined;

  private constructor(folder: string, isOwn: boolean, child: Deno.ChildProcess) {
    this.folder = folder;
    this.#isOwn = isOwn;
    this.#child = child;
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) this.output += text;
    };
    const outputs = [read(child.stdout), read(child.stderr)];
    this.ended = child.status.then(async ({ code }) => {
      this.#over = true;
      await this.#closed(Promise.all(outputs)).finally(() => this.#isComplete = true);
      return code;
    });
  }

  /** An Envoy without its agent would keep the outputs open. */
  async #closed(outputs: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((_, reject) => {
      const reason = `the agent ended, and its Envoy is still running after ${OUTLIVED / 1000} s`;
      timer = setTimeout(() => reject(new Error(`${reason}:\n${this.output}`)), OUTLIVED);
    });
    await Promise.race([outputs, late]).finally(() => clearTimeout(timer));
  }

  static async start(options: AgentProcessOptions): Promise<AgentProcess> {
    const { files = {}, env = {}, args = ["sidecar"], runner = [], folder: before, place } = options;
    const folder = before ?? await Deno.makeTempDir(place === undefined ? {} : { dir: place });
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, text);
    }
    const envoy = envoyBinary();
    const sources = [Deno.execPath(), ...programElsewhere("pilot-agent")];
    const [program, ...rest] = [...runner, ...options.program ?? sources, "proxy", ...args];
    const child = new Deno.Command(program!, {
      args: rest,
      cwd: folder,
      clearEnv: true,
      env: {
        PATH: `${envoy.slice(0, envoy.lastIndexOf("/"))}:${Deno.env.get("PATH") ?? ""}`,
        ...(Deno.env.get("HOME") === undefined ? {} : { HOME: Deno.env.get("HOME")! }),
        // Tests query no metadata server of their machine.
        CLOUD_PLATFORM: "none",
        // Several agents of a machine would use the same port.
        PROXY_XDS_DEBUG_VIA_AGENT: "false",
        ...(Deno.env.get("DENO_DIR") === undefined ? {} : { DENO_DIR: Deno.env.get("DENO_DIR")! }),
        ...env,
      },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new AgentProcess(folder, before === undefined, child);
  }

  get pid(): number {
    return this.#child.pid;
  }

  signal(signal: "SIGTERM" | "SIGINT"): void {
    this.#child.kill(signal);
  }

  /**
   * Waits until a port of 127.0.0.1 takes connections. The agent opens its ports one after the other, and its log says
   * nothing about most of them. So a client waits here before the first request to a port.
   *
   * @throws {Error} With the output so far, when the agent ends first, or when the port stays closed for 90 s.
   */
  async listens(port: number): Promise<void> {
    await this.#wait(`port ${port} takes connections`, async () => await connects(port) || undefined);
  }

  /**
   * Waits until a text is in the output. The output comes through a pipe: an effect of the agent can be seen elsewhere
   * before an earlier line of the agent is here.
   *
   * @returns The first match.
   * @throws {Error} With the output so far, when the agent ends without the text, or after 90 s.
   */
  says(text: RegExp): Promise<RegExpExecArray> {
    return this.#wait(`the agent says ${text.source}`, () => text.exec(this.output) ?? undefined);
  }

  /** The process id of the agent's Envoy. The agent logs the id at the end of its start. */
  async envoy(): Promise<number> {
    const [, id] = await this.says(/\tstarted\t.*\tenvoy=(\d+)\n/);
    return Number(id);
  }

  /** Waits for a result. @throws {Error} With the output, when the agent ends first, or after {@linkcode PATIENCE}. */
  async #wait<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
    for (const end = performance.now() + PATIENCE;;) {
      const isLast = this.#isComplete || performance.now() > end;
      const found = await look();
      if (found !== undefined) return found;
      if (isLast) throw new Error(`${what}: ${this.#over ? "the agent ended first" : "not in time"}:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Puts a file in place atomically. */
  async write(path: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/new`, text);
    await Deno.rename(`${this.folder}/new`, `${this.folder}/${path}`);
  }

  /** Stops the agent. Later calls wait for the same end. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposal ??= this.#dispose();
  }

  async #dispose(): Promise<void> {
    for (let i = 0; i < 2 && !this.#over; i++) {
      this.signal("SIGTERM");
      await Promise.race([this.ended, new Promise((resolve) => setTimeout(resolve, 500))]);
    }
    await this.ended;
    if (this.#isOwn) await Deno.remove(this.folder, { recursive: true });
  }
}

/** Whether a port of 127.0.0.1 takes a connection. */
async function connects(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}
