/**
 * Runs a real Envoy: writes the bootstrap, starts the process, reads the log, waits until Envoy serves, and stops Envoy.
 *
 * Permissions: run (envoy), read and write (a temporary folder), net (loopback).
 *
 * @module
 */
import { PortTaken, saysTaken } from "./ports.ts";

/** A bootstrap: bytes of the message, a YAML text, or a JSON value. */
export type EnvoyBootstrap = Uint8Array | string | object;

/** How an Envoy is started. */
export interface EnvoyProcessOptions {
  readonly binary: string;
  readonly bootstrap: EnvoyBootstrap;
  /** The folder for Envoy's files. Default: a temporary folder, removed at the stop. */
  readonly folder?: string;
  /** The beginning of file names, and the name in errors. Default: `envoy`. */
  readonly name?: string;
  /** Log levels of components, such as `upstream:info`. Other components log warnings. */
  readonly components?: readonly string[];
  /** Further arguments of Envoy. */
  readonly args?: readonly string[];
  /** Further variables of Envoy's process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** A command line that starts the command line after it, such as `ip netns exec NAME`. Default: none. */
  readonly through?: readonly string[];
}

/** A started Envoy. The end of the scope kills Envoy. */
export interface EnvoyProcess extends AsyncDisposable {
  /** Port of the admin pages on 127.0.0.1; 0 without admin pages. */
  readonly adminPort: number;
  readonly pid: number;
  /** Envoy's output so far: log and access logs. */
  readonly output: string;
  /** Resolves with Envoy's output at its end. */
  readonly ended: Promise<string>;
  /** Text of an admin page (`stats?filter=x`); undefined while there is no answer. */
  page(page: string): Promise<string | undefined>;
  /**
   * Waits until something holds.
   *
   * @throws PortTaken when Envoy could not bind a port. Error when Envoy ends, or when the wait is in vain.
   */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
  /**
   * Resolves when Envoy has started its workers, and accepts connections at all given addresses (`127.0.0.1:8080`, or
   * the path of a Unix socket).
   *
   * @throws like {@linkcode EnvoyProcess.until}
   */
  ready(addresses?: readonly string[]): Promise<void>;
  /** Ends Envoy. @param signal Default: SIGTERM. */
  stop(signal?: Deno.Signal): Promise<void>;
}

/** How long an Envoy may take to start and to become ready, ms. */
const PATIENCE = 90_000;

/** Components of Envoy whose log says how far the start is. */
const PROGRESS = ["admin:info", "config:info"];

/** The line of the log when the admin pages answer, and the line when all static listeners are about to serve. */
const ADMIN = /admin address: \S+:(\d+)\n/, WORKERS = "starting workers";

/** Path of Envoy: from the variable `ENVOY`, else from the set-up. */
export function envoyBinary(): string {
  return Deno.env.get("ENVOY") ?? new URL("../.cache/envoy/envoy/_bin/envoy", import.meta.url).pathname;
}

/** Writes a bootstrap. @returns the path of the file */
export async function writeBootstrap(folder: string, name: string, bootstrap: EnvoyBootstrap): Promise<string> {
  const form = bootstrap instanceof Uint8Array ? "pb" : typeof bootstrap === "string" ? "yaml" : "json";
  const path = `${folder}/${name}.${form}`;
  if (bootstrap instanceof Uint8Array) await Deno.writeFile(path, bootstrap);
  else await Deno.writeTextFile(path, typeof bootstrap === "string" ? bootstrap : JSON.stringify(bootstrap, null, 2));
  return path;
}

/**
 * Starts an Envoy that refuses resources with unknown fields. Resolves when the admin pages answer; without admin pages,
 * when Envoy starts its workers.
 */
