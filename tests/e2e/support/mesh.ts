/**
 * A discovery server on a folder, with real Envoys attached.
 *
 * Permissions: run (envoy), net (loopback), read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { type RunningServer, startServer } from "../../../mod.ts";
import { bootstrap, type EnvoyIdentity } from "../../../scripts/demo/envoy.ts";
import { freePorts } from "../../../scripts/demo/ports.ts";
import { LISTENER, SECRET } from "../../../lib/xds/types.ts";

export { envoyPath } from "../../translate/envoy.ts";

/** How a mesh of a test is made. */
export interface MeshOptions {
  /** Files of the folder, by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly meshConfig?: Readonly<Record<string, unknown>>;
}

/** One watch of a proxy as `/debug/syncz` shows it. */
interface Watch {
  readonly sent: string;
  readonly acked: string;
  readonly lastError?: string;
}

/** One row of `/debug/syncz`. */
export interface SyncRow {
  readonly proxy: string;
  readonly protocol: string;
  readonly synced: boolean;
  readonly resources: Readonly<Record<string, Watch>>;
}

/** Waits until something holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, deadline = 20_000): Promise<void> {
  const end = performance.now() + deadline;
  while (!await holds()) {
    assert(performance.now() < end, `${what}: not within ${deadline / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A server and its Envoys. */
export class TestMesh implements AsyncDisposable {
  readonly #envoys: TestEnvoy[] = [];

  private constructor(readonly folder: string, readonly server: RunningServer) {}

  /** Starts the server. */
  static async start({ files, meshConfig = {} }: MeshOptions): Promise<TestMesh> {
    const folder = await Deno.makeTempDir({ prefix: "mesh-e2e-" });
    await Deno.mkdir(`${folder}/config`);
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/config/${name}`, text);
    await Deno.writeTextFile(`${folder}/mesh.json`, JSON.stringify(meshConfig));
    const server = await startServer({
      configDir: `${folder}/config`,
      meshConfig: `${folder}/mesh.json`,
      settings: { PILOT_DEBOUNCE_AFTER: 10 },
    });
    return new TestMesh(folder, server);
  }

  /** Attaches an Envoy. */
  async attach(path: string, identity: EnvoyIdentity, delta: boolean, mode = "NONE"): Promise<TestEnvoy> {
    const envoy = await TestEnvoy.start(path, this, identity, delta, mode);
    this.#envoys.push(envoy);
    return envoy;
  }

  /** Writes a file of the configuration in one step; without a text it is removed. */
  async write(name: string, text?: string): Promise<void> {
    const target = `${this.folder}/config/${name}`;
    if (text === undefined) return await Deno.remove(target);
    await Deno.writeTextFile(`${this.folder}/new`, text);
    await Deno.rename(`${this.folder}/new`, target);
  }

  /** A debug page. */
  async page<T>(path: string): Promise<T> {
    return await (await fetch(`http://127.0.0.1:${this.server.ports.http}/debug/${path}`)).json();
  }

  /**
   * Waits until every attached Envoy has acknowledged clusters and listeners and everything that it was sent.
   *
   * @throws with the text of every refusal.
   */
  async settled(): Promise<SyncRow[]> {
    let rows: SyncRow[] = [];
    let quiet = 0;
    await until("everything is acknowledged", async () => {
      rows = await this.page<SyncRow[]>("syncz");
      const watches = rows.flatMap((row) => Object.entries(row.resources).map(([type, w]) => ({ row, type, ...w })));
      const refused = watches.filter((w) => w.lastError);
      assert.deepEqual(refused.map((w) => `${w.row.proxy} ${w.type}: ${w.lastError}`), []);
      // Only secrets in files are served: whoever asks for others is not answered.
      const answered = watches.filter((w) => w.type !== SECRET || w.sent !== "");
      const started = rows.length === this.#envoys.length && rows.every((r) => LISTENER in r.resources);
      // Envoy asks for routes after their listener: what is acknowledged has to stay so for a while.
      quiet = started && answered.every((w) => w.sent !== "" && w.sent === w.acked) ? quiet + 1 : 0;
      return quiet >= 10;
    }, 60_000);
    for (const envoy of this.#envoys) assert.deepEqual(await envoy.rejected(), []);
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const envoy of this.#envoys) await envoy.stop();
    await this.server.stop();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** A running Envoy that a server configures. */
export class TestEnvoy {
  private constructor(
    readonly adminPort: number,
    readonly child: Deno.ChildProcess,
    readonly output: Promise<string>,
  ) {}

  static async start(
    path: string,
    mesh: TestMesh,
    identity: EnvoyIdentity,
    delta: boolean,
    mode: string,
  ): Promise<TestEnvoy> {
    const [adminPort] = freePorts(1) as [number];
    const discoveryPort = mesh.server.ports.grpc;
    const config = bootstrap({ binary: path, folder: "", identity, discoveryPort, adminPort, baseId: 0, delta });
    (config as { node: { metadata: Record<string, unknown> } }).node.metadata["INTERCEPTION_MODE"] = mode;
    const file = `${mesh.folder}/${identity.name}.json`;
    await Deno.writeTextFile(file, JSON.stringify(config));
    const child = new Deno.Command(path, {
      args: [
        "-c",
        file,
        "--use-dynamic-base-id",
        "--reject-unknown-dynamic-fields",
        "--concurrency",
        "1",
        "-l",
        "error",
      ],
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const envoy = new TestEnvoy(adminPort, child, new Response(child.stderr).text());
    await until("Envoy's admin page", async () => (await envoy.admin("ready")) !== undefined);
    return envoy;
  }

  /** An admin page; undefined while it does not listen. */
  async admin(page: string): Promise<string | undefined> {
    try {
      return await (await fetch(`http://127.0.0.1:${this.adminPort}/${page}`)).text();
    } catch {
      return undefined;
    }
  }

  /** Envoy's own counts of updates that it rejected, those that are not 0. */
  async rejected(): Promise<string[]> {
    const stats = await this.admin("stats?filter=(update_rejected|listener_create_failure)$");
    return stats!.split("\n").filter((line) => line !== "" && !/: 0$/.test(line));
  }

  /** Names of its listeners. */
  async listeners(): Promise<string[]> {
    const { listener_statuses = [] } = JSON.parse(await this.admin("listeners?format=json") ?? "{}");
    return (listener_statuses as { name: string }[]).map(({ name }) => name).sort();
  }

  async stop(): Promise<void> {
    try {
      this.child.kill("SIGKILL");
    } catch { /* it has ended */ }
    await this.child.status;
    await this.output;
  }
}
