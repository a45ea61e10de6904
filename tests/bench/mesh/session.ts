/**
 * One server and one load generator, and what can be measured with them.
 *
 * Permissions: run (this runtime, cat), net (loopback), write (temporary folder).
 *
 * @module
 */
import { delay, type LoadChild, type ServerChild, startLoad, startServer, usage } from "./child.ts";
import { configuration, type Edits, namespaceFile } from "./configuration.ts";
import type { Counters, LoadOptions } from "./load/protocol.ts";
import { quantile } from "./result.ts";

/** What a session is made with. */
export interface SessionOptions extends Omit<LoadOptions, "target"> {
  /** Folder for a CPU profile of the server. */
  readonly profile?: string;
}

/** What one step cost the server, and what came to the proxies. */
export interface Measured extends Counters {
  readonly cpu: number;
  /** Milliseconds from the start to each proxy. */
  readonly ms: { readonly p50: number; readonly p99: number; readonly last: number };
  /** Proxies that got what was waited for. */
  readonly reached: number;
  readonly resident: number;
  readonly peak: number;
}

/** How long no message may come before a step counts as over, ms. */
const QUIET = 1000;

/** See the module. */
export class Session {
  #edits: Edits = {};
  #round = 0;

  private constructor(
    readonly options: SessionOptions,
    private readonly base: string,
    private readonly server: ServerChild,
    private readonly load: LoadChild,
  ) {}

  /** Starts a server on a new folder of configuration, and a load generator that is not connected yet. */
  static async start(options: SessionOptions): Promise<Session> {
    const base = await Deno.makeTempDir({ prefix: "mesh-bench-" });
    await Deno.mkdir(`${base}/live`);
    for (const [name, text] of configuration(options.shape)) await Deno.writeTextFile(`${base}/live/${name}`, text);
    const server = await startServer(`${base}/live`, options.profile);
    const load = await startLoad({ ...options, target: server.target });
    await server.idle();
    return new Session(options, base, server, load);
  }

  /** All proxies connect. */
  async connect(): Promise<Measured> {
    const { cpu } = await usage(this.server.pid);
    const started = Date.now();
    const { times } = await this.load.run({ do: "connect" });
    return await this.#settled(started, cpu, times);
  }

  /** All proxies go, and come back with the versions that they have. */
  async reconnect(): Promise<Measured> {
    await this.load.run({ do: "disconnect" });
    await delay(QUIET);
    await this.server.idle();
    const { cpu } = await usage(this.server.pid);
    const started = Date.now();
    const { times } = await this.load.run({ do: "connect" });
    return await this.#settled(started, cpu, times);
  }

  /** The header that one route rule matches becomes another. */
  changeRoute(): Promise<Measured> {
    const canary = `canary-${this.#nextRound()}`;
    return this.#edit({ canary }, 0, canary);
  }

  /** One endpoint moves to another address. */
  changeEndpoint(): Promise<Measured> {
    const address = `172.40.200.${this.#nextRound()}`;
    return this.#edit({ address }, (this.options.shape.services - 1) % this.options.shape.namespaces, address);
  }

  /** What the server holds, once nothing moves it any more. */
  async restingMemory(): Promise<{ readonly resident: number; readonly peak: number }> {
    const steady = 5;
    let before = await usage(this.server.pid);
    for (let calm = 0, i = 0; calm < steady && i < 30; i++) {
      await delay(2000);
      const now = await usage(this.server.pid);
      calm = Math.abs(now.resident - before.resident) < 1 ? calm + 1 : 0;
      before = now;
    }
    return before;
  }

  /** Ends both processes and removes the folder. */
  async stop(): Promise<void> {
    await this.load.stop();
    await this.server.stop();
    await Deno.remove(this.base, { recursive: true });
  }

  /** Three digits, so that no round's text is the beginning of another's. */
  #nextRound(): number {
    return 100 + this.#round++;
  }

  async #edit(edit: Edits, namespace: number, marker: string): Promise<Measured> {
    this.#edits = { ...this.#edits, ...edit };
    const name = `ns-${namespace}.yaml`;
    await Deno.writeTextFile(`${this.base}/next`, namespaceFile(this.options.shape, namespace, this.#edits));
    await this.load.run({ do: "expect", marker });
    const { cpu } = await usage(this.server.pid);
    await Deno.rename(`${this.base}/next`, `${this.base}/live/${name}`);
    const started = Date.now();
    const { times } = await this.load.run({ do: "seen" });
    return await this.#settled(started, cpu, times);
  }

  async #settled(started: number, cpuBefore: number, times: readonly number[]): Promise<Measured> {
    const counters = await this.load.run({ do: "quiet", ms: QUIET });
    await this.server.idle();
    const { cpu, resident, peak } = await usage(this.server.pid);
    const ms = times.map((time) => time - started);
    return {
      ...counters,
      cpu: cpu - cpuBefore,
      ms: { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99), last: quantile(ms, 1) },
      reached: times.length,
      resident,
      peak,
    };
  }
}