export async function startEnvoyProcess(options: EnvoyProcessOptions): Promise<EnvoyProcess> {
  const { binary, bootstrap, name = "envoy", components = [], args = [], variables = {}, through = [] } = options;
  const folder = options.folder ?? await Deno.makeTempDir();
  // Envoy may run as another user.
  if (options.folder === undefined) await Deno.chmod(folder, 0o755);
  const [program = binary, ...line] = [
    ...[...through, binary, "-c", await writeBootstrap(folder, name, bootstrap)],
    ...["--use-dynamic-base-id", "--concurrency", "1", "--reject-unknown-dynamic-fields"],
    ...["--log-level", "warning", "--component-log-level", [...PROGRESS, ...components].join(), ...args],
  ];
  const command = new Deno.Command(program, {
    args: line,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { ...variables },
  });
  const envoy = new Running(command.spawn(), name, options.folder === undefined ? folder : undefined);
  try {
    await envoy.until("start", () => ADMIN.test(envoy.output) || envoy.output.includes(WORKERS));
    envoy.adminPort = Number(ADMIN.exec(envoy.output)?.[1] ?? 0);
    return envoy;
  } catch (error) {
    await envoy.stop("SIGKILL");
    throw error;
  }
}

class Running implements EnvoyProcess {
  adminPort = 0;
  output = "";
  readonly pid: number;
  readonly ended: Promise<string>;
  readonly #child: Deno.ChildProcess;
  readonly #name: string;
  readonly #folder: string | undefined;
  #isOver = false;
  /** Replaced whenever there is more output. */
  #news = Promise.withResolvers<void>();

  /** @param folder Removed at the end. */
  constructor(child: Deno.ChildProcess, name: string, folder: string | undefined) {
    this.#child = child;
    this.#name = name;
    this.#folder = folder;
    this.pid = child.pid;
    this.ended = this.#end();
  }

  async #end(): Promise<string> {
    await Promise.all([this.#read(this.#child.stdout), this.#read(this.#child.stderr), this.#child.status]);
    this.#isOver = true;
    this.#news.resolve();
    if (this.#folder !== undefined) await Deno.remove(this.#folder, { recursive: true });
    return this.output;
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.output += text;
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    }
  }

  page(page: string): Promise<string | undefined> {
    return adminPage(this.adminPort, page);
  }

  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (const end = performance.now() + PATIENCE;;) {
      // The last output comes before the end.
      const isOver = this.#isOver;
      if (await holds()) return;
      if (saysTaken(this.output)) throw new PortTaken(`${this.#name}: ${this.output}`);
      if (isOver) throw new Error(`${this.#name} ended: ${this.output}`);
      if (performance.now() > end) {
        throw new Error(`${this.#name}: no ${what} within ${PATIENCE / 1000} s: ${this.output}`);
      }
      // Most waits end with a line of the log; other things that may hold are asked again.
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([this.#news.promise, new Promise<void>((resolve) => timer = setTimeout(resolve, 20))]);
      clearTimeout(timer);
    }
  }

  ready(addresses: readonly string[] = []): Promise<void> {
    return this.until(`listener at ${addresses.join(" and ") || "any address"}`, async () => {
      if (!this.output.includes(WORKERS)) return false;
      if (this.adminPort !== 0 && await this.page("ready") !== "LIVE\n") return false;
      for (const address of addresses) if (!await takesConnections(address)) return false;
      return true;
    });
  }

  async stop(signal: Deno.Signal = "SIGTERM"): Promise<void> {
    if (!this.#isOver) {
      try {
        this.#child.kill(signal);
      } catch { /* Envoy ended meanwhile. */ }
    }
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}

/** An admin page; undefined while there is no answer. */
export async function adminPage(port: number, page: string): Promise<string | undefined> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/${page}`)).text();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function takesConnections(address: string): Promise<boolean> {
  const at = address.lastIndexOf(":");
  const hostname = address.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  try {
    const connection = address.startsWith("/")
      ? await Deno.connect({ transport: "unix", path: address })
      : await Deno.connect({ hostname, port: Number(address.slice(at + 1)) });
    connection.close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
