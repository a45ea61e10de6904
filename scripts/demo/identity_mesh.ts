/**
 * A mesh with identities: the program `pilot-discovery` with its own authority, an issuer of tokens, and agents with
 * Envoys whose only credentials are the issuer's tokens.
 *
 * Permissions: run (deno, envoy), net (loopback), read, write (a temporary folder), env (PATH, HOME, DENO_DIR).
 *
 * @module
 */

import { PortTaken, saysTaken } from "../ports.ts";
import type { AgentProcess } from "./agent.ts";
import { type DemoWorkload, startIdentityAgent } from "./identity_agent.ts";
import { TokenIssuer } from "./issuer.ts";
import { type DemoServer, type DemoServerOptions, startServer } from "./server.ts";

/** How a mesh is made. */
export interface IdentityMeshOptions {
  /** Files of the configuration, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Port for agents. */
  readonly port: number;
  /** Variables of the server. */
  readonly env?: Readonly<Record<string, string>>;
  /** Parent of the folders of server and agents. Default: the folder for temporary files. */
  readonly place?: string;
  /** Roots for workloads, as PEM. Default: the roots that the server made. */
  readonly roots?: string;
}

export type IdentityWorkload = Omit<DemoWorkload, "role" | "files" | "place">;

/**
 * Variables of agents whose certificates live a minute and are renewed after a second: a renewal takes seconds instead
 * of half a day.
 */
export const SHORT_LEAVES = {
  SECRET_TTL: "60s",
  SECRET_GRACE_PERIOD_RATIO: "0.98",
  SECRET_GRACE_PERIOD_RATIO_JITTER: "0",
} as const;

export class IdentityMesh implements AsyncDisposable {
  readonly folder: string;
  /** The output of the server so far. */
  output = "";
  readonly #issuer: TokenIssuer;
  readonly #options: IdentityMeshOptions;
  readonly #agents: Promise<AgentProcess>[] = [];
  readonly #outputs: AgentProcess[] = [];
  #server: DemoServer | undefined;

  private constructor(folder: string, issuer: TokenIssuer, options: IdentityMeshOptions) {
    this.folder = folder;
    this.#issuer = issuer;
    this.#options = options;
  }

  /** Starts the server. */
  static async start(options: IdentityMeshOptions): Promise<IdentityMesh> {
    const folder = await Deno.makeTempDir({
      prefix: "mesh-identity-",
      ...(options.place === undefined ? {} : { dir: options.place }),
    });
    await Deno.mkdir(`${folder}/config`);
    const mesh = new IdentityMesh(folder, await TokenIssuer.start(), options);
    try {
      for (const [name, text] of Object.entries(options.files)) await mesh.write(name, text);
      await mesh.startServer();
      return mesh;
    } catch (error) {
      await mesh[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts the server, also again after {@linkcode IdentityMesh.killServer}. */
  async startServer(): Promise<void> {
    const { port, env = {} } = this.#options;
    const rule = { issuer: this.#issuer.url, jwks_uri: `${this.#issuer.url}/keys`, audiences: ["mesh-ca"] };
    const options: DemoServerOptions = {
      securePort: port,
      cwd: this.folder,
      env: {
        ...{ MESHD_CUSTOM_HOST: "localhost", PILOT_DEBOUNCE_AFTER: "10ms", JWT_RULE: JSON.stringify(rule) },
        ...env,
      },
      log: (line) => this.output += `${line}\n`,
    };
    this.#server = await startServer(`${this.folder}/config`, options);
  }

  /** Ends the server as a crash does. */
  async killServer(): Promise<void> {
    await this.#server?.kill();
    this.#server = undefined;
  }

  /** Writes a file of the configuration atomically. */
  async write(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/new`, text);
    await Deno.rename(`${this.folder}/new`, `${this.folder}/config/${name}`);
  }

  /** A debug page of the server. */
  async page<T>(path: string): Promise<T> {
    return await (await fetch(`http://127.0.0.1:${this.#server!.httpPort}/debug/${path}`)).json();
  }

  /** Resolves when every proxy has acknowledged the object. */
  async live(object: string): Promise<void> {
    await this.page(`live?object=${object}&wait=90s`);
  }

  /** The page of metrics of the server. */
  async metrics(): Promise<string> {
    return await (await fetch(`http://127.0.0.1:${this.#server!.monitoringPort}/metrics`)).text();
  }

  /** A metric of the server, by the value of its label `type`. */
  async metric(name: string): Promise<ReadonlyMap<string, number>> {
    const lines = (await this.metrics()).matchAll(new RegExp(`^${name}\\{type="(\\w+)"\\} (\\S+)$`, "gm"));
    return new Map([...lines].map(([, type, value]) => [type!, Number(value)]));
  }

  /** The roots that an operator distributes to workloads. */
  async roots(): Promise<string> {
    if (this.#options.roots !== undefined) return this.#options.roots;
    const kept = await Deno.readTextFile(`${this.folder}/var/lib/mesh/authority/authority.pem`);
    return kept.slice(kept.indexOf("-----BEGIN CERTIFICATE-----"));
  }

  /** A token of a service account of `demo`. */
  token(account: string): Promise<string> {
    return this.#issuer.token(`system:serviceaccount:demo:${account}`);
  }

  /** Starts the agent of a workload. */
  async agent(workload: IdentityWorkload): Promise<AgentProcess> {
    const starting = this.#start(workload);
    this.#agents.push(starting);
    const agent = await starting;
    this.#outputs.push(agent);
    return agent;
  }

  async #start(workload: IdentityWorkload): Promise<AgentProcess> {
    const { port, place } = this.#options;
    const token = await this.token(workload.account ?? workload.name);
    return await startIdentityAgent({ port, token, roots: await this.roots() }, {
      ...workload,
      ...(place === undefined ? {} : { place }),
      proxy: { proxyStatsMatcher: { inclusionRegexps: [".*"] }, ...workload.proxy },
    });
  }

  /** An error with all output, or {@linkcode PortTaken} for a taken port. */
  failure(error: unknown): Error {
    const text = this.#said();
    if (saysTaken(text)) return new PortTaken(text);
    return new Error(`${error instanceof Error ? error.message : error}\n${text}`, { cause: error });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    {
      // The last part is disposed of first. Failures are thrown after all parts.
      await using all = new AsyncDisposableStack();
      all.defer(() => Deno.remove(this.folder, { recursive: true }));
      all.use(this.#issuer);
      all.defer(async () => void await this.#server?.stop());
      for (const one of await Promise.allSettled(this.#agents)) if (one.status === "fulfilled") all.use(one.value);
    }
    const lacking = /^.*(NotCapable|Requires \w+ access).*$/m.exec(this.#said());
    if (lacking !== null) throw new Error(`a program lacks a permission: ${lacking[0]}`);
  }

  /** The output of all programs. Each program runs with exactly its permission set. */
  #said(): string {
    return [this.output, ...this.#outputs.map(({ output }) => output)].join("\n");
  }
}

/** A page of Envoy's admin port. */
export async function envoyPage(port: number, path: string): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${port}/${path}`)).text();
}

/** The sum of an Envoy's counters whose names match. */
export async function envoyCount(port: number, names: string): Promise<number> {
  const lines = (await envoyPage(port, `stats?filter=${encodeURIComponent(names)}`)).split("\n");
  return lines.reduce((sum, line) => sum + (Number(/: (\d+)$/.exec(line)?.[1]) || 0), 0);
}
